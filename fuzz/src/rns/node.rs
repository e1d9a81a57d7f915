//! A node with a stream and a UDP interface that nobody is kind to.

use proto_core::{
    Datagram, DownReason, Flow, Instant, LinkEvent, LinkId, LinkRequest, Machine, Sink, Transmit, UnixTime,
    pump,
};
use proto_rns::{
    crypto::Dalek,
    dest::{DestinationName, LocalDestination},
    identity::Identity,
    iface::{Framing, InterfaceConfig, Medium, Target},
    link::{LinkConfig, ProofStrategy},
    node::{Event, Node, NodeConfig, Tools},
    resource::{ResourceConfig, Strategy},
};
use std::{net::SocketAddr, time::Duration};

const STREAM: LinkId = LinkId(0);
const SOCKET: LinkId = LinkId(1);

/// Obeys a script: each byte picks what happens, the ones after it say how.
pub fn node(data: &[u8]) {
    let mut scene = Scene::new();
    let mut script = data;
    for _ in 0..256 {
        let Some((&op, rest)) = script.split_first() else { break };
        script = scene.act(op, rest);
        scene.drain();
    }
}

struct Scene {
    node: Node,
    now: Instant,
    blocked: [bool; 2],
    from: SocketAddr,
}

impl Scene {
    fn new() -> Self {
        let now = Instant::from_millis(1_000);
        let from = SocketAddr::from(([10, 0, 0, 2], 4_242));
        let config = NodeConfig { transport: true, max_events: 64, ..NodeConfig::default() };
        let wall = UnixTime::new(Duration::from_secs(1_700_000_000));
        let mut node = Node::new(config, Tools::default(), None, [1; 32], now, wall).unwrap();
        let stream =
            Medium::TcpClient { target: Target::Address(from), framing: Framing::Hdlc, backbone: false };
        let socket = Medium::Udp { bind: SocketAddr::from(([10, 0, 0, 1], 4_242)), forward: Some(from) };
        for medium in [stream, socket] {
            node.add_interface(now, InterfaceConfig::new("fuzzed", medium)).unwrap();
        }
        let name = DestinationName::parse("fuzz.target").unwrap();
        let mut destination = LocalDestination::single(name, Identity::from_bytes(&Dalek, &[2; 64]));
        destination.proofs = ProofStrategy::All;
        destination.links = Some(LinkConfig {
            proofs: ProofStrategy::All,
            channel: true,
            resources: ResourceConfig { strategy: Strategy::All, ..ResourceConfig::default() },
            ..LinkConfig::default()
        });
        node.register(now, destination).unwrap();
        let mut scene = Self { node, now, blocked: [false; 2], from };
        scene.drain();
        for link in [STREAM, SOCKET] {
            scene.node.handle_link(now, link, LinkEvent::Up { local: None, peer: None });
        }
        scene.drain();
        scene
    }

    /// Does one thing and returns what is left of the script.
    fn act<'s>(&mut self, op: u8, rest: &'s [u8]) -> &'s [u8] {
        let (&amount, rest) = rest.split_first().unwrap_or((&0, rest));
        match op % 8 {
            0..=2 => {
                let (frame, rest) = rest.split_at(usize::from(amount).min(rest.len()));
                let mut frame = frame.to_vec();
                if op.is_multiple_of(8) {
                    let mut stream = Vec::new();
                    Framing::Hdlc.frame(&[&frame], &mut stream);
                    self.node.handle_stream(self.now, STREAM, &mut stream);
                } else if op % 8 == 1 {
                    self.node.handle_stream(self.now, STREAM, &mut frame);
                } else {
                    self.node.handle_datagram(self.now, Datagram::new(SOCKET, self.from, &mut frame));
                }
                return rest;
            }
            3 => self.now += Duration::from_millis(u64::from(amount) * u64::from(amount) * 50),
            4 => {
                let link = LinkId(u32::from(amount % 3));
                let event = match amount / 3 % 5 {
                    0 => LinkEvent::Up { local: None, peer: None },
                    1 => LinkEvent::Down(DownReason::Reset),
                    2 => LinkEvent::Eof,
                    3 => LinkEvent::Blocked,
                    _ => LinkEvent::Writable,
                };
                if let Some(blocked) = self.blocked.get_mut(usize::from(amount % 3)) {
                    *blocked = event == LinkEvent::Blocked;
                }
                self.node.handle_link(self.now, link, event);
            }
            5 => {
                let own = LocalDestination::single(
                    DestinationName::parse("fuzz.target").unwrap(),
                    Identity::from_bytes(&Dalek, &[2; 64]),
                );
                let _ = self.node.announce(self.now, own.hash(), Some(&[amount]));
            }
            6 => {
                let known = self.node.known().iter().next().map(|(destination, _)| destination);
                if let Some(destination) = known {
                    let _ = self.node.send(self.now, destination, &[amount; 10]);
                    let _ = self.node.open_link(self.now, destination, None);
                }
            }
            _ => self.node.handle_timeout(self.now),
        }
        rest
    }

    fn drain(&mut self) {
        let mut sink = Nowhere { blocked: self.blocked };
        let pumped = pump(&mut self.node, self.now, 100_000, &mut Vec::new(), &mut sink);
        assert!(!pumped.more, "a drain does not end");
        assert!(pumped.next.is_none_or(|next| next > self.now), "a deadline is past");
    }
}

struct Nowhere {
    blocked: [bool; 2],
}

impl Sink<Event> for Nowhere {
    fn link(&mut self, _request: LinkRequest) {}

    fn transmit(&mut self, transmit: &Transmit, bytes: &[u8]) -> Flow {
        assert_eq!(bytes.len(), transmit.len);
        let blocked = self.blocked.get(transmit.link.0 as usize).copied().unwrap_or(false);
        assert!(!blocked, "{:?} is blocked", transmit.link);
        Flow::Sent
    }

    fn event(&mut self, _event: Event) {}
}
