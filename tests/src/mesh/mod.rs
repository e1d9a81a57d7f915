//! Reticulum on the virtual network: nodes, the connections between them, and what they hear.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "a test fails by panicking, and looks at the events that it is about"
)]

mod listener;
mod subject;
mod topology;

pub use listener::Heard;
pub use subject::NodeSubject;
pub use topology::Topology;

use bytes::Bytes;
use netsim::{Network, NodeId};
use proto_core::{Instant, UnixTime};
use proto_rns::{
    DestinationHash, LinkHash,
    dest::{DestinationName, LocalDestination},
    identity::Identity,
    iface::{Framing, InterfaceConfig, InterfaceId, Medium, Target},
    link::{self, ProofStrategy},
    node::{Event, Node, NodeConfig, Tools},
};
use std::{collections::BTreeMap, net::SocketAddr, time::Duration};

/// A network of Reticulum nodes.
pub type Net = Network<Node>;

/// The wall time at which the network's clock begins.
pub const WALL: UnixTime = UnixTime::new(Duration::from_secs(1_700_000_000));

/// A network of nodes with everything that they told.
#[derive(Debug)]
pub struct Mesh<'n> {
    /// The network.
    pub net: &'n mut Net,
    /// What each node heard.
    pub heard: BTreeMap<NodeId, Heard>,
    seeds: u8,
}

impl<'n> Mesh<'n> {
    /// Starts without nodes.
    pub const fn new(net: &'n mut Net) -> Self {
        Self { net, heard: BTreeMap::new(), seeds: 0 }
    }

    /// Adds a node that passes on what others send.
    pub fn transport(&mut self) -> NodeId {
        self.add(NodeConfig { transport: true, ..NodeConfig::default() })
    }

    /// Adds a node that does not.
    pub fn endpoint(&mut self) -> NodeId {
        self.add(NodeConfig::default())
    }

    /// Adds a node with settings, and has it listen for connections.
    pub fn add(&mut self, config: NodeConfig) -> NodeId {
        let seed = self.net.machine_seed();
        let now = self.net.next_instant().unwrap_or(Instant::from_millis(1_000_000));
        let node = Node::new(config, Tools::default(), None, seed, now, WALL).unwrap();
        let id = self.net.add_bare_node(node);
        self.heard.insert(id, Heard::default());
        let medium = Medium::TcpServer { bind: self.address(id), framing: Framing::Hdlc, backbone: false };
        self.add_interface(id, InterfaceConfig::new("server", medium));
        id
    }

    /// Returns where a node listens.
    pub fn address(&self, node: NodeId) -> SocketAddr {
        let place = self.heard.keys().position(|known| *known == node).unwrap_or(0);
        let [high, low] = u16::try_from(place + 1).unwrap().to_be_bytes();
        SocketAddr::from(([10, 1, high, low], 4_242))
    }

    /// Adds an interface to a node.
    pub fn add_interface(&mut self, node: NodeId, config: InterfaceConfig) -> InterfaceId {
        self.net.command(node, |node, now| node.add_interface(now, config)).unwrap()
    }

    /// Has a node connect to another one.
    pub fn connect(&mut self, from: NodeId, to: NodeId) -> InterfaceId {
        let target = Target::Address(self.address(to));
        let medium = Medium::TcpClient { target, framing: Framing::Hdlc, backbone: false };
        self.add_interface(from, InterfaceConfig::new("client", medium))
    }

    /// Gives a node a destination of an identity of its own, which proves every packet.
    pub fn destination(&mut self, node: NodeId, name: &str) -> DestinationHash {
        self.seeds += 1;
        let seed = self.seeds;
        self.net.command(node, |node, now| {
            let identity = Identity::from_bytes(&proto_rns::crypto::Dalek, &[seed; 64]);
            let mut destination = LocalDestination::single(DestinationName::parse(name).unwrap(), identity);
            destination.proofs = ProofStrategy::All;
            node.register(now, destination).unwrap()
        })
    }

    /// Has a node announce one of its destinations.
    pub fn announce(&mut self, node: NodeId, destination: DestinationHash, app_data: &[u8]) {
        self.net.command(node, |node, now| node.announce(now, destination, Some(app_data))).unwrap();
    }

    /// Waits until a node has a path to a destination.
    #[track_caller]
    pub fn wait_for_path(&mut self, node: NodeId, destination: DestinationHash) {
        self.wait(Duration::from_secs(60), |mesh| mesh.hops(node, destination).is_some());
    }

    /// Has a node send a packet, and waits until it is proved.
    #[track_caller]
    pub fn deliver(&mut self, node: NodeId, destination: DestinationHash, data: &[u8], within: Duration) {
        let packet = self.net.command(node, |node, now| node.send(now, destination, data)).unwrap();
        self.wait(within, |mesh| mesh.heard[&node].delivered(packet));
    }

    /// Has a node open a link, and waits until it is established.
    pub fn open_link(&mut self, node: NodeId, destination: DestinationHash) -> LinkHash {
        let link = self.net.command(node, |node, now| node.open_link(now, destination, None)).unwrap();
        self.wait_for_event(Duration::from_secs(60), node, link, |event| {
            matches!(event, link::Event::Established { .. })
        });
        link
    }

    /// Waits until a node was told something of a link.
    #[track_caller]
    pub fn wait_for_event(
        &mut self,
        within: Duration,
        node: NodeId,
        link: LinkHash,
        mut is_it: impl FnMut(&link::Event) -> bool,
    ) {
        self.wait(within, |mesh| mesh.heard[&node].link(link).any(&mut is_it));
    }

    /// Runs for a time.
    pub fn run_for(&mut self, time: Duration) {
        self.net.run_for(time);
        self.listen();
    }

    /// Runs until something is so, and fails if it is not within a time.
    #[track_caller]
    pub fn wait(&mut self, within: Duration, mut until: impl FnMut(&Self) -> bool) {
        let step = Duration::from_millis(100);
        let mut left = within;
        loop {
            self.listen();
            if until(self) {
                return;
            }
            assert!(!left.is_zero(), "nothing came within {within:?}");
            self.net.run_for(step);
            left = left.saturating_sub(step);
        }
    }

    /// Returns what a node knows of the way to a destination, in hops.
    pub fn hops(&self, node: NodeId, destination: DestinationHash) -> Option<u8> {
        self.net.node(node).machine.router().hops_to(destination)
    }

    fn listen(&mut self) {
        let nodes: Vec<NodeId> = self.heard.keys().copied().collect();
        for node in nodes {
            let events: Vec<Event> = self.net.take_events(node);
            self.heard.get_mut(&node).unwrap().events.extend(events);
        }
    }
}

/// Makes `len` bytes that differ from place to place and do not compress.
pub fn noise(seed: u64, len: usize) -> Bytes {
    let mut bytes = vec![0; len];
    proto_core::Rng::from_u64(seed).fill(&mut bytes);
    Bytes::from(bytes)
}
