//! A node as a subject of the law suite.

use super::{WALL, noise};
use netsim::laws::{Subject, SubjectLink};
use proto_core::{Flow, Instant, LinkEvent, LinkId, LinkRequest, Machine, Rng, Sink, Transmit, pump};
use proto_rns::{
    DestinationHash, LinkHash, PacketHash,
    crypto::Dalek,
    dest::{DestinationName, LocalDestination, Ratchets},
    identity::Identity,
    iface::{Framing, InterfaceConfig, Medium, Target},
    link::{LinkConfig, ProofStrategy, RequestPolicies, RequestPolicy},
    node::{Event, Node, NodeConfig, Tools},
    resource::{ResourceConfig, Strategy},
    wire::{MessageType, StreamId},
};
use std::{net::SocketAddr, sync::Arc, time::Duration};

/// A transport node with a stream and a UDP interface. Its peer, whose bytes are captured from a real conversation,
/// announces itself, asks for a path, opens a link and uses it for everything that links are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeSubject;

/// The links, in the order in which the node asks for them.
const STREAM: LinkId = LinkId(0);
const SOCKET: LinkId = LinkId(1);

impl NodeSubject {
    fn node(seed: [u8; 32], start: Instant) -> Node {
        let config = NodeConfig {
            transport: true,
            max_events: 256,
            max_links: 64,
            max_half_open_links: 16,
            ..NodeConfig::default()
        };
        let mut node = Node::new(config, Tools::default(), None, seed, start, WALL).expect("valid settings");
        let target = Target::Address(SocketAddr::from(([10, 9, 9, 9], 4_242)));
        let stream = Medium::TcpClient { target, framing: Framing::Hdlc, backbone: false };
        let forward = Some(SocketAddr::from(([10, 9, 9, 9], 19_132)));
        let socket = Medium::Udp { bind: SocketAddr::from(([10, 9, 9, 1], 4_242)), forward };
        for (medium, link) in [(stream, STREAM), (socket, SOCKET)] {
            node.add_interface(start, InterfaceConfig::new("subject", medium)).expect("there is room");
            while node.poll_link().is_some() {}
            node.handle_link(start, link, LinkEvent::Up { local: None, peer: None });
        }
        node
    }

    fn destination(key: u8) -> LocalDestination {
        let name = DestinationName::parse("test.subject").expect("a name");
        let mut requests = RequestPolicies::default();
        requests.allow("/path", RequestPolicy::All);
        let mut destination = LocalDestination::single(name, Identity::from_bytes(&Dalek, &[key; 64]));
        destination.proofs = ProofStrategy::All;
        destination.ratchets = Some(Ratchets::new());
        destination.links = Some(LinkConfig {
            proofs: ProofStrategy::All,
            channel: true,
            requests: Arc::new(requests),
            resources: ResourceConfig { strategy: Strategy::All, ..ResourceConfig::default() },
            ..LinkConfig::default()
        });
        destination
    }

    fn tested(self, seed: [u8; 32]) -> Node {
        let mut node = Self::node(seed, self.start());
        node.register(self.start(), Self::destination(1)).expect("there is room");
        let _ = node.announce(self.start(), Self::destination(1).hash(), None);
        // It has sent packets and asked for a link before it heard anything, so that proofs of all kinds come back.
        let peer = Self::destination(2);
        let identity = *peer.identity().expect("a single destination").public();
        let known = node.known_mut().remember(peer.hash(), identity, b"", PacketHash::new([0; 32]), WALL);
        known.expect("there is room");
        for number in 0..3 {
            let _ = node.send(self.start(), peer.hash(), &[number; 40]);
        }
        let _ = node.open_link(self.start(), peer.hash(), None);
        node
    }

    /// Lets the node talk with a peer, and returns the frames that the peer sent.
    fn conversation(self, seed: [u8; 32]) -> Vec<Vec<u8>> {
        let mut peer = Self::node([7; 32], self.start());
        let own = peer.register(self.start(), Self::destination(2)).expect("there is room");
        let mut wire = Wire { tested: self.tested(seed), peer, now: self.start(), frames: Vec::new() };
        wire.settle();
        let other = Self::destination(1).hash();
        let now = wire.now;
        let _ = wire.peer.announce(now, own, Some(b"peer"));
        wire.peer.request_path(now, other);
        wire.settle();
        wire.now = now + Duration::from_secs(1);
        let _ = wire.peer.send(wire.now, other, b"packet");
        wire.settle();
        let links: Vec<LinkHash> =
            (0..2).filter_map(|_| wire.peer.open_link(wire.now, other, None).ok()).collect();
        wire.settle();
        use_links(&mut wire, &links);
        wire.frames
    }
}

/// Does on established links what can be done there, a bit on each in turns.
fn use_links(wire: &mut Wire, links: &[LinkHash]) {
    let identity = Identity::from_bytes(&Dalek, &[9; 64]);
    let now = wire.now;
    let command = |wire: &mut Wire, step: usize, link: LinkHash| {
        wire.peer.with_link(now, link, |link, env, out| match step {
            0 => _ = link.identify(env, &identity, out),
            1 => _ = link.request(env, "/path", &[0xc0], None, None, out),
            2 => _ = link.channel_send(env, MessageType(1), b"message", out),
            3 => _ = link.stream_write(env, StreamId::MAX, &[7; 3_000], out),
            4 => _ = link.send_resource(env, noise(1, 30_000), None, true, out),
            5..10 => _ = link.send(env, b"data", out),
            _ => link.close(env, out),
        })
    };
    for step in 0..11 {
        let other = LocalDestination::hash(&NodeSubject::destination(1));
        let _ = wire.peer.send(now, other, b"between");
        links.iter().for_each(|link| _ = command(wire, step, *link));
        if step >= 9 {
            wire.settle();
        }
    }
}

/// Two nodes and what goes between them, at once and in order.
struct Wire {
    tested: Node,
    peer: Node,
    now: Instant,
    frames: Vec<Vec<u8>>,
}

impl Wire {
    fn settle(&mut self) {
        for _ in 0..1_000 {
            let to_peer = drain(&mut self.tested, self.now);
            let to_tested = drain(&mut self.peer, self.now);
            if to_peer.is_empty() && to_tested.is_empty() {
                return;
            }
            for mut bytes in to_peer {
                self.peer.handle_stream(self.now, STREAM, &mut bytes);
            }
            for mut bytes in to_tested {
                self.frames.push(bytes.clone());
                self.tested.handle_stream(self.now, STREAM, &mut bytes);
            }
        }
    }
}

/// Takes out what a node sends on its stream.
fn drain(node: &mut Node, now: Instant) -> Vec<Vec<u8>> {
    let mut sent = Sent(Vec::new());
    let _ = pump(node, now, usize::MAX, &mut Vec::new(), &mut sent);
    sent.0
}

struct Sent(Vec<Vec<u8>>);

impl Sink<Event> for Sent {
    fn link(&mut self, _request: LinkRequest) {}

    fn transmit(&mut self, transmit: &Transmit, bytes: &[u8]) -> Flow {
        if transmit.link == STREAM {
            self.0.push(bytes.to_vec());
        }
        Flow::Sent
    }

    fn event(&mut self, _event: Event) {}
}

impl Subject for NodeSubject {
    type Machine = Node;

    fn build(&self, seed: [u8; 32]) -> Node {
        self.tested(seed)
    }

    fn links(&self) -> Vec<SubjectLink> {
        vec![SubjectLink::Stream(STREAM), SubjectLink::Datagrams(SOCKET)]
    }

    fn datagrams(&self, seed: [u8; 32]) -> Vec<Vec<u8>> {
        let mut datagrams = Vec::new();
        for mut frames in self.conversation(seed) {
            let mut deframer = proto_rns::iface::Deframer::new(Framing::Hdlc, 1_064);
            deframer.feed(&mut frames, |frame| datagrams.push(frame.to_vec()));
        }
        datagrams
    }

    fn streams(&self, seed: [u8; 32]) -> Vec<Vec<u8>> {
        vec![self.conversation(seed).concat()]
    }

    fn command(&self, node: &mut Node, now: Instant, rng: &mut Rng) {
        let own = Self::destination(1).hash();
        let other: DestinationHash = Self::destination(2).hash();
        let link = node.links().next().map(proto_rns::link::Link::id);
        // Refusals are expected: the node may be in any state.
        match rng.below(12) {
            0 => _ = node.announce(now, own, Some(b"again")),
            1 => node.request_path(now, other),
            2 => _ = node.send(now, other, b"packet"),
            3 => _ = node.open_link(now, other, None),
            4 => _ = node.drop_path(other),
            5 => _ = node.send_plain(now, other, b"plain"),
            6 => node.close_links(now),
            _ => {
                if let Some(link) = link {
                    node.with_link(now, link, |link, env, out| {
                        let _ = link.send(env, b"data", out);
                        let _ = link.request(env, "/path", &[], None, None, out);
                        let _ = link.channel_send(env, MessageType(1), b"message", out);
                        let _ = link.send_resource(env, noise(2, 5_000), None, false, out);
                    });
                }
            }
        }
    }

    fn event_limit(&self) -> usize {
        // What a single input can cause beyond the limit at which no more is read.
        256 + 8_192
    }

    fn state(&self, node: &Node) -> String {
        format!("{:?} {:?} {}", node.stats(), node.router().sizes(), node.links().count())
    }
}
