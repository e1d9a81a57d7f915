//! The stream under way: a carrier, and the protocol that talks over it.

use alloc::{boxed::Box, string::String, vec::Vec};
use bytes::Bytes;
use core::net::SocketAddr;
use proto_core::{Instant, LinkEvent, LinkId, Transmit};

use crate::{
    Code, Error, Phase, Talk, Url,
    carrier::Carrier,
    earliest::earliest,
    http::{self, ClientSession},
    ws,
};

/// A stream to one origin, from the moment that it is up.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) carrier: Carrier,
    pub(super) talker: Talker,
    /// Whom it leads to.
    pub(super) origin: Url,
    /// Its value in the field Host.
    pub(super) authority: String,
    pub(super) local: Option<SocketAddr>,
    pub(super) peer: SocketAddr,
    /// It leads to a proxy that takes requests whole.
    pub(super) is_proxied: bool,
    pub(super) opened: Instant,
    /// Exchanges that it served.
    pub(super) served: u32,
    /// When the last exchange ended.
    pub(super) idle_since: Instant,
    /// Until when the present step of opening it must be done.
    pub(super) step: Option<Step>,
    /// Since when the peer takes nothing.
    pub(super) stalled: Option<Instant>,
    pub(super) failure: Option<Error>,
    pub(super) courtesy: ws::Courtesy,
}

/// A step with a deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) deadline: Instant,
    pub(super) code: Code,
    pub(super) phase: Phase,
}

/// What talks over a stream.
#[derive(Debug)]
pub(super) enum Talker {
    /// Asks a proxy for a tunnel.
    Tunnel(Box<ClientSession>),
    /// HTTP exchanges.
    Http(Box<ClientSession>),
    /// The WebSocket handshake, and its key.
    Upgrade(Box<ClientSession>, [u8; 16]),
    /// WebSocket.
    Ws(Box<ws::Session>),
}

/// What a stream has to tell.
#[derive(Debug)]
pub(super) enum Told {
    Tunnel(http::Event),
    Http(http::Event),
    Upgrade(http::Event),
    Ws(ws::Event),
}

impl Talker {
    pub(super) fn talk(&mut self) -> &mut dyn Talk {
        match self {
            Self::Tunnel(session) | Self::Http(session) | Self::Upgrade(session, _) => session.as_mut(),
            Self::Ws(session) => session.as_mut(),
        }
    }

    pub(super) fn talk_ref(&self) -> &dyn Talk {
        match self {
            Self::Tunnel(session) | Self::Http(session) | Self::Upgrade(session, _) => session.as_ref(),
            Self::Ws(session) => session.as_ref(),
        }
    }
}

impl Stream {
    pub(super) const fn link(&self) -> LinkId {
        self.carrier.link()
    }

    pub(super) fn handle_stream(&mut self, now: Instant, data: &[u8]) {
        let outcome = self.carrier.handle_stream(now, data, self.talker.talk());
        self.note(outcome);
    }

    pub(super) fn recv_buffer(&mut self) -> Option<&mut [u8]> {
        self.carrier.recv_buffer(self.talker.talk())
    }

    pub(super) fn handle_filled(&mut self, now: Instant, len: usize) {
        let outcome = self.carrier.handle_filled(now, len, self.talker.talk());
        self.note(outcome);
    }

    pub(super) fn handle_link(&mut self, now: Instant, event: &LinkEvent) {
        if *event == LinkEvent::Blocked {
            self.stalled = Some(now);
        } else if *event == LinkEvent::Writable {
            self.stalled = None;
        }
        self.carrier.handle_link(now, event, self.talker.talk());
    }

    /// Gives the talker what it could not take before.
    pub(super) fn resume(&mut self, now: Instant) {
        let outcome = self.carrier.resume(now, self.talker.talk());
        self.note(outcome);
    }

    /// Lets the talker do what is due, and checks the steps of opening.
    pub(super) fn handle_timeout(&mut self, now: Instant, send: core::time::Duration) {
        if let Some(step) = self.step.filter(|step| step.deadline <= now) {
            self.step = None;
            self.fail(Error::new(step.code, step.phase));
        }
        if self.stalled.is_some_and(|since| since + send <= now) {
            self.stalled = None;
            self.fail(Error::new(Code::SendTimeout, Phase::Send));
        }
        self.talker.talk().handle_timeout(now);
    }

    pub(super) fn poll_timeout(&self, send: core::time::Duration) -> Option<Instant> {
        let step = self.step.map(|step| step.deadline);
        let stall = self.stalled.map(|since| since + send);
        let courtesy = match &self.talker {
            Talker::Ws(session) => self.courtesy.poll_timeout(session),
            Talker::Tunnel(_) | Talker::Http(_) | Talker::Upgrade(..) => None,
        };
        earliest([step, stall, courtesy, self.talker.talk_ref().poll_timeout()])
    }

    pub(super) fn poll_transmit(&mut self, now: Instant, buf: &mut Vec<u8>) -> Option<Transmit> {
        match self.carrier.poll_transmit(self.talker.talk(), buf) {
            Ok(transmit) => {
                self.carrier.settle(now, self.talker.talk());
                transmit
            }
            Err(error) => {
                self.fail(error);
                None
            }
        }
    }

    pub(super) fn poll_gather(&mut self, pieces: &mut Vec<Bytes>) {
        self.carrier.poll_gather(pieces);
    }

    pub(super) fn poll_event(&mut self, now: Instant) -> Option<Told> {
        match &mut self.talker {
            Talker::Tunnel(session) => session.poll_event().map(Told::Tunnel),
            Talker::Http(session) => session.poll_event().map(Told::Http),
            Talker::Upgrade(session, _) => session.poll_event().map(Told::Upgrade),
            Talker::Ws(session) => self.courtesy.poll_event(now, session).map(Told::Ws),
        }
    }

    /// Lets the talker start the timers that it could not start without knowing the time.
    pub(super) fn wind(&mut self, now: Instant) {
        let talk = self.talker.talk();
        if talk.poll_timeout().is_some_and(|due| due <= now) {
            talk.handle_timeout(now);
        }
    }

    pub(super) fn wants_read(&self) -> bool {
        self.carrier.wants_read(self.talker.talk_ref())
    }

    pub(super) fn fail(&mut self, error: Error) {
        self.failure.get_or_insert(error);
    }

    fn note(&mut self, outcome: Result<(), Error>) {
        if let Err(error) = outcome {
            self.fail(error);
        }
    }
}
