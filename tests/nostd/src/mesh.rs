//! Two Reticulum nodes and a radio between them, driven as a microcontroller's main loop would.

use alloc::{vec, vec::Vec};
use core::{net::SocketAddr, num::NonZeroUsize, time::Duration};
use proto_core::{Datagram, Instant, LinkEvent, LinkId, Machine, UnixTime};
use proto_rns::{
    DestinationHash, LinkHash,
    crypto::Dalek,
    dest::{DestinationName, LocalDestination},
    identity::Identity,
    iface::{InterfaceConfig, Medium},
    link::{self, LinkConfig, ProofStrategy},
    node::{Event, Node, NodeConfig, Tools},
    resource::{self, ResourceConfig, Strategy},
    transport::RouterConfig,
};

/// Rounds of the loop, a millisecond each, before it is given up.
const PATIENCE: u32 = 60_000;
/// The only link of each node.
const RADIO: LinkId = LinkId(0);

/// What was done.
#[derive(Default)]
pub struct Done {
    /// Packets that were proved.
    pub packets: u32,
    /// Packets that were proved on a link.
    pub messages: u32,
    /// Bytes of a resource that arrived.
    pub resource: usize,
}

/// A node that sends and one that receives.
pub struct Mesh {
    ends: [Node; 2],
    destination: DestinationHash,
    link: Option<LinkHash>,
    done: Done,
    now: Instant,
    scratch: Vec<u8>,
}

impl Mesh {
    /// Builds both nodes and has the second one announce itself; `None` if a setting is invalid.
    pub fn new() -> Option<Self> {
        let now = Instant::from_millis(1);
        let mut ends = [node(1, now)?, node(2, now)?];
        let mut destination = LocalDestination::single(
            DestinationName::parse("embedded.sensor").ok()?,
            Identity::from_bytes(&Dalek, &[3; 64]),
        );
        destination.proofs = ProofStrategy::All;
        destination.links = Some(LinkConfig {
            proofs: ProofStrategy::All,
            resources: ResourceConfig { strategy: Strategy::All, ..ResourceConfig::default() },
            ..LinkConfig::default()
        });
        let destination = ends[1].register(now, destination).ok()?;
        let mut mesh =
            Self { ends, destination, link: None, done: Done::default(), now, scratch: Vec::new() };
        // The radio is there after the first turn.
        mesh.turn();
        mesh.ends[1].announce(mesh.now, destination, Some(b"here")).ok()?;
        Some(mesh)
    }

    /// Sends packets, messages on a link, and a resource of so many bytes, one after the other.
    pub fn talk(&mut self, count: u32, resource: usize) -> &Done {
        let (mut packets, mut messages, mut sent) = (0, 0, false);
        for _ in 0..PATIENCE {
            let (now, destination) = (self.now, self.destination);
            let node = &mut self.ends[0];
            if packets < count {
                if packets == self.done.packets && node.send(now, destination, &[7; 100]).is_ok() {
                    packets += 1;
                }
            } else if self.done.packets < count {
                // The last proof is on its way.
            } else if let Some(link) = self.link {
                if messages < count && messages == self.done.messages {
                    let done =
                        node.with_link(now, link, |link, env, out| link.send(env, &[8; 200], out).is_ok());
                    messages += u32::from(done == Some(true));
                } else if self.done.messages == count && !sent {
                    let data = vec![9; resource];
                    let done = node.with_link(now, link, |link, env, out| {
                        link.send_resource(env, data, None, false, out).is_ok()
                    });
                    sent = done == Some(true);
                }
            } else if node.links().next().is_none() {
                // A refused link is asked for again.
                let _ = node.open_link(now, destination, None);
            }
            self.turn();
            if self.done.resource == resource {
                break;
            }
        }
        &self.done
    }

    fn turn(&mut self) {
        for end in 0..2 {
            if self.ends[end].poll_timeout().is_some_and(|due| due <= self.now) {
                self.ends[end].handle_timeout(self.now);
            }
            while self.ends[end].poll_link().is_some() {
                self.ends[end].handle_link(self.now, RADIO, LinkEvent::Up { local: None, peer: None });
            }
            self.hear(end);
            self.carry(end);
        }
        self.now += Duration::from_millis(1);
    }

    fn hear(&mut self, end: usize) {
        while let Some(event) = self.ends[end].poll_event() {
            match event {
                Event::Delivered { .. } => self.done.packets += 1,
                Event::Link { link, event: link::Event::Established { .. } } if end == 0 => {
                    self.link = Some(link)
                }
                Event::Link { event: link::Event::Delivered { .. }, .. } => self.done.messages += 1,
                Event::Link {
                    event: link::Event::Resource(resource::Event::Received { data, .. }), ..
                } => {
                    self.done.resource += data.iter().filter(|byte| **byte == 9).count();
                }
                _ => {}
            }
        }
    }

    fn carry(&mut self, from: usize) {
        loop {
            self.scratch.clear();
            let transmit = self.ends[from].poll_transmit(self.now, NonZeroUsize::MIN, &mut self.scratch);
            if transmit.is_none() {
                return;
            }
            let datagram = Datagram::new(RADIO, address(from), &mut self.scratch);
            self.ends[1 - from].handle_datagram(self.now, datagram);
        }
    }
}

/// A node with tables of a microcontroller's size.
fn node(host: u8, now: Instant) -> Option<Node> {
    let config = NodeConfig {
        max_receipts: 16,
        max_destinations: 4,
        max_links: 4,
        max_half_open_links: 2,
        max_interfaces: 2,
        max_events: 64,
        max_known: 16,
        router: RouterConfig {
            seen_packets: 512,
            stored_hashes: 0,
            paths: 32,
            paths_per_interface: 32,
            announces: 8,
            links: 8,
            half_open_links_per_interface: 4,
            reverse_ways: 16,
            tunnels: 2,
            paths_per_tunnel: 4,
            searches: 8,
            rates: 16,
            blackholed: 8,
            ..RouterConfig::default()
        },
        ..NodeConfig::default()
    };
    let wall = UnixTime::new(Duration::from_secs(1_700_000_000));
    let mut node = Node::new(config, Tools::default(), None, [host; 32], now, wall).ok()?;
    let medium = Medium::Udp { bind: address(usize::from(host)), forward: Some(address(9)) };
    node.add_interface(now, InterfaceConfig::new("radio", medium)).ok()?;
    Some(node)
}

fn address(host: usize) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, u8::try_from(host).unwrap_or(0)], 4_242))
}
