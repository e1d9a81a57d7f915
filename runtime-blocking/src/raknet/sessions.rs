//! An endpoint with its driver, and what its events say of its sessions.

use proto_raknet::{
    CloseReason, Config, ConnectFailure, Endpoint, Event, Message, PeerId, PeerInfo, ReceiptId, Received,
    Role, SendError,
};
use std::{
    collections::{HashMap, VecDeque},
    io,
    time::Instant,
};

use super::error::RaknetError;
use crate::{Blocking, Waited};

/// The sessions of one endpoint.
#[derive(Debug)]
pub(super) struct Sessions {
    pub(super) driver: Blocking<Endpoint>,
    /// Sessions that others opened and nobody has accepted.
    arrivals: VecDeque<(PeerId, PeerInfo)>,
    /// Peers that may have messages.
    readable: VecDeque<PeerId>,
    /// What is left of peers that are gone.
    ended: HashMap<PeerId, Ended>,
    /// The same peers, in the order of their ends.
    order: VecDeque<PeerId>,
}

/// What is left of a peer that is gone.
#[derive(Debug)]
struct Ended {
    why: Why,
    unread: VecDeque<Received>,
}

/// Why there is no session.
#[derive(Clone, Copy, Debug)]
pub(super) enum Why {
    NeverCame(ConnectFailure),
    Left(CloseReason),
}

impl From<Why> for RaknetError {
    fn from(why: Why) -> Self {
        match why {
            Why::NeverCame(failure) => failure.into(),
            Why::Left(reason) => Self::Closed(reason),
        }
    }
}

impl Sessions {
    /// Creates an endpoint with a seed from the operating system.
    pub(super) fn new(endpoint: Config, driver: crate::Config) -> Result<Self, RaknetError> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(|error| io::Error::other(error.to_string()))?;
        let driver = Blocking::new(Endpoint::new(endpoint, seed)?, driver)?;
        Ok(Self {
            driver,
            arrivals: VecDeque::new(),
            readable: VecDeque::new(),
            ended: HashMap::new(),
            order: VecDeque::new(),
        })
    }

    /// Waits until `ask` has an answer, and at most until `deadline`.
    pub(super) fn wait_for<T>(
        &mut self,
        deadline: Option<Instant>,
        mut ask: impl FnMut(&mut Self) -> Option<T>,
    ) -> Result<Option<T>, RaknetError> {
        loop {
            self.settle();
            if let Some(answer) = ask(self) {
                return Ok(Some(answer));
            }
            if self.driver.has_event() {
                continue;
            }
            if self.driver.wait(deadline)? != Waited::Event {
                return Ok(None);
            }
        }
    }

    /// Reads and does what can be done without waiting.
    pub(super) fn poll(&mut self) -> io::Result<()> {
        self.driver.poll()?;
        self.settle();
        Ok(())
    }

    /// Takes the session that waits longest to be accepted.
    pub(super) fn accept(&mut self) -> Option<(PeerId, PeerInfo)> {
        self.arrivals.pop_front()
    }

    /// Takes the next message of a peer; an error says that there will be none.
    pub(super) fn recv(&mut self, peer: PeerId) -> Result<Option<Received>, Why> {
        if let Some(received) = self.driver.with(|machine, _| machine.recv(peer)) {
            return Ok(Some(received));
        }
        self.settle();
        match self.ended.get_mut(&peer) {
            Some(ended) => ended.unread.pop_front().map(Some).ok_or(ended.why),
            None if self.driver.machine().peer(peer).is_some() => Ok(None),
            // One that was forgotten, or never was.
            None => Err(Why::Left(CloseReason::Aborted)),
        }
    }

    /// Takes the next message of any peer, each in its turn.
    pub(super) fn recv_any(&mut self) -> Option<(PeerId, Received)> {
        while let Some(peer) = self.readable.pop_front() {
            if let Ok(Some(received)) = self.recv(peer) {
                self.readable.push_back(peer);
                return Some((peer, received));
            }
        }
        None
    }

    /// Sends a message now, or gives it back where there is no room.
    pub(super) fn offer(
        &mut self,
        peer: PeerId,
        message: &mut Option<Message>,
    ) -> Option<Result<Option<ReceiptId>, RaknetError>> {
        let sent = self.driver.with(|machine, now| {
            let next = message.take()?;
            if !machine.poll_room(peer, next.reliability) {
                *message = Some(next);
                return None;
            }
            Some(machine.send(now, peer, next))
        })?;
        Some(sent.map_err(|error| match error {
            SendError::UnknownPeer => self.why(peer).unwrap_or(Why::Left(CloseReason::Aborted)).into(),
            SendError::Closing => RaknetError::Closed(CloseReason::LocalClose),
            refused @ (SendError::NotConnected
            | SendError::Full
            | SendError::Empty
            | SendError::Reserved { .. }
            | SendError::TooLong { .. }
            | _) => refused.into(),
        }))
    }

    /// Sends a message, and waits for room until `deadline` at most.
    pub(super) fn send(
        &mut self,
        peer: PeerId,
        message: Message,
        deadline: Option<Instant>,
    ) -> Result<Option<ReceiptId>, RaknetError> {
        let mut message = Some(message);
        let sent = self.wait_for(deadline, |sessions| sessions.offer(peer, &mut message))?;
        sent.unwrap_or(Err(RaknetError::TimedOut))
    }

    /// Says why a peer is gone, if it is.
    pub(super) fn why(&self, peer: PeerId) -> Option<Why> {
        self.ended.get(&peer).map(|ended| ended.why)
    }

    /// Takes out the end that came first of those that nobody has asked for.
    pub(super) fn next_ended(&mut self) -> Option<(PeerId, CloseReason)> {
        while let Some(peer) = self.order.pop_front() {
            if let Some(Ended { why: Why::Left(reason), .. }) = self.ended.remove(&peer) {
                return Some((peer, reason));
            }
        }
        None
    }

    /// Takes note of what the events say.
    fn settle(&mut self) {
        while let Some(event) = self.driver.next_event() {
            match event {
                Event::Connected { peer, info } if info.role == Role::Server => {
                    self.arrivals.push_back((peer, info));
                }
                Event::Readable { peer } => self.note_readable(peer),
                Event::ConnectFailed { peer, reason } => {
                    self.end(peer, Why::NeverCame(reason), VecDeque::new());
                }
                Event::Disconnected { peer, reason, unread } => {
                    self.arrivals.retain(|(arrival, _)| *arrival != peer || !unread.is_empty());
                    self.end(peer, Why::Left(reason), unread);
                }
                // What this face does not pass on, and what the protocol may learn to tell.
                Event::Connected { .. }
                | Event::Writable { .. }
                | Event::ReceiptAcked { .. }
                | Event::ReceiptLost { .. }
                | Event::SplitProgress { .. }
                | Event::Pong { .. }
                | Event::OutOfBand { .. }
                | _ => {}
            }
        }
    }

    fn note_readable(&mut self, peer: PeerId) {
        if !self.readable.contains(&peer) {
            self.readable.push_back(peer);
        }
    }

    fn end(&mut self, peer: PeerId, why: Why, unread: VecDeque<Received>) {
        if !unread.is_empty() {
            self.note_readable(peer);
        }
        if self.order.len() >= MAX_ENDED
            && let Some(oldest) = self.order.pop_front()
        {
            self.ended.remove(&oldest);
        }
        self.order.push_back(peer);
        self.ended.insert(peer, Ended { why, unread });
    }
}

/// Ends that nobody has asked for; the oldest are forgotten.
const MAX_ENDED: usize = 1_024;
