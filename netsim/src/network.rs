//! The network as a test sees it: nodes to command, time to let pass, conditions to change.

use crate::{
    entropy::Entropy,
    nat::{Filtering, Nat},
    node::{Application, ClockJump, LinkEnd, Node, NodeId},
    path::Conditions,
    stats::{Loss, PathStats, Traffic},
    stream::{Arrival, StreamConditions},
    trace::Trace,
    wire::{Hiccups, Landing, Packet, Picker, Wire},
};
use proto_core::{Deadlines, DownReason, Instant, LinkEvent, LinkId, Machine, Rng};
use std::{
    collections::BTreeSet,
    fmt,
    net::{IpAddr, SocketAddr},
    num::NonZeroUsize,
    time::Duration,
};

/// A virtual network of machines under a virtual clock.
///
/// Time passes only in [`run_for`](Self::run_for) and its kin, and jumps from one landing or deadline to the next.
/// Every drain checks the laws of [`Machine`] that show in what leaves it: 1 and 2, no spin (3), and silence on
/// blocked and closed links (6 and 10). A violated law panics.
pub struct Network<M: Machine> {
    nodes: Vec<Node<M>>,
    wire: Wire,
    max_segments: NonZeroUsize,
    /// When each node's machine wants to be called, by the network's clock.
    deadlines: Deadlines,
}

impl<M: Machine> Network<M> {
    /// How many batches may land at one instant before the network counts as restless.
    const BATCHES_LIMIT: usize = 100_000;
    /// The default for [`set_max_segments`](Self::set_max_segments).
    const MAX_SEGMENTS: NonZeroUsize = NonZeroUsize::new(16).expect("16 is not zero");

    /// Creates an empty network whose chance grows from a seed.
    pub fn new(seed: u64) -> Self {
        Self::with_entropy(Rng::from_u64(seed))
    }

    /// Creates an empty network with another source of chance.
    pub fn with_entropy(entropy: impl Entropy + 'static) -> Self {
        Self {
            nodes: Vec::new(),
            wire: Wire::new(Box::new(entropy)),
            max_segments: Self::MAX_SEGMENTS,
            deadlines: Deadlines::new(),
        }
    }

    /// Adds a node with one datagram link, [`LinkId`] 0, at `10.0.x.y:19132`.
    pub fn add_node(&mut self, machine: M) -> NodeId {
        let number = u32::try_from(self.nodes.len() + 1).expect("a network has fewer than 2^32 nodes");
        let [_, _, high, low] = number.to_be_bytes();
        self.add_node_at(SocketAddr::from(([10, 0, high, low], 19_132)), machine)
    }

    /// Adds a node with one datagram link, [`LinkId`] 0, at an address.
    ///
    /// # Panics
    /// When the address is taken.
    pub fn add_node_at(&mut self, address: SocketAddr, machine: M) -> NodeId {
        let id = self.add_bare_node(machine);
        self.add_udp(id, LinkId(0), address);
        id
    }

    /// Adds a node without links.
    pub fn add_bare_node(&mut self, machine: M) -> NodeId {
        let id = NodeId(self.nodes.len());
        self.nodes.push(Node::new(id, machine, self.max_segments));
        self.service(id);
        id
    }

    /// Gives a node a further datagram link.
    ///
    /// # Panics
    /// When the address is taken.
    pub fn add_udp(&mut self, node: NodeId, link: LinkId, address: SocketAddr) {
        self.wire.open_udp(LinkEnd { node, link }, address);
        self.report(node, link, LinkEvent::Up { local: Some(address), peer: None });
    }

    /// Joins two nodes by a byte stream, such as an established TCP connection or a serial line.
    pub fn join_stream(&mut self, a: (NodeId, LinkId), b: (NodeId, LinkId), conditions: StreamConditions) {
        let [a, b] = [a, b].map(|(node, link)| LinkEnd { node, link });
        self.wire.connect(a, b, conditions);
        for end in [a, b] {
            self.report(end.node, end.link, LinkEvent::Up { local: None, peer: None });
        }
    }

    /// Closes one end of a link as its driver would: a stream's peer reads what is under way and then the end.
    pub fn close_link(&mut self, node: NodeId, link: LinkId, reason: DownReason) {
        self.wire.close(LinkEnd { node, link }, reason);
    }

    /// Breaks a stream: both ends go down at once.
    pub fn reset_stream(&mut self, node: NodeId, link: LinkId) {
        self.wire.reset_stream(LinkEnd { node, link });
    }

    /// Lets a function answer each event of a node's machine at once; events are not kept for
    /// [`take_events`](Self::take_events) then.
    pub fn set_app(&mut self, id: NodeId, application: Application<M>) {
        self.node_mut(id).application = Some(application);
        self.service(id);
    }

    /// Sets how many datagrams a batch may hold, for every node. 1 turns batches off.
    pub fn set_max_segments(&mut self, max_segments: NonZeroUsize) {
        self.max_segments = max_segments;
        for node in &mut self.nodes {
            node.max_segments = max_segments;
        }
    }

    /// Sets the conditions of one direction.
    pub fn set_path(&mut self, from: NodeId, to: NodeId, conditions: Conditions) {
        self.wire.set_conditions(from, to, conditions);
    }

    /// Sets the conditions of every direction.
    pub fn set_paths(&mut self, conditions: &Conditions) {
        self.wire.set_all_conditions(conditions);
    }

    /// Sets the conditions of the streams that machines open from now on.
    pub fn set_streams(&mut self, conditions: StreamConditions) {
        self.wire.default_stream = conditions;
    }

    /// Makes a datagram link's device full now and then, or no more.
    ///
    /// # Panics
    /// When the node has no such datagram link.
    pub fn set_hiccups(&mut self, node: NodeId, link: LinkId, hiccups: Option<Hiccups>) {
        self.wire.set_hiccups(LinkEnd { node, link }, hiccups);
    }

    /// Cuts two nodes off from each other: datagrams are lost, streams stall.
    pub fn partition(&mut self, a: NodeId, b: NodeId) {
        self.wire.cut(a, b);
    }

    /// Cuts every node off from every other.
    pub fn partition_all(&mut self) {
        for a in 0..self.nodes.len() {
            for b in a + 1..self.nodes.len() {
                self.wire.cut(NodeId(a), NodeId(b));
            }
        }
    }

    /// Ends the partition between two nodes.
    pub fn heal(&mut self, a: NodeId, b: NodeId) {
        self.wire.join(a, b);
    }

    /// Ends every partition.
    pub fn heal_all(&mut self) {
        self.wire.join_all();
    }

    /// Loses exactly the datagrams that a function picks by sender, receiver and payload, besides what the paths lose.
    pub fn lose_if(&mut self, picks: impl FnMut(NodeId, NodeId, &[u8]) -> bool + 'static) {
        self.wire.picker = Some(Picker::new(picks));
    }

    /// Ends [`lose_if`](Self::lose_if).
    pub fn lose_none(&mut self) {
        self.wire.picker = None;
    }

    /// Puts a node behind a NAT with an outside address of its own.
    pub fn put_behind_nat(&mut self, node: NodeId, outside: IpAddr, filtering: Filtering) {
        self.wire.nats.insert(node, Nat::new(outside, filtering));
    }

    /// Makes the node's NAT forget its mappings: the node speaks from another port from now on.
    ///
    /// # Panics
    /// When the node is not behind a NAT.
    pub fn rebind_nat(&mut self, node: NodeId) {
        self.wire.nats.get_mut(&node).expect("the node is behind a NAT").rebind();
    }

    /// Says whether a node is behind a NAT.
    pub fn is_behind_nat(&self, node: NodeId) -> bool {
        self.wire.nats.contains_key(&node)
    }

    /// Makes a node's clock jump; the network's clock goes on as before.
    pub fn jump_clock(&mut self, node: NodeId, jump: ClockJump) {
        self.node_mut(node).jump(jump);
        self.schedule(node);
    }

    /// Tells what a name stands for when a machine asks for it.
    pub fn set_name(&mut self, host: impl Into<String>, addresses: Vec<IpAddr>) {
        self.wire.names.insert(host.into(), addresses);
    }

    /// Brings a forged datagram to a node's link at the current instant, past paths, partitions and NATs.
    pub fn inject(&mut self, node: NodeId, link: LinkId, from: SocketAddr, data: impl Into<Vec<u8>>) {
        let end = LinkEnd { node, link };
        let to = self.wire.address(end).expect("datagrams are injected into datagram links");
        self.wire.inject(end, Packet { from, to, ecn: None, data: data.into() });
    }

    /// Keeps the datagrams sent to an address that belongs to no node, for tests that speak by hand.
    pub fn open_mailbox(&mut self, address: SocketAddr) {
        self.wire.mailboxes.entry(address).or_default();
    }

    /// Takes the sources and payloads of the datagrams that arrived in a mailbox.
    pub fn take_mail(&mut self, address: SocketAddr) -> Vec<(SocketAddr, Vec<u8>)> {
        self.wire.mailboxes.get_mut(&address).map(std::mem::take).unwrap_or_default()
    }

    /// Reports a change in a link's life to a machine.
    pub fn report(&mut self, id: NodeId, link: LinkId, event: LinkEvent) {
        let now = self.wire.now();
        let node = self.node_mut(id);
        node.handle_link(node.local_time(now), link, event);
        self.service(id);
    }

    /// Gives a command to a node's machine and drains it.
    pub fn command<R>(&mut self, id: NodeId, command: impl FnOnce(&mut M, Instant) -> R) -> R {
        let now = self.wire.now();
        let node = self.node_mut(id);
        let local = node.local_time(now);
        let result = command(&mut node.machine, local);
        self.service(id);
        result
    }

    /// Drains a node's machine, as is needed after changing it directly.
    pub fn service(&mut self, id: NodeId) {
        let node = self.nodes.get_mut(id.0).expect("the node exists");
        node.service(&mut self.wire);
        let machine = &node.machine;
        self.wire.resume_lanes(|lane| lane.to.node == id && machine.wants_read(lane.to.link));
        self.schedule(id);
    }

    /// Lets time pass.
    pub fn run_for(&mut self, duration: Duration) {
        self.run_until(|_| false, duration);
    }

    /// Lets time pass until a condition holds, `within` at most, and says whether it came to hold.
    pub fn run_until(&mut self, mut condition: impl FnMut(&mut Self) -> bool, within: Duration) -> bool {
        let end = self.now() + within;
        let mut batches = 0;
        loop {
            if condition(self) {
                return true;
            }
            let Some(next) = self.next_instant().filter(|next| *next <= end) else {
                self.wire.advance(end);
                return false;
            };
            batches = if next > self.now() { 0 } else { batches + 1 };
            assert!(batches < Self::BATCHES_LIMIT, "the network does not come to rest at {next:?}");
            self.wire.advance(next);
            self.run_batch();
        }
    }

    /// Returns the network's time.
    pub const fn now(&self) -> Instant {
        self.wire.now()
    }

    /// Returns what a node's clock shows.
    pub fn local_now(&self, id: NodeId) -> Instant {
        self.node(id).local_time(self.now())
    }

    /// Returns when something happens next if nothing is commanded: a landing or a machine's deadline.
    pub fn next_instant(&self) -> Option<Instant> {
        let next = self.deadlines.next().into_iter().chain(self.wire.next_landing()).min();
        next.map(|next| next.max(self.now()))
    }

    /// Returns the numbers of all nodes.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + use<M> {
        (0..self.nodes.len()).map(NodeId)
    }

    /// Returns a node.
    ///
    /// # Panics
    /// When there is none with this number.
    pub fn node(&self, id: NodeId) -> &Node<M> {
        self.nodes.get(id.0).expect("the node exists")
    }

    /// Returns a node to change. After changing its machine call [`service`](Self::service).
    ///
    /// # Panics
    /// When there is none with this number.
    pub fn node_mut(&mut self, id: NodeId) -> &mut Node<M> {
        self.nodes.get_mut(id.0).expect("the node exists")
    }

    /// Takes the events that a node's machine has told since the last call.
    pub fn take_events(&mut self, id: NodeId) -> Vec<M::Event> {
        std::mem::take(&mut self.node_mut(id).events)
    }

    /// Returns the address of a node's first datagram link, [`LinkId`] 0.
    ///
    /// # Panics
    /// When the node has no such link.
    pub fn address(&self, node: NodeId) -> SocketAddr {
        self.link_address(node, LinkId(0)).expect("the node has a datagram link 0")
    }

    /// Returns the local address of a datagram link.
    pub fn link_address(&self, node: NodeId, link: LinkId) -> Option<SocketAddr> {
        self.wire.address(LinkEnd { node, link })
    }

    /// Returns the counters of one direction.
    pub fn stats(&self, from: NodeId, to: NodeId) -> PathStats {
        self.wire.stats(from, to)
    }

    /// Returns the sum of every direction's counters.
    pub fn total_stats(&self) -> PathStats {
        self.wire.all_stats().fold(PathStats::default(), PathStats::plus)
    }

    /// Returns what was sent to addresses that nobody has, or on links that are not open.
    pub const fn unrouted(&self) -> Traffic {
        self.wire.unrouted()
    }

    /// Returns the record of the last datagrams.
    pub const fn trace(&self) -> &Trace {
        &self.wire.trace
    }

    /// Returns the record of the last datagrams, to set its limit or to clear it.
    pub const fn trace_mut(&mut self) -> &mut Trace {
        &mut self.wire.trace
    }

    /// Returns the source of chance, for a test's own draws.
    pub fn entropy(&mut self) -> &mut dyn Entropy {
        &mut *self.wire.entropy
    }

    /// Draws a seed for a machine.
    pub fn machine_seed(&mut self) -> [u8; 32] {
        let mut seed = [0; 32];
        self.wire.entropy.fill(&mut seed);
        seed
    }

    /// Lands everything that is due, then serves the nodes concerned, each once: a driver's one wake-up.
    fn run_batch(&mut self) {
        let mut touched: BTreeSet<NodeId> = BTreeSet::new();
        while let Some(landing) = self.wire.land() {
            touched.extend(self.settle(landing));
        }
        while let Some(slot) = self.deadlines.expire(self.now()) {
            touched.insert(NodeId(slot as usize));
        }
        for id in touched {
            self.service(id);
        }
    }

    fn schedule(&mut self, id: NodeId) {
        let deadline = self.node(id).deadline();
        self.deadlines.set(id.0 as u32, deadline);
    }

    /// Gives a flight to its receiver and returns the node that has to be served.
    fn settle(&mut self, landing: Landing) -> Option<NodeId> {
        let now = self.wire.now();
        match landing {
            Landing::Event { end, event } => {
                let node = self.node_mut(end.node);
                node.handle_link(node.local_time(now), end.link, event);
                Some(end.node)
            }
            Landing::Datagram { sender, end, packet } => {
                self.land_datagram(sender, end, packet);
                Some(end.node)
            }
            Landing::Lane(lane) => self.land_chunk(lane),
        }
    }

    fn land_datagram(&mut self, sender: Option<NodeId>, end: LinkEnd, packet: Packet) {
        if !self.wire.is_udp(end) {
            return self.wire.note_arrival(sender, end.node, &packet, Some(Loss::LinkClosed));
        }
        let node = self.nodes.get_mut(end.node.0).expect("the receiver exists");
        let now = node.local_time(self.wire.now());
        let has_room = node.has_room(end.link);
        let loss = (!has_room).then_some(Loss::ReceiveBufferFull);
        self.wire.note_arrival(sender, end.node, &packet, loss);
        if has_room {
            node.receive(now, end.link, packet);
        }
    }

    fn land_chunk(&mut self, lane: usize) -> Option<NodeId> {
        let end = self.wire.ready_receiver(lane)?;
        let node = self.nodes.get_mut(end.node.0).expect("the receiver exists");
        if !node.machine.wants_read(end.link) {
            // Serving the node comes back to the lane once the machine reads again.
            self.wire.stall_lane(lane);
            return None;
        }
        let now = node.local_time(self.wire.now());
        match self.wire.receive_stream(lane)? {
            Arrival::Chunk(mut chunk) => node.receive_stream(now, end.link, &mut chunk),
            Arrival::Eof => node.handle_link(now, end.link, LinkEvent::Eof),
        }
        Some(end.node)
    }
}

impl<M: Machine> fmt::Debug for Network<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Network")
            .field("nodes", &self.nodes.len())
            .field("now", &self.now())
            .field("next", &self.next_instant())
            .finish_non_exhaustive()
    }
}
