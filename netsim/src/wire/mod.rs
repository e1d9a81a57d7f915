//! Everything between the machines: addresses, paths, what is in flight, and when it lands.

mod datagrams;
mod flight;
mod picker;
mod port;
mod requests;
mod streams;

pub(crate) use flight::{Flight, Landing, Packet};
pub(crate) use picker::Picker;
pub(crate) use port::Port;

use crate::{
    entropy::Entropy,
    nat::Nat,
    node::{LinkEnd, NodeId},
    path::{Conditions, Path},
    stats::{PathStats, Traffic},
    stream::{Lane, StreamConditions},
    trace::Trace,
};
use proto_core::{Instant, LinkEvent, LinkId};
use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, BinaryHeap},
    net::{IpAddr, SocketAddr},
    time::Duration,
};

/// The network without its machines.
#[derive(Debug)]
pub(crate) struct Wire {
    now: Instant,
    pub(crate) entropy: Box<dyn Entropy>,
    pub(crate) trace: Trace,
    flights: BinaryHeap<Reverse<Flight>>,
    launched: u64,

    links: BTreeMap<LinkEnd, Link>,
    /// Who receives datagrams at an address.
    addresses: BTreeMap<SocketAddr, LinkEnd>,
    /// Who accepts streams at an address; ports for the two kinds are apart.
    listeners: BTreeMap<SocketAddr, LinkEnd>,
    next_port: u16,
    next_accepted: u32,
    pub(crate) names: BTreeMap<String, Vec<IpAddr>>,
    pub(crate) mailboxes: BTreeMap<SocketAddr, Vec<(SocketAddr, Vec<u8>)>>,

    pub(crate) default_conditions: Conditions,
    paths: BTreeMap<(NodeId, NodeId), Path>,
    cuts: BTreeSet<(NodeId, NodeId)>,
    pub(crate) nats: BTreeMap<NodeId, Nat>,
    pub(crate) picker: Option<Picker>,
    stats: BTreeMap<(NodeId, NodeId), PathStats>,
    unrouted: Traffic,

    pub(crate) default_stream: StreamConditions,
    lanes: Vec<Lane>,
    /// Lanes from which something could be received if the receiver read, or were not cut off.
    stalled: BTreeSet<usize>,
}

/// What the network knows of one end of a link.
#[derive(Clone, Copy, Debug)]
enum Link {
    Udp {
        local: SocketAddr,
        hiccups: Option<Hiccups>,
    },
    Listener {
        local: SocketAddr,
    },
    /// Both lanes, as indices.
    Stream {
        outgoing: usize,
        incoming: usize,
    },
}

/// A device that is full now and then: a datagram link that answers some transmits with `Flow::Blocked`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hiccups {
    /// The probability that the device is full after a transmit.
    pub chance: f64,
    /// How long it then stays full.
    pub pause: Duration,
}

impl Wire {
    /// Where the network's clock starts, so that a node's clock can jump back.
    const START: Instant = Instant::from_millis(1_000_000);
    /// The first port for links that did not ask for one.
    const FIRST_PORT: u16 = 50_000;

    pub(crate) fn new(entropy: Box<dyn Entropy>) -> Self {
        Self {
            now: Self::START,
            entropy,
            trace: Trace::default(),
            flights: BinaryHeap::new(),
            launched: 0,
            links: BTreeMap::new(),
            addresses: BTreeMap::new(),
            listeners: BTreeMap::new(),
            next_port: Self::FIRST_PORT,
            next_accepted: LinkId::FIRST_ACCEPTED.0,
            names: BTreeMap::new(),
            mailboxes: BTreeMap::new(),
            default_conditions: Conditions::default(),
            paths: BTreeMap::new(),
            cuts: BTreeSet::new(),
            nats: BTreeMap::new(),
            picker: None,
            stats: BTreeMap::new(),
            unrouted: Traffic::default(),
            default_stream: StreamConditions::default(),
            lanes: Vec::new(),
            stalled: BTreeSet::new(),
        }
    }

    pub(crate) const fn now(&self) -> Instant {
        self.now
    }

    /// Moves the clock; it never goes back.
    pub(crate) fn advance(&mut self, to: Instant) {
        self.now = self.now.max(to);
    }

    /// Returns when the next flight lands.
    pub(crate) fn next_landing(&self) -> Option<Instant> {
        self.flights.peek().map(|Reverse(flight)| flight.at)
    }

    /// Takes the next flight that has landed by now.
    pub(crate) fn land(&mut self) -> Option<Landing> {
        if self.next_landing()? > self.now {
            return None;
        }
        self.flights.pop().map(|Reverse(flight)| flight.landing)
    }

    /// Tells a machine of a change in a link's life, as the next thing it hears of.
    pub(crate) fn notify(&mut self, end: LinkEnd, event: LinkEvent) {
        self.launch(self.now, Landing::Event { end, event });
    }

    pub(crate) fn launch(&mut self, at: Instant, landing: Landing) {
        self.launched += 1;
        self.flights.push(Reverse(Flight { at, number: self.launched, landing }));
    }

    pub(crate) fn set_conditions(&mut self, from: NodeId, to: NodeId, conditions: Conditions) {
        self.path(from, to).conditions = conditions;
    }

    /// Sets the conditions of every path, those that come later included.
    pub(crate) fn set_all_conditions(&mut self, conditions: &Conditions) {
        self.default_conditions = conditions.clone();
        for path in self.paths.values_mut() {
            path.conditions = conditions.clone();
        }
    }

    pub(crate) fn cut(&mut self, a: NodeId, b: NodeId) {
        self.cuts.extend([(a, b), (b, a)]);
    }

    pub(crate) fn join(&mut self, a: NodeId, b: NodeId) {
        self.cuts.remove(&(a, b));
        self.cuts.remove(&(b, a));
        self.resume_lanes(|lane| [(a, b), (b, a)].contains(&(lane.from.node, lane.to.node)));
    }

    pub(crate) fn join_all(&mut self) {
        self.cuts.clear();
        self.resume_lanes(|_| true);
    }

    pub(crate) fn is_cut(&self, from: NodeId, to: NodeId) -> bool {
        self.cuts.contains(&(from, to))
    }

    pub(crate) fn stats(&self, from: NodeId, to: NodeId) -> PathStats {
        self.stats.get(&(from, to)).copied().unwrap_or_default()
    }

    pub(crate) fn all_stats(&self) -> impl Iterator<Item = PathStats> {
        self.stats.values().copied()
    }

    pub(crate) const fn unrouted(&self) -> Traffic {
        self.unrouted
    }

    pub(crate) fn address(&self, end: LinkEnd) -> Option<SocketAddr> {
        match self.links.get(&end)? {
            Link::Udp { local, .. } | Link::Listener { local } => Some(*local),
            Link::Stream { .. } => None,
        }
    }

    fn path(&mut self, from: NodeId, to: NodeId) -> &mut Path {
        let conditions = &self.default_conditions;
        self.paths.entry((from, to)).or_insert_with(|| Path::new(conditions.clone()))
    }

    fn count(&mut self, from: NodeId, to: NodeId) -> &mut PathStats {
        self.stats.entry((from, to)).or_default()
    }

    fn fresh_port(&mut self) -> u16 {
        let port = self.next_port;
        self.next_port = port.checked_add(1).unwrap_or(Self::FIRST_PORT);
        port
    }

    fn fresh_accepted(&mut self) -> LinkId {
        let link = LinkId(self.next_accepted);
        self.next_accepted = self.next_accepted.checked_add(1).unwrap_or(LinkId::FIRST_ACCEPTED.0);
        link
    }
}
