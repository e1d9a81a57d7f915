//! One node's application: it reads, writes within back-pressure, and remembers what it was told.

use netsim::NodeId;
use proto_raknet::{
    CloseReason, ConnectFailure, ConnectOptions, Event, Message, PeerId, PeerInfo, PeerStats, ReceiptId,
    Received, SendError,
};
use std::collections::{BTreeMap, VecDeque};

use super::Net;

/// The application at a node. It queues what the machine refuses as full, and goes on only when it is told that there
/// is room again.
#[derive(Debug)]
pub struct Party {
    /// Its node.
    pub node: NodeId,
    /// Whether it takes messages when told that some wait.
    pub reads: bool,
    /// Whether it sends every message back as it came.
    pub echoes: bool,
    /// The established sessions.
    pub sessions: BTreeMap<PeerId, PeerInfo>,
    /// The messages taken, in order, and those that were unread at the end of a session.
    pub received: Vec<(PeerId, Received)>,
    /// Every event but `Readable` and `Writable`.
    pub events: Vec<Event>,
    /// The receipts that sends returned.
    pub receipts: Vec<ReceiptId>,
    outgoing: BTreeMap<PeerId, Outgoing>,
    readable: Vec<PeerId>,
}

#[derive(Debug, Default)]
struct Outgoing {
    messages: VecDeque<Message>,
    is_full: bool,
}

impl Party {
    /// Creates the application of a node.
    pub fn new(node: NodeId) -> Self {
        Self {
            node,
            reads: true,
            echoes: false,
            sessions: BTreeMap::new(),
            received: Vec::new(),
            events: Vec::new(),
            receipts: Vec::new(),
            outgoing: BTreeMap::new(),
            readable: Vec::new(),
        }
    }

    /// Begins to connect to another node.
    ///
    /// # Panics
    /// When the attempt cannot begin.
    pub fn connect(&self, net: &mut Net, to: NodeId, options: ConnectOptions) -> PeerId {
        let to = net.address(to);
        net.command(self.node, |endpoint, now| endpoint.connect(now, to, options))
            .expect("the attempt begins")
    }

    /// Queues messages for a session and sends what is taken now.
    pub fn send(&mut self, net: &mut Net, peer: PeerId, messages: impl IntoIterator<Item = Message>) {
        self.outgoing.entry(peer).or_default().messages.extend(messages);
        self.write(net, peer);
    }

    /// Ends a session gracefully.
    pub fn disconnect(&self, net: &mut Net, peer: PeerId) {
        net.command(self.node, |endpoint, now| endpoint.disconnect(now, peer));
    }

    /// Reacts to all that happened at the node.
    pub fn serve(&mut self, net: &mut Net) {
        for event in net.take_events(self.node) {
            self.on_event(net, event);
        }
        if self.reads {
            for peer in std::mem::take(&mut self.readable) {
                self.read(net, peer);
            }
        }
    }

    /// Says whether nothing waits for room.
    pub fn has_sent_all(&self) -> bool {
        self.outgoing.values().all(|outgoing| outgoing.messages.is_empty())
    }

    /// Returns the messages of every session in the order in which they were taken.
    pub fn messages(&self) -> impl Iterator<Item = &Received> {
        self.received.iter().map(|(_, message)| message)
    }

    /// Returns why sessions ended, in order.
    pub fn closes(&self) -> Vec<CloseReason> {
        let reason = |event: &Event| match event {
            Event::Disconnected { reason, .. } => Some(*reason),
            _ => None,
        };
        self.events.iter().filter_map(reason).collect()
    }

    /// Returns why attempts failed, in order.
    pub fn failures(&self) -> Vec<ConnectFailure> {
        let reason = |event: &Event| match event {
            Event::ConnectFailed { reason, .. } => Some(*reason),
            _ => None,
        };
        self.events.iter().filter_map(reason).collect()
    }

    /// Returns the only session.
    ///
    /// # Panics
    /// When there is none, or there are several.
    pub fn session(&self) -> PeerId {
        assert_eq!(self.sessions.len(), 1, "{}: {:?}", self.node, self.events);
        *self.sessions.keys().next().expect("one session")
    }

    /// Returns the numbers of a session.
    ///
    /// # Panics
    /// When it is not established.
    pub fn stats(&self, net: &Net, peer: PeerId) -> PeerStats {
        net.node(self.node).machine.peer_stats(peer).expect("the session is there")
    }

    fn on_event(&mut self, net: &mut Net, event: Event) {
        match &event {
            Event::Readable { peer } => return self.readable.push(*peer),
            Event::Writable { peer } => {
                let peer = *peer;
                self.outgoing.entry(peer).or_default().is_full = false;
                return self.write(net, peer);
            }
            Event::Connected { peer, info } => {
                self.sessions.insert(*peer, *info);
            }
            Event::Disconnected { peer, unread, .. } => {
                self.sessions.remove(peer);
                self.outgoing.remove(peer);
                self.received.extend(unread.iter().map(|message| (*peer, message.clone())));
            }
            _ => {}
        }
        self.events.push(event);
    }

    fn read(&mut self, net: &mut Net, peer: PeerId) {
        let mut echo = Vec::new();
        while let Some(message) = net.node_mut(self.node).machine.recv(peer) {
            if self.echoes {
                let Received { payload, reliability, channel } = message.clone();
                echo.push(Message::new(payload).reliability(reliability).channel(channel));
            }
            self.received.push((peer, message));
        }
        net.service(self.node);
        if !echo.is_empty() {
            self.send(net, peer, echo);
        }
    }

    fn write(&mut self, net: &mut Net, peer: PeerId) {
        let outgoing = self.outgoing.entry(peer).or_default();
        let receipts = &mut self.receipts;
        net.command(self.node, |endpoint, now| {
            while !outgoing.is_full
                && let Some(message) = outgoing.messages.front()
            {
                match endpoint.send(now, peer, message.clone()) {
                    Ok(receipt) => {
                        receipts.extend(receipt);
                        outgoing.messages.pop_front();
                    }
                    Err(SendError::Full) => outgoing.is_full = true,
                    Err(error) => panic!("a message was not taken: {error}"),
                }
            }
        });
    }
}
