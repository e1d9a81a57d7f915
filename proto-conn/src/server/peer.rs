//! One peer of a server.

use alloc::{boxed::Box, vec::Vec};
use bytes::Bytes;
use core::net::SocketAddr;
use proto_core::{Instant, LinkEvent, Transmit};

use super::config::Config;
use crate::{
    Code, Error, Phase, Talk,
    carrier::Carrier,
    earliest::earliest,
    http::{self, ServerSession},
    ws,
};

/// A stream that a listener took in, and what is spoken on it.
#[derive(Debug)]
pub(super) struct Peer {
    pub(super) carrier: Carrier,
    pub(super) speaks: Speaks,
    pub(super) from: Option<SocketAddr>,
    /// It waits in the queue of those that have something to do.
    pub(super) is_queued: bool,
    /// It is to be closed once everything has left.
    pub(super) is_going: bool,
    /// The application was told of its end.
    pub(super) is_told: bool,
    has_said_goodbye: bool,
    handshake_until: Option<Instant>,
    stalled: Option<Instant>,
    active: Instant,
    failure: Option<Error>,
    courtesy: ws::Courtesy,
}

/// What a peer speaks.
#[derive(Debug)]
pub(super) enum Speaks {
    Http(Box<ServerSession>),
    Ws(Box<ws::Session>),
    /// Nothing more.
    Nothing,
}

/// What a peer has to tell.
#[derive(Debug)]
pub(super) enum Told {
    Http(http::Event),
    Ws(ws::Event),
    Failed(Error),
}

impl Peer {
    pub(super) fn new(
        now: Instant,
        carrier: Carrier,
        session: ServerSession,
        from: Option<SocketAddr>,
        config: &Config,
    ) -> Self {
        let handshake_until = carrier.is_handshaking().then(|| now + config.tls_timeout);
        Self {
            carrier,
            speaks: Speaks::Http(Box::new(session)),
            from,
            is_queued: false,
            is_going: false,
            is_told: false,
            has_said_goodbye: false,
            handshake_until,
            stalled: None,
            active: now,
            failure: None,
            courtesy: ws::Courtesy::default(),
        }
    }

    /// Runs `act` with the carrier and what talks over it.
    fn with<T>(&mut self, act: impl FnOnce(&mut Carrier, &mut dyn Talk) -> Result<T, Error>) -> Option<T> {
        let outcome = match &mut self.speaks {
            Speaks::Http(session) => act(&mut self.carrier, session.as_mut()),
            Speaks::Ws(session) => act(&mut self.carrier, session.as_mut()),
            Speaks::Nothing => return None,
        };
        match outcome {
            Ok(answer) => Some(answer),
            Err(error) => {
                self.failure.get_or_insert(error);
                None
            }
        }
    }

    pub(super) fn handle_stream(&mut self, now: Instant, data: &[u8]) {
        self.active = now;
        self.with(|carrier, talk| carrier.handle_stream(now, data, talk));
    }

    pub(super) fn recv_buffer(&mut self) -> Option<&mut [u8]> {
        match &mut self.speaks {
            Speaks::Http(session) => self.carrier.recv_buffer(session.as_mut()),
            Speaks::Ws(session) => self.carrier.recv_buffer(session.as_mut()),
            Speaks::Nothing => None,
        }
    }

    pub(super) fn handle_filled(&mut self, now: Instant, len: usize) {
        self.active = now;
        self.with(|carrier, talk| carrier.handle_filled(now, len, talk));
    }

    pub(super) fn handle_link(&mut self, now: Instant, event: &LinkEvent) {
        if *event == LinkEvent::Blocked {
            self.stalled = Some(now);
        } else if *event == LinkEvent::Writable {
            self.stalled = None;
        }
        self.with(|carrier, talk| {
            carrier.handle_link(now, event, talk);
            Ok(())
        });
    }

    pub(super) fn resume(&mut self, now: Instant) {
        self.with(|carrier, talk| carrier.resume(now, talk));
    }

    pub(super) fn handle_timeout(&mut self, now: Instant, config: &Config) {
        if self.handshake_until.is_some_and(|until| until <= now) && self.carrier.is_handshaking() {
            self.failure.get_or_insert(Error::new(Code::TlsTimeout, Phase::Tls));
        }
        if self.stalled.is_some_and(|since| since + config.send_timeout <= now) {
            self.failure.get_or_insert(Error::new(Code::SendTimeout, Phase::Send));
        }
        if self.idle_deadline(config).is_some_and(|deadline| deadline <= now) {
            self.is_going = true;
        }
        self.with(|_, talk| {
            talk.handle_timeout(now);
            Ok(())
        });
    }

    /// Lets the session start the timers that it could not start without knowing the time.
    pub(super) fn wind(&mut self, now: Instant) {
        self.with(|_, talk| {
            if talk.poll_timeout().is_some_and(|due| due <= now) {
                talk.handle_timeout(now);
            }
            Ok(())
        });
    }

    pub(super) fn poll_timeout(&self, config: &Config) -> Option<Instant> {
        let talk = match &self.speaks {
            Speaks::Http(session) => session.poll_timeout(),
            Speaks::Ws(session) => {
                let courtesy = self.courtesy.poll_timeout(session);
                earliest([session.poll_timeout(), courtesy])
            }
            Speaks::Nothing => None,
        };
        let handshake = self.handshake_until.filter(|_| self.carrier.is_handshaking());
        let stall = self.stalled.map(|since| since + config.send_timeout);
        earliest([talk, handshake, stall, self.idle_deadline(config)])
    }

    pub(super) fn poll_transmit(&mut self, now: Instant, buf: &mut Vec<u8>) -> Option<Transmit> {
        let transmit = self.with(|carrier, talk| carrier.poll_transmit(talk, buf)).flatten();
        self.with(|carrier, talk| Ok(carrier.settle(now, talk)));
        transmit
    }

    pub(super) fn poll_gather(&mut self, pieces: &mut Vec<Bytes>) {
        self.carrier.poll_gather(pieces);
    }

    pub(super) fn poll_event(&mut self, now: Instant) -> Option<Told> {
        let told = match &mut self.speaks {
            Speaks::Http(session) => session.poll_event().map(Told::Http),
            Speaks::Ws(session) => self.courtesy.poll_event(now, session).map(Told::Ws),
            Speaks::Nothing => None,
        };
        told.or_else(|| self.failure.take().map(Told::Failed))
    }

    pub(super) fn wants_read(&self) -> bool {
        match &self.speaks {
            Speaks::Http(session) => self.carrier.wants_read(session.as_ref()),
            Speaks::Ws(session) => self.carrier.wants_read(session.as_ref()),
            Speaks::Nothing => false,
        }
    }

    /// Says whether the stream is to be closed now: everything was said, and everything left.
    pub(super) fn is_over(&mut self) -> bool {
        let is_going = self.is_going;
        let ended = self.carrier.end().is_some();
        self.with(|carrier, talk| {
            let over = is_going || talk.is_over() || ended;
            Ok(over && !carrier.wants_output(talk))
        })
        .unwrap_or(true)
    }

    /// Says whether the carrier has something left to say. What talked over it has not: it failed.
    pub(super) fn has_last_word(&mut self) -> bool {
        let has = |carrier: &mut Carrier, talk: &mut dyn Talk| {
            *talk.outgoing() = crate::Outgoing::default();
            Ok(carrier.wants_output(talk))
        };
        self.with(has).unwrap_or(false)
    }

    /// Says goodbye in TLS, once; says whether that gave it something to send.
    pub(super) fn say_goodbye(&mut self) -> bool {
        if core::mem::replace(&mut self.has_said_goodbye, true) {
            return false;
        }
        self.carrier.say_goodbye();
        self.with(|carrier, talk| Ok(carrier.wants_output(talk))).unwrap_or(false)
    }

    fn idle_deadline(&self, config: &Config) -> Option<Instant> {
        match &self.speaks {
            Speaks::Http(session)
                if !self.is_going && session.is_idle() && !self.carrier.is_handshaking() =>
            {
                Some(self.active + config.idle_timeout)
            }
            Speaks::Http(_) | Speaks::Ws(_) | Speaks::Nothing => None,
        }
    }
}
