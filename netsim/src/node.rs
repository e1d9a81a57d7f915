//! A node of the network: a machine, its clock, and the application that answers its events.

use crate::{
    driver,
    laws::Ledger,
    wire::{Packet, Port, Wire},
};
use proto_core::{Datagram, Instant, LinkEvent, LinkId, Machine};
use std::{collections::VecDeque, fmt, num::NonZeroUsize, time::Duration};

/// A node's number, given in the order in which nodes are added, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub usize);

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node {}", self.0)
    }
}

/// One end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LinkEnd {
    pub(crate) node: NodeId,
    pub(crate) link: LinkId,
}

/// A sudden change of a node's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockJump {
    /// The clock goes on from a later time, as after a suspended laptop woke up.
    Forward(Duration),
    /// The clock goes on from an earlier time.
    Backward(Duration),
}

/// What answers a machine's events: it may give commands at once.
pub type Application<M> = Box<dyn FnMut(&mut M, Instant, <M as Machine>::Event)>;

/// A machine on the network.
pub struct Node<M: Machine> {
    /// The machine itself. After changing it directly call [`Network::service`](crate::Network::service).
    pub machine: M,
    pub(crate) events: Vec<M::Event>,
    pub(crate) application: Option<Application<M>>,
    pub(crate) max_segments: NonZeroUsize,
    id: NodeId,
    /// How far the node's clock is ahead of the network's, in nanoseconds.
    ahead_nanos: i64,
    /// Datagrams that the machine does not want to read yet, like a socket's receive buffer.
    inbox: VecDeque<(LinkId, Packet)>,
    ledger: Ledger,
    scratch: Vec<u8>,
}

impl<M: Machine> Node<M> {
    /// How many datagrams wait for a machine that does not read; more are lost.
    const INBOX_LIMIT: usize = 256;
    /// How often the application may answer events with commands that cause further events.
    const ROUNDS_LIMIT: usize = 100_000;

    pub(crate) fn new(id: NodeId, machine: M, max_segments: NonZeroUsize) -> Self {
        Self {
            machine,
            events: Vec::new(),
            application: None,
            max_segments,
            id,
            ahead_nanos: 0,
            inbox: VecDeque::new(),
            ledger: Ledger::default(),
            scratch: Vec::new(),
        }
    }

    /// Returns what the node's clock shows when the network's shows `global`.
    pub(crate) fn local_time(&self, global: Instant) -> Instant {
        let offset = Duration::from_nanos(self.ahead_nanos.unsigned_abs());
        if self.ahead_nanos >= 0 { global + offset } else { global - offset }
    }

    /// Returns what the network's clock shows when the node's machine wants to be called.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let offset = Duration::from_nanos(self.ahead_nanos.unsigned_abs());
        let due = self.machine.poll_timeout()?;
        Some(if self.ahead_nanos >= 0 { due - offset } else { due + offset })
    }

    pub(crate) fn jump(&mut self, jump: ClockJump) {
        let nanos = |by: Duration| i64::try_from(by.as_nanos()).unwrap_or(i64::MAX);
        self.ahead_nanos = match jump {
            ClockJump::Forward(by) => self.ahead_nanos.saturating_add(nanos(by)),
            ClockJump::Backward(by) => self.ahead_nanos.saturating_sub(nanos(by)),
        };
    }

    /// Says whether a datagram can be taken in or kept.
    pub(crate) fn has_room(&self, link: LinkId) -> bool {
        self.reads(link) || self.inbox.len() < Self::INBOX_LIMIT
    }

    /// Takes in a datagram, or keeps it while the machine does not read.
    pub(crate) fn receive(&mut self, now: Instant, link: LinkId, packet: Packet) {
        if self.reads(link) {
            self.read(now, link, packet);
        } else {
            self.inbox.push_back((link, packet));
        }
    }

    pub(crate) fn receive_stream(&mut self, now: Instant, link: LinkId, data: &mut [u8]) {
        driver::feed_stream(&mut self.machine, now, link, data);
    }

    pub(crate) fn handle_link(&mut self, now: Instant, link: LinkId, event: LinkEvent) {
        self.ledger.note_event(link, &event);
        self.machine.handle_link(now, link, event);
    }

    /// Drains the machine as a driver does, until the application and the inbox have nothing more for it.
    pub(crate) fn service(&mut self, wire: &mut Wire) {
        let now = self.local_time(wire.now());
        for _ in 0..Self::ROUNDS_LIMIT {
            self.hand_out(wire);
            let answered = self.run_application(now);
            self.drain(now, wire);
            let read = self.read_inbox(now);
            if !answered && !read && (self.application.is_none() || self.events.is_empty()) {
                return;
            }
        }
        panic!("{}'s application and machine keep each other busy for ever at {now:?}", self.id);
    }

    fn reads(&self, link: LinkId) -> bool {
        self.inbox.is_empty() && self.machine.wants_read(link)
    }

    fn hand_out(&mut self, wire: &mut Wire) {
        let mut port = Port::new(wire, self.id, self.max_segments, &mut self.events);
        let handed_out = driver::hand_out(&mut self.machine, &mut self.ledger, &mut port);
        handed_out.unwrap_or_else(|violation| panic!("{}: {violation}", self.id));
    }

    fn run_application(&mut self, now: Instant) -> bool {
        let Some(application) = &mut self.application else { return false };
        let answered = !self.events.is_empty();
        for event in std::mem::take(&mut self.events) {
            application(&mut self.machine, now, event);
        }
        answered
    }

    fn drain(&mut self, now: Instant, wire: &mut Wire) {
        let mut port = Port::new(wire, self.id, self.max_segments, &mut self.events);
        let drained = driver::drain(&mut self.machine, now, &mut self.ledger, &mut self.scratch, &mut port);
        drained.unwrap_or_else(|violation| panic!("{}: {violation}", self.id));
    }

    fn read_inbox(&mut self, now: Instant) -> bool {
        let mut read = false;
        while let Some((link, packet)) = self.inbox.pop_front() {
            if !self.machine.wants_read(link) {
                self.inbox.push_front((link, packet));
                break;
            }
            self.read(now, link, packet);
            read = true;
        }
        read
    }

    fn read(&mut self, now: Instant, link: LinkId, mut packet: Packet) {
        let datagram = Datagram {
            link,
            from: packet.from,
            to: Some(packet.to.ip()),
            ecn: packet.ecn,
            interface: None,
            is_truncated: false,
            data: &mut packet.data,
        };
        self.machine.handle_datagram(now, datagram);
    }
}

impl<M: Machine + fmt::Debug> fmt::Debug for Node<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, machine, ahead_nanos, inbox, .. } = self;
        f.debug_struct("Node")
            .field("id", id)
            .field("machine", machine)
            .field("ahead_nanos", ahead_nanos)
            .field("inbox", &inbox.len())
            .finish_non_exhaustive()
    }
}
