//! One session: the state behind a connected address.
//!
//! ```text
//!  datagram -> Receiver: arrival -> duplicates -> reassembly -> order -> Inbox -> application
//!                 |  what arrived, what is missing                control messages -> Phase
//!                 v
//!  datagram <- Sender: queue -> flight (resend, probe) <- congestion, pacer, rtt
//! ```

mod acknowledge;
mod arrival;
mod clock;
mod control;
mod doubts;
mod duplicates;
mod flight;
mod inbox;
mod liveness;
mod notices;
mod order;
mod pacer;
mod phase;
mod queue;
mod ranges;
mod reassembly;
mod receipts;
mod receiver;
mod rtt;
mod sender;
mod slab;

pub(crate) use clock::wire_time;
pub(crate) use phase::{Ending, Phase};
pub(crate) use slab::Slab;

use alloc::{collections::VecDeque, vec::Vec};
use bytes::Bytes;
use core::{net::SocketAddr, num::NonZeroUsize, time::Duration};
use proto_core::{Instant, Reader};

use crate::{
    CloseReason, Config, Event, Guid, Message, PeerId, PeerInfo, PeerStats, ReceiptId, Received, Reliability,
    Role, SendError, SessionConfig, limits,
    stats::{Meter, PeerTotals},
    wire::{AckKind, AckRecords, Connected, DataHeader, DatagramKind, MessageId, ProtocolVersion},
};
use clock::PeerClock;
use control::PongLimit;
use inbox::Inbox;
use liveness::{Liveness, Silence};
use notices::Notices;
use receiver::{Intake, Receiver};
use sender::Sender;

/// What a session works with that belongs to its endpoint.
pub(crate) struct Context<'a> {
    pub(crate) now: Instant,
    pub(crate) id: PeerId,
    /// Our own identifier.
    pub(crate) guid: Guid,
    pub(crate) config: &'a Config,
    pub(crate) slab: &'a mut Slab,
    pub(crate) events: &'a mut VecDeque<Event>,
}

impl Context<'_> {
    fn notices(&mut self) -> Notices<'_> {
        Notices { id: self.id, events: self.events }
    }
}

/// What the offline handshake agreed on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Agreed {
    pub(crate) address: SocketAddr,
    pub(crate) guid: Guid,
    pub(crate) mtu: u16,
    pub(crate) protocol_version: ProtocolVersion,
}

/// A session.
#[derive(Debug)]
pub(crate) struct Peer {
    agreed: Agreed,
    role: Role,
    phase: Phase,
    sender: Sender,
    receiver: Receiver,
    inbox: Inbox,
    liveness: Liveness,
    clock: PeerClock,
    pongs: PongLimit,
    totals: PeerTotals,
    sent: Meter,
    received: Meter,
}

impl Peer {
    /// Creates a session that the peer opened; it waits for its ConnectionRequest until `until`.
    pub(crate) fn server(agreed: Agreed, until: Instant, config: &SessionConfig, now: Instant) -> Self {
        Self::new(agreed, Role::Server, Phase::Unverified { until }, config, now)
    }

    /// Creates a session that we opened, and sends its ConnectionRequest.
    pub(crate) fn client(agreed: Agreed, until: Instant, password: Bytes, ctx: &mut Context<'_>) -> Self {
        let phase = Phase::Requesting { until };
        let mut peer = Self::new(agreed, Role::Client, phase, &ctx.config.session, ctx.now);
        peer.request_connection(&password, ctx);
        peer
    }

    fn new(agreed: Agreed, role: Role, phase: Phase, config: &SessionConfig, now: Instant) -> Self {
        let max_datagram = usize::from(agreed.mtu - limits::IP_UDP_HEADERS);
        Self {
            agreed,
            role,
            phase,
            sender: Sender::new(config, max_datagram, now),
            receiver: Receiver::default(),
            inbox: Inbox::default(),
            liveness: Liveness::new(now),
            clock: PeerClock::default(),
            pongs: PongLimit::default(),
            totals: PeerTotals::default(),
            sent: Meter::default(),
            received: Meter::default(),
        }
    }

    /// Takes in a datagram of this session.
    #[inline]
    pub(crate) fn handle_datagram(&mut self, data: &[u8], ctx: &mut Context<'_>) {
        self.totals.datagrams_received += 1;
        self.totals.bytes_received += data.len() as u64;
        self.received.add(ctx.now, data.len());
        if self.phase == Phase::Gone {
            return;
        }
        let Some(kind) = data.first().copied().and_then(DatagramKind::of) else { return };
        // Before it is read: it may bring the notification that makes us doubt that the peer is still there.
        self.liveness.heard(ctx.now);
        match kind {
            DatagramKind::Data => self.on_data(data, ctx),
            DatagramKind::Ack { .. } | DatagramKind::Nack => self.on_records(data, ctx),
        }
        self.settle(ctx);
    }

    /// Takes note of a raw notification that the peer closed the session, which anybody can send: the peer is asked
    /// whether it is there.
    pub(crate) fn suspect_close(&mut self, ctx: &mut Context<'_>) {
        if self.phase != Phase::Connected {
            return;
        }
        let patience = (self.sender.probe_timeout() * 4).max(Duration::from_secs(1));
        if self.liveness.suspect(ctx.now, patience) {
            self.ask(ctx);
        }
    }

    /// Queues a message of the application.
    pub(crate) fn send(
        &mut self,
        message: Message,
        ctx: &Context<'_>,
    ) -> Result<Option<ReceiptId>, SendError> {
        match self.phase {
            Phase::Connected => {}
            Phase::Unverified { .. } | Phase::Handling { .. } | Phase::Requesting { .. } => {
                return Err(SendError::NotConnected);
            }
            Phase::Closing { .. } => return Err(SendError::Closing),
            Phase::Draining { .. } | Phase::Gone => return Err(SendError::UnknownPeer),
        }
        match message.payload.first().copied() {
            None => return Err(SendError::Empty),
            Some(id) if Connected::is_id(id) => return Err(SendError::Reserved { id }),
            Some(_) => {}
        }
        self.sender.send(message, &ctx.config.session, &mut self.totals, ctx.now)
    }

    /// Says whether there is room for a message of the application; if not, it counts as refused.
    pub(crate) fn poll_room(&mut self, reliability: Reliability, config: &SessionConfig) -> bool {
        self.phase != Phase::Connected || self.sender.poll_room(reliability, config)
    }

    /// Takes the next message for the application.
    pub(crate) fn recv(&mut self, now: Instant, config: &SessionConfig) -> Option<Received> {
        let message = self.inbox.pop();
        if self.receiver.has_refused() && self.inbox.bytes() <= config.receive_queue_bytes / 2 {
            self.receiver.resume(now);
        }
        message
    }

    /// Lets everything queued leave with the next drain.
    pub(crate) fn flush(&mut self) {
        self.sender.flush();
    }

    /// Does what is due.
    pub(crate) fn handle_timeout(&mut self, ctx: &mut Context<'_>) {
        let now = ctx.now;
        if self.phase.until().is_some_and(|until| until <= now) {
            self.on_phase_end(ctx);
        }
        let config = &ctx.config.session;
        if matches!(self.phase, Phase::Draining { .. } | Phase::Gone) {
            return;
        }
        let mut notices = Notices { id: ctx.id, events: ctx.events };
        self.sender.on_timeout(now, config, &mut self.totals, &mut notices);
        self.receiver.on_timeout(now, config, &mut self.totals);
        if !self.phase.is_handshake() {
            match self.liveness.check(now, config) {
                Silence::None => {}
                // What is outstanding will be acknowledged by a living peer; only silence needs a question.
                Silence::Ask if self.sender.is_quiet() => self.ask(ctx),
                Silence::Ask => {}
                Silence::Vanished => self.end(Ending::Closed(CloseReason::PeerVanished), Phase::Gone, ctx),
                Silence::Lost => self.on_lost(ctx),
            }
        }
        self.settle(ctx);
    }

    /// Appends the next datagrams, and returns their length altogether and that of each but the last.
    pub(crate) fn poll_transmit(
        &mut self,
        now: Instant,
        max_segments: NonZeroUsize,
        config: &SessionConfig,
        buf: &mut Vec<u8>,
    ) -> Option<(usize, Option<NonZeroUsize>)> {
        if self.phase == Phase::Gone {
            return None;
        }
        let max_datagram = usize::from(self.agreed.mtu - limits::IP_UDP_HEADERS);
        let start = buf.len();
        if self.receiver.emit_nack(now, max_datagram, buf) {
            self.totals.nacks_sent += 1;
            return self.sent(now, buf.len() - start, None, 1);
        }
        let max_segments = max_segments.get().min(limits::MAX_SEGMENTS);
        let mut segment = None;
        let (mut datagrams, mut frames) = (0, 0);
        if !matches!(self.phase, Phase::Draining { .. }) {
            while datagrams < max_segments {
                let room = segment.unwrap_or(max_datagram);
                let Some(written) = self.sender.write(now, room, config, &mut self.totals, buf) else {
                    break;
                };
                datagrams += 1;
                frames += written.frames;
                let is_shorter = written.len < *segment.get_or_insert(written.len);
                if is_shorter || frames >= limits::MAX_FRAMES_A_RUN {
                    return self.sent(now, buf.len() - start, segment, datagrams);
                }
            }
        }
        // The acknowledgement rides as the last, shorter datagram of the batch.
        if datagrams < max_segments && self.receiver.owes_ack(now, config) {
            datagrams += usize::from(self.receiver.emit_ack(segment.unwrap_or(max_datagram), buf));
        }
        self.sent(now, buf.len() - start, segment, datagrams)
    }

    /// Says whether the application is to be told that a refused message would be taken now.
    pub(crate) fn take_writable(&mut self, config: &SessionConfig) -> bool {
        self.phase == Phase::Connected && self.sender.take_writable(config)
    }

    /// Returns when [`handle_timeout`](Self::handle_timeout) is to be called.
    pub(crate) fn deadline(&self, config: &SessionConfig) -> Option<Instant> {
        let until = self.phase.until();
        if matches!(self.phase, Phase::Draining { .. } | Phase::Gone) {
            return until;
        }
        let liveness = (!self.phase.is_handshake()).then(|| self.liveness.deadline(config));
        [until, liveness, self.sender.deadline(config), self.receiver.deadline(config)]
            .into_iter()
            .flatten()
            .min()
    }

    pub(crate) fn phase(&self) -> Phase {
        self.phase
    }

    pub(crate) fn role(&self) -> Role {
        self.role
    }

    pub(crate) fn agreed(&self) -> &Agreed {
        &self.agreed
    }

    pub(crate) fn info(&self) -> PeerInfo {
        let Agreed { address, guid, mtu, protocol_version } = self.agreed;
        PeerInfo { address, guid, mtu, protocol_version, role: self.role }
    }

    pub(crate) fn stats(&self, now: Instant) -> PeerStats {
        let mut stats = PeerStats {
            totals: self.totals,
            send_rate: self.sent.rate(now),
            receive_rate: self.received.rate(now),
            receive_queue: self.inbox.len(),
            receive_queue_bytes: self.inbox.bytes(),
            held_messages: self.receiver.held(),
            ..PeerStats::default()
        };
        self.sender.report(&mut stats);
        stats
    }

    fn on_data(&mut self, data: &[u8], ctx: &mut Context<'_>) {
        let mut r = Reader::new(data);
        let Ok(header) = DataHeader::parse(&mut r) else {
            self.totals.malformed += 1;
            return;
        };
        if self.inbox.bytes() > ctx.config.session.receive_queue_bytes {
            self.totals.refused_full += 1;
            self.receiver.refuse(header.number.0, ctx.now);
            return;
        }
        // Messages that run the session are few; those of the application go straight to its queue.
        let mut control = Vec::new();
        let takes_messages =
            matches!(self.phase, Phase::Handling { .. } | Phase::Requesting { .. } | Phase::Connected);
        let (inbox, clock) = (&mut self.inbox, &self.clock);
        let (mut delivered, mut bytes, mut unexpected) = (0, 0, 0);
        let mut notices = Notices { id: ctx.id, events: ctx.events };
        let mut intake = Intake {
            now: ctx.now,
            config: &ctx.config.session,
            slab: ctx.slab,
            totals: &mut self.totals,
            notices: &mut notices,
        };
        self.receiver.on_datagram(header.number.0, r, &mut intake, |mut message| {
            match message.payload.first().copied() {
                Some(id) if Connected::is_id(id) => {
                    control.push(message);
                    return;
                }
                Some(id) if id == MessageId::Timestamp.byte() => {
                    message.payload = control::localize(&message.payload, clock);
                }
                Some(_) | None => {}
            }
            if takes_messages {
                delivered += 1;
                bytes += message.payload.len() as u64;
                inbox.push(message);
            } else {
                unexpected += 1;
            }
        });
        self.totals.messages_received += delivered;
        self.totals.message_bytes_received += bytes;
        self.totals.unexpected += unexpected;
        let was_connected = self.phase == Phase::Connected;
        for message in control {
            self.on_control(&message, ctx);
        }
        // While the session begins or ends, or the peer has more to send than its window lets out, it needs to know.
        if !was_connected || self.phase != Phase::Connected || header.continuous_send {
            self.receiver.hurry_ack();
        }
        if self.phase == Phase::Connected && self.inbox.announce() {
            ctx.notices().push(|peer| Event::Readable { peer });
        }
    }

    fn on_records(&mut self, data: &[u8], ctx: &mut Context<'_>) {
        let Ok((kind, records)) = AckRecords::parse(&mut Reader::new(data)) else {
            self.totals.malformed += 1;
            return;
        };
        let config = &ctx.config.session;
        let mut notices = Notices { id: ctx.id, events: ctx.events };
        match kind {
            AckKind::Ack => self.sender.on_ack(records, ctx.now, config, &mut self.totals, &mut notices),
            AckKind::Nack => self.sender.on_nack(records, ctx.now, config, &mut self.totals, &mut notices),
        }
    }

    fn sent(
        &mut self,
        now: Instant,
        len: usize,
        segment: Option<usize>,
        datagrams: usize,
    ) -> Option<(usize, Option<NonZeroUsize>)> {
        if datagrams == 0 {
            return None;
        }
        self.totals.datagrams_sent += datagrams as u64;
        self.totals.bytes_sent += len as u64;
        self.sent.add(now, len);
        Some((len, segment.filter(|_| datagrams > 1).and_then(NonZeroUsize::new)))
    }
}
