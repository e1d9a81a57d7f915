//! Where an endpoint's events meet the tasks that wait for them.

use proto_core::Instant;
use proto_raknet::{
    CloseReason, ConnectFailure, Endpoint, Event, PeerId, PeerInfo, ReceiptId, Received, Role,
};
use std::{
    collections::{HashMap, VecDeque},
    task::Context,
};

use super::{
    out_of_band::{Mailbox, OutOfBand},
    ping::Pong,
    progress::{Gauge, SplitProgress},
    receipt::{Delivery, Pending},
};
use crate::{Face, faces::waiters::Waiters};

/// The face of one endpoint: a seat for each peer, the queue to be accepted, the answers to pings.
#[derive(Debug, Default)]
pub(super) struct Desk {
    /// The peers that the machine has, by [`PeerId::index`].
    seats: Vec<Option<Seat>>,
    /// Peers that are gone while their session's owner has not noticed yet. The machine may have given their index to
    /// others.
    departed: HashMap<PeerId, Departed>,
    /// Whether somebody accepts sessions that others open.
    listening: bool,
    /// Sessions nobody has accepted yet. The machine's limit on connections bounds them.
    arrivals: VecDeque<(PeerId, PeerInfo)>,
    acceptors: Waiters,
    /// Sessions that nobody will accept, to be closed.
    unwanted: Vec<PeerId>,
    pongs: VecDeque<Pong>,
    pingers: Waiters,
    mailbox: Mailbox,
    /// The driver ends once the machine has no peers left.
    closing: bool,
    stopped: bool,
}

/// One peer's waiting tasks.
#[derive(Debug)]
struct Seat {
    peer: PeerId,
    info: Option<PeerInfo>,
    owner: Owner,
    readers: Waiters,
    writers: Waiters,
    /// Those who wait for the session to open or to end.
    watchers: Waiters,
    gauge: Gauge,
    receipts: HashMap<ReceiptId, Pending>,
}

/// Who cares for a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    Nobody,
    /// It waits to be accepted.
    Arrivals,
    Stream,
}

/// What is left of a peer.
#[derive(Debug)]
pub(super) struct Departed {
    pub(super) why: Departure,
    /// What arrived in time and was not taken yet.
    pub(super) unread: VecDeque<Received>,
}

/// Why a peer is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Departure {
    NeverCame(ConnectFailure),
    Left(CloseReason),
}

impl Departure {
    /// Returns why an open session ended; one that never opened counts as aborted.
    pub(super) const fn reason(self) -> CloseReason {
        match self {
            Self::Left(reason) => reason,
            Self::NeverCame(_) => CloseReason::Aborted,
        }
    }
}

/// What a task can wait for at a seat.
#[derive(Clone, Copy, Debug)]
pub(super) enum Occasion {
    Readable,
    Writable,
    /// The session opened or ended.
    Change,
}

impl Desk {
    /// Creates the desk of an endpoint that takes sessions in.
    pub(super) fn listening() -> Self {
        Self { listening: true, ..Self::reading_mail() }
    }

    /// Creates the desk of an endpoint whose messages outside sessions are read.
    pub(super) fn reading_mail() -> Self {
        Self { mailbox: Mailbox::opened(), ..Self::default() }
    }

    /// Gives a peer a seat before its session is open.
    pub(super) fn expect(&mut self, peer: PeerId) {
        self.seat_at(peer, Seat::new(peer, Owner::Stream));
    }

    /// Says what is known of a peer whose session is open.
    pub(super) fn info(&self, peer: PeerId) -> Option<PeerInfo> {
        self.seat(peer)?.info
    }

    /// Returns what is left of a peer that is gone.
    pub(super) fn departed(&mut self, peer: PeerId) -> Option<&mut Departed> {
        self.departed.get_mut(&peer)
    }

    /// Returns why a session is over; one that the machine forgot without a word was aborted.
    pub(super) fn close_reason(&self, peer: PeerId) -> CloseReason {
        self.departed.get(&peer).map_or(CloseReason::Aborted, |departed| departed.why.reason())
    }

    /// Returns how far a peer's long messages have come; `None` once it is gone.
    pub(super) fn gauge(&mut self, peer: PeerId) -> Option<&mut Gauge> {
        self.seat_mut(peer).map(|seat| &mut seat.gauge)
    }

    /// Returns what has arrived outside sessions.
    pub(super) const fn mailbox(&mut self) -> &mut Mailbox {
        &mut self.mailbox
    }

    /// Has the task of `cx` woken on `occasion`, and when the peer goes.
    pub(super) fn wait(&mut self, peer: PeerId, occasion: Occasion, cx: &Context<'_>) {
        if let Some(seat) = self.seat_mut(peer) {
            match occasion {
                Occasion::Readable => seat.readers.add(cx),
                Occasion::Writable => seat.writers.add(cx),
                Occasion::Change => seat.watchers.add(cx),
            }
        }
    }

    /// Keeps a receipt until its message's fate is known.
    pub(super) fn keep_receipt(&mut self, peer: PeerId, id: ReceiptId, pending: Pending) {
        if let Some(seat) = self.seat_mut(peer) {
            seat.receipts.insert(id, pending);
        }
    }

    /// Takes note that no stream stands for a peer any more.
    pub(super) fn leave(&mut self, peer: PeerId) {
        self.departed.remove(&peer);
        if let Some(seat) = self.seat_mut(peer) {
            seat.owner = Owner::Nobody;
        }
    }

    /// Takes the session that waits longest to be accepted; without one, the task of `cx` is woken by the next.
    pub(super) fn accept(&mut self, cx: &Context<'_>) -> Option<(PeerId, PeerInfo)> {
        let arrival = self.arrivals.pop_front();
        match arrival {
            Some((peer, _)) => {
                if let Some(seat) = self.seat_mut(peer) {
                    seat.owner = Owner::Stream;
                }
            }
            None => self.acceptors.add(cx),
        }
        arrival
    }

    /// Says whether sessions can still come to be accepted.
    pub(super) fn is_listening(&self) -> bool {
        self.listening && !self.stopped
    }

    /// Stops accepting; whoever has not been accepted is sent away.
    pub(super) fn stop_listening(&mut self) {
        self.listening = false;
        while let Some((peer, _)) = self.arrivals.pop_front() {
            self.leave(peer);
            self.unwanted.push(peer);
        }
        self.acceptors.wake();
    }

    /// Lets the driver end once the last peer is gone.
    pub(super) fn close(&mut self) {
        self.closing = true;
        self.stop_listening();
    }

    /// Takes the next answer to a ping; without one, the task of `cx` is woken by it.
    pub(super) fn pong(&mut self, cx: &Context<'_>) -> Option<Pong> {
        let pong = self.pongs.pop_front();
        if pong.is_none() {
            self.pingers.add(cx);
        }
        pong
    }

    fn on_connected(&mut self, peer: PeerId, info: PeerInfo) {
        match info.role {
            Role::Client => {
                if let Some(seat) = self.seat_mut(peer) {
                    seat.info = Some(info);
                    seat.watchers.wake();
                }
            }
            Role::Server => {
                let owner = if self.listening { Owner::Arrivals } else { Owner::Nobody };
                self.seat_at(peer, Seat { info: Some(info), ..Seat::new(peer, owner) });
                if self.listening {
                    self.arrivals.push_back((peer, info));
                    self.acceptors.wake();
                } else {
                    self.unwanted.push(peer);
                }
            }
        }
    }

    fn on_pong(&mut self, pong: Pong) {
        if self.pongs.len() < MAX_PONGS {
            self.pongs.push_back(pong);
            self.pingers.wake();
        }
    }

    /// Frees a peer's seat and keeps for its owner what is left.
    fn depart(&mut self, peer: PeerId, why: Departure, unread: VecDeque<Received>) {
        let Some(seat) = self.seats.get_mut(peer.index() as usize) else { return };
        let Some(mut seat) = seat.take_if(|seat| seat.peer == peer) else { return };
        match seat.owner {
            Owner::Nobody => {}
            // Somebody who left at once may have left a message; but guests who come only to leave must not pile up.
            Owner::Arrivals if self.arrivals.len() > MAX_DEPARTED_ARRIVALS => {
                self.arrivals.retain(|&(arrival, _)| arrival != peer);
            }
            Owner::Arrivals | Owner::Stream => {
                self.departed.insert(peer, Departed { why, unread });
            }
        }
        seat.wake_all();
    }

    fn settle_receipt(&mut self, peer: PeerId, id: ReceiptId, delivery: Delivery) {
        if let Some(pending) = self.seat_mut(peer).and_then(|seat| seat.receipts.remove(&id)) {
            pending.fulfil(delivery);
        }
    }

    fn seat_at(&mut self, peer: PeerId, seat: Seat) {
        let index = peer.index() as usize;
        if self.seats.len() <= index {
            self.seats.resize_with(index + 1, || None);
        }
        if let Some(place) = self.seats.get_mut(index) {
            *place = Some(seat);
        }
    }

    fn seat(&self, peer: PeerId) -> Option<&Seat> {
        self.seats.get(peer.index() as usize)?.as_ref().filter(|seat| seat.peer == peer)
    }

    fn seat_mut(&mut self, peer: PeerId) -> Option<&mut Seat> {
        self.seats.get_mut(peer.index() as usize)?.as_mut().filter(|seat| seat.peer == peer)
    }
}

impl Face<Endpoint> for Desk {
    fn event(&mut self, event: Event) {
        match event {
            Event::Readable { peer } => {
                if let Some(seat) = self.seat_mut(peer) {
                    seat.readers.wake();
                }
            }
            Event::Writable { peer } => {
                if let Some(seat) = self.seat_mut(peer) {
                    seat.writers.wake();
                }
            }
            Event::Connected { peer, info } => self.on_connected(peer, info),
            Event::ConnectFailed { peer, reason } => {
                self.depart(peer, Departure::NeverCame(reason), VecDeque::new());
            }
            Event::Disconnected { peer, reason, unread } => {
                self.depart(peer, Departure::Left(reason), unread);
            }
            Event::ReceiptAcked { peer, receipt } => {
                self.settle_receipt(peer, receipt, Delivery::Acknowledged)
            }
            Event::ReceiptLost { peer, receipt } => self.settle_receipt(peer, receipt, Delivery::Lost),
            Event::Pong { from, guid, rtt, data } => self.on_pong(Pong { from, guid, rtt, data }),
            Event::SplitProgress { peer, split, parts, total } => {
                if let Some(gauge) = self.gauge(peer) {
                    gauge.set(SplitProgress { split, parts, total });
                }
            }
            Event::OutOfBand { from, guid, payload } => self.mailbox.put(OutOfBand { from, guid, payload }),
            // The protocol may learn to tell more than this face passes on.
            _ => {}
        }
    }

    fn prepare(&mut self, machine: &mut Endpoint, now: Instant) {
        for peer in self.unwanted.drain(..) {
            machine.disconnect(now, peer);
        }
    }

    fn abandon(&mut self, machine: &mut Endpoint, now: Instant) {
        self.close();
        machine.close(now);
    }

    fn is_finished(&self, machine: &Endpoint) -> bool {
        self.closing && machine.is_idle()
    }

    fn stopped(&mut self, machine: &mut Endpoint) {
        self.stopped = true;
        let peers: Vec<PeerId> = self.seats.iter().flatten().map(|seat| seat.peer).collect();
        for peer in peers {
            let unread = std::iter::from_fn(|| machine.recv(peer)).collect();
            self.depart(peer, Departure::Left(CloseReason::LinkDown), unread);
        }
        self.acceptors.wake();
        self.pingers.wake();
        self.mailbox.close();
    }
}

impl Seat {
    fn new(peer: PeerId, owner: Owner) -> Self {
        Self {
            peer,
            info: None,
            owner,
            readers: Waiters::default(),
            writers: Waiters::default(),
            watchers: Waiters::default(),
            gauge: Gauge::default(),
            receipts: HashMap::new(),
        }
    }

    fn wake_all(&mut self) {
        self.readers.wake();
        self.writers.wake();
        self.watchers.wake();
        self.gauge.wake();
    }
}

/// Sessions waiting to be accepted, from which on those that end meanwhile are forgotten.
const MAX_DEPARTED_ARRIVALS: usize = 1_024;

/// Answers to pings that nobody has taken; further ones are dropped. A pinger waits for one at a time.
const MAX_PONGS: usize = 64;
