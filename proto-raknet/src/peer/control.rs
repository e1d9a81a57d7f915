//! The messages by which the two ends run a session: handshake, pings, the end (spec 1.6).

use alloc::vec::Vec;
use bytes::Bytes;
use proto_core::Instant;

use super::{
    Context, Ending, Peer, Phase,
    clock::{PeerClock, wire_time},
};
use crate::{
    Channel, CloseReason, ConnectFailure, Event, Message, Priority, Received, Reliability,
    limits::{PONG_TICK, PONGS_A_TICK},
    wire::{
        Connected, ConnectedPing, ConnectedPong, ConnectionRequest, ConnectionRequestAccepted,
        DisconnectionNotification, InternalAddresses, InvalidPassword, NewIncomingConnection, Timestamped,
    },
};
use core::time::Duration;

/// How long a notification of the end may take that had to leave before all else was acknowledged.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// A repeated ConnectionRequest is answered at most this often.
const ACCEPT_INTERVAL: Duration = Duration::from_millis(500);

/// Rewrites the time of a timestamped message (0x1b) into our clock, as C++ does before the application sees it.
pub(crate) fn localize(payload: &Bytes, clock: &PeerClock) -> Bytes {
    let mut payload = payload.to_vec();
    Timestamped::rewrite(&mut payload, |time| clock.to_local(time));
    Bytes::from(payload)
}

/// Bounds the pongs that a flood of pings can draw.
#[derive(Debug, Default)]
pub(crate) struct PongLimit {
    tick: u64,
    sent: u8,
}

impl PongLimit {
    fn allow(&mut self, now: Instant) -> bool {
        let tick = now.as_millis() / u64::try_from(PONG_TICK.as_millis()).unwrap_or(1).max(1);
        if tick != self.tick {
            self.tick = tick;
            self.sent = 0;
        }
        self.sent = self.sent.saturating_add(1);
        self.sent <= PONGS_A_TICK
    }
}

impl Peer {
    /// Takes in a message that runs the session.
    pub(super) fn on_control(&mut self, message: &Received, ctx: &mut Context<'_>) {
        let Some(parsed) = Connected::classify(&message.payload) else { return };
        let Ok(parsed) = parsed else {
            self.totals.malformed += 1;
            return;
        };
        match (self.phase, parsed) {
            (_, Connected::DetectLost(_)) | (Phase::Draining { .. } | Phase::Gone, _) => {}
            (Phase::Unverified { until }, Connected::Request(request)) => {
                self.on_request(&request, until, ctx);
            }
            (Phase::Handling { until, accepted_at }, Connected::Request(request)) => {
                if accepted_at + ACCEPT_INTERVAL <= ctx.now {
                    self.accept(&request, until, ctx);
                }
            }
            (Phase::Handling { .. }, Connected::NewIncoming(_)) => self.establish(ctx),
            (Phase::Requesting { .. }, Connected::Accepted(accepted)) => self.on_accepted(&accepted, ctx),
            (Phase::Requesting { .. }, Connected::InvalidPassword(_)) => {
                self.end(Ending::Failed(ConnectFailure::InvalidPassword), self.draining(ctx.now), ctx);
            }
            (Phase::Unverified { .. }, _) => self.totals.unexpected += 1,
            (_, Connected::Ping(ping)) => self.on_ping(ping, ctx),
            (_, Connected::Pong(pong)) => self.clock.on_pong(ctx.now, pong.ping_time, pong.pong_time),
            (_, Connected::Disconnection(_)) => self.on_disconnection(message.reliability, ctx),
            // Late repetitions of the handshake.
            (
                _,
                Connected::Request(_)
                | Connected::Accepted(_)
                | Connected::NewIncoming(_)
                | Connected::InvalidPassword(_),
            ) => self.totals.unexpected += 1,
        }
    }

    /// Client: asks for the session that OpenConnectionReply2 granted.
    pub(super) fn request_connection(&mut self, password: &Bytes, ctx: &mut Context<'_>) {
        let request = ConnectionRequest { guid: ctx.guid, time: wire_time(ctx.now), password };
        self.send_control(&Connected::Request(request), Reliability::Reliable, ctx.now);
    }

    /// Begins a graceful end: what is queued leaves first, then the notification.
    pub(crate) fn close(&mut self, ctx: &mut Context<'_>) {
        let until = ctx.now + ctx.config.session.close_timeout;
        match self.phase {
            Phase::Connected => {
                self.phase = Phase::Closing { until, notified: false, reason: Some(CloseReason::LocalClose) };
                self.sender.flush();
                self.settle(ctx);
            }
            Phase::Requesting { .. } => {
                self.notify_end(ctx.now);
                let next = Phase::Closing { until, notified: true, reason: None };
                self.end(Ending::Failed(ConnectFailure::Cancelled), next, ctx);
            }
            Phase::Unverified { .. } => self.end(Ending::Silent, Phase::Gone, ctx),
            Phase::Handling { .. } => {
                self.notify_end(ctx.now);
                self.end(Ending::Silent, Phase::Closing { until, notified: true, reason: None }, ctx);
            }
            Phase::Closing { .. } | Phase::Draining { .. } | Phase::Gone => {}
        }
    }

    /// Ends the session at once, without a word to the peer.
    pub(crate) fn abandon(&mut self, reason: CloseReason, failure: ConnectFailure, ctx: &mut Context<'_>) {
        let ending = match self.phase {
            Phase::Connected | Phase::Closing { reason: Some(_), .. } => Ending::Closed(reason),
            Phase::Requesting { .. } => Ending::Failed(failure),
            Phase::Unverified { .. }
            | Phase::Handling { .. }
            | Phase::Closing { reason: None, .. }
            | Phase::Draining { .. }
            | Phase::Gone => Ending::Silent,
        };
        self.end(ending, Phase::Gone, ctx);
    }

    /// Asks the peer for a sign of life: a reliable ping, which is acknowledged and answered.
    pub(super) fn ask(&mut self, ctx: &mut Context<'_>) {
        self.ping(Reliability::Reliable, ctx.now);
    }

    /// The time of the phase is over.
    pub(super) fn on_phase_end(&mut self, ctx: &mut Context<'_>) {
        match self.phase {
            Phase::Unverified { .. } | Phase::Handling { .. } => self.end(Ending::Silent, Phase::Gone, ctx),
            Phase::Requesting { .. } => {
                self.end(Ending::Failed(ConnectFailure::HandshakeTimeout), Phase::Gone, ctx);
            }
            Phase::Closing { notified: false, reason, .. } => {
                // Not all arrived in time; the peer should at least know that there will be no more.
                self.notify_end(ctx.now);
                self.phase = Phase::Closing { until: ctx.now + LAST_WORDS, notified: true, reason };
            }
            Phase::Closing { reason: Some(_), .. } => {
                self.end(Ending::Closed(CloseReason::LocalCloseUnacknowledged), Phase::Gone, ctx);
            }
            Phase::Closing { reason: None, .. } | Phase::Draining { .. } => self.phase = Phase::Gone,
            Phase::Connected | Phase::Gone => {}
        }
    }

    /// The peer was silent for too long.
    pub(super) fn on_lost(&mut self, ctx: &mut Context<'_>) {
        let reason = match self.phase {
            Phase::Closing { .. } => CloseReason::LocalCloseUnacknowledged,
            Phase::Unverified { .. }
            | Phase::Handling { .. }
            | Phase::Requesting { .. }
            | Phase::Connected
            | Phase::Draining { .. }
            | Phase::Gone => CloseReason::Timeout,
        };
        self.abandon(reason, ConnectFailure::HandshakeTimeout, ctx);
    }

    /// Takes a graceful close further once all that was sent is acknowledged.
    pub(super) fn settle(&mut self, ctx: &mut Context<'_>) {
        let Phase::Closing { until, notified, reason } = self.phase else { return };
        if !self.sender.is_settled() {
            return;
        }
        if notified {
            let ending = reason.map_or(Ending::Silent, Ending::Closed);
            self.end(ending, Phase::Gone, ctx);
        } else {
            self.notify_end(ctx.now);
            self.phase = Phase::Closing { until, notified: true, reason };
        }
    }

    /// Tells the application of the end, and goes on to `next`.
    pub(super) fn end(&mut self, ending: Ending, next: Phase, ctx: &mut Context<'_>) {
        self.sender.give_up_receipts(&mut ctx.notices());
        match ending {
            Ending::Failed(reason) => ctx.notices().push(|peer| Event::ConnectFailed { peer, reason }),
            Ending::Closed(reason) => {
                let unread = self.inbox.take();
                ctx.notices().push(|peer| Event::Disconnected { peer, reason, unread });
            }
            Ending::Silent => {}
        }
        self.phase = next;
    }

    fn on_request(&mut self, request: &ConnectionRequest<'_>, until: Instant, ctx: &mut Context<'_>) {
        if request.password != &ctx.config.incoming.password[..] {
            let refusal = Connected::InvalidPassword(InvalidPassword { guid: ctx.guid });
            self.send_control(&refusal, Reliability::Reliable, ctx.now);
            self.phase = Phase::Closing { until, notified: true, reason: None };
            return;
        }
        self.accept(request, until, ctx);
    }

    fn accept(&mut self, request: &ConnectionRequest<'_>, until: Instant, ctx: &mut Context<'_>) {
        let accepted = ConnectionRequestAccepted {
            client: self.agreed.address,
            system_index: u16::try_from(ctx.id.index).unwrap_or(0),
            internal: self.internal_addresses(),
            request_time: request.time,
            accepted_time: wire_time(ctx.now),
        };
        self.send_control(&Connected::Accepted(accepted), Reliability::ReliableOrdered, ctx.now);
        self.phase = Phase::Handling { until, accepted_at: ctx.now };
    }

    fn on_accepted(&mut self, accepted: &ConnectionRequestAccepted, ctx: &mut Context<'_>) {
        self.clock.on_pong(ctx.now, accepted.request_time, accepted.accepted_time);
        let confirmation = NewIncomingConnection {
            server: self.agreed.address,
            internal: self.internal_addresses(),
            accepted_time: accepted.accepted_time,
            time: wire_time(ctx.now),
        };
        self.send_control(&Connected::NewIncoming(confirmation), Reliability::ReliableOrdered, ctx.now);
        self.establish(ctx);
    }

    fn establish(&mut self, ctx: &mut Context<'_>) {
        self.phase = Phase::Connected;
        self.liveness.heard(ctx.now);
        let info = self.info();
        ctx.notices().push(|peer| Event::Connected { peer, info });
        self.ping(Reliability::Unreliable, ctx.now);
    }

    fn on_ping(&mut self, ping: ConnectedPing, ctx: &mut Context<'_>) {
        if self.pongs.allow(ctx.now) {
            let pong = ConnectedPong { ping_time: ping.time, pong_time: wire_time(ctx.now) };
            self.send_control(&Connected::Pong(pong), Reliability::Unreliable, ctx.now);
        }
    }

    /// A reliable notification passed the window of reliable numbers; any other could come from anybody.
    fn on_disconnection(&mut self, reliability: Reliability, ctx: &mut Context<'_>) {
        if !reliability.is_reliable() {
            self.suspect_close(ctx);
            return;
        }
        let ending = match self.phase {
            Phase::Connected => Ending::Closed(CloseReason::PeerClose),
            Phase::Closing { reason, .. } => reason.map_or(Ending::Silent, Ending::Closed),
            Phase::Requesting { .. } => Ending::Failed(ConnectFailure::Refused),
            Phase::Unverified { .. } | Phase::Handling { .. } | Phase::Draining { .. } | Phase::Gone => {
                Ending::Silent
            }
        };
        self.end(ending, self.draining(ctx.now), ctx);
    }

    /// Returns the phase in which a late repetition of the peer's last words is still acknowledged: the peer waits one
    /// probe timeout before the first, and twice as long before each further one, so there is time for three even if its
    /// timeout is longer than ours.
    fn draining(&self, now: Instant) -> Phase {
        let wait =
            (self.sender.probe_timeout() * 16).clamp(Duration::from_millis(300), Duration::from_secs(3));
        Phase::Draining { until: now + wait }
    }

    fn ping(&mut self, reliability: Reliability, now: Instant) {
        let ping = Connected::Ping(ConnectedPing { time: wire_time(now) });
        self.send_control(&ping, reliability, now);
    }

    fn notify_end(&mut self, now: Instant) {
        let end = Connected::Disconnection(DisconnectionNotification);
        self.send_control(&end, Reliability::ReliableOrdered, now);
    }

    fn send_control(&mut self, message: &Connected<'_>, reliability: Reliability, now: Instant) {
        let mut payload = Vec::with_capacity(message.encoded_len());
        message.emit(&mut payload);
        let payload = Bytes::from(payload);
        let priority = Priority::Immediate;
        self.sender.send_control(Message { payload, reliability, channel: Channel::ZERO, priority }, now);
    }

    /// Nobody needs our interfaces' addresses; what counts is how many there are.
    fn internal_addresses(&self) -> InternalAddresses {
        InternalAddresses::unassigned(self.agreed.protocol_version.internal_addresses())
    }
}
