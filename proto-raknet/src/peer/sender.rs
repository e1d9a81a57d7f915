//! The sending half of a session: what leaves, when, and what is sent again.

use alloc::{boxed::Box, vec::Vec};
use core::{ops::Range, time::Duration};
use proto_core::Instant;

use super::{
    flight::{AckedDatagram, Flight, Outcome, Resend},
    notices::Notices,
    pacer::Pacer,
    queue::{Allow, Next, SendQueue},
    ranges::{to_wire, unwrap},
    receipts::Receipts,
    rtt::Rtt,
};
use crate::{
    FlushPolicy, Message, Priority, ReceiptId, Reliability, SendError, SessionConfig,
    congestion::{Acked, Controller, controller},
    stats::{PeerStats, PeerTotals},
    wire::{AckRecords, DataHeader, DatagramNumber, ReliableIndex},
};

/// Probes without an answer after which the path counts as congested rather than unlucky.
const PROBES_BEFORE_TIMEOUT: u32 = 3;

/// How long a loss makes further ones likely.
const LOSS_MEMORY: Duration = Duration::from_millis(100);

/// Datagrams that a probe sends again.
const PROBE_DATAGRAMS: usize = 2;

/// The longest wait for an answer to a probe (C++ `MAX_RTO`).
const MAX_PROBE_WAIT: Duration = Duration::from_secs(2);

/// Queues, paces, numbers and resends.
#[derive(Debug)]
pub(crate) struct Sender {
    queue: SendQueue,
    flight: Flight,
    rtt: Rtt,
    congestion: Box<dyn Controller>,
    pacer: Pacer,
    receipts: Receipts,
    /// The room of a datagram: MTU less IP and UDP headers.
    max_datagram: usize,
    /// Probes sent since the last acknowledgement.
    probes: u32,
    probed_at: Option<Instant>,
    /// Datagrams got lost of late: until then more losses are to be expected.
    lossy_until: Option<Instant>,
    /// Datagrams that may leave whatever window and pace say: those of a probe.
    urgent: usize,
    /// What is queued may leave in a datagram that is not full.
    flush: bool,
    /// A message was refused: the application waits to hear of room.
    refused: bool,
}

impl Sender {
    pub(crate) fn new(config: &SessionConfig, max_datagram: usize, now: Instant) -> Self {
        Self {
            queue: SendQueue::default(),
            flight: Flight::default(),
            rtt: Rtt::default(),
            congestion: controller(config.congestion, max_datagram),
            pacer: Pacer::new(now, config.bandwidth_limit),
            receipts: Receipts::default(),
            max_datagram,
            probes: 0,
            probed_at: None,
            lossy_until: None,
            urgent: 0,
            flush: false,
            refused: false,
        }
    }

    /// Queues a message of the application, if its budget has room.
    pub(crate) fn send(
        &mut self,
        message: Message,
        config: &SessionConfig,
        totals: &mut PeerTotals,
        now: Instant,
    ) -> Result<Option<ReceiptId>, SendError> {
        let len = message.payload.len();
        if len > config.max_message_bytes {
            return Err(SendError::TooLong { len, max: config.max_message_bytes });
        }
        if !self.poll_room(message.reliability, config) {
            return Err(SendError::Full);
        }
        totals.messages_sent += 1;
        totals.message_bytes_sent += len as u64;
        let receipt = message.reliability.has_receipt().then(|| self.receipts.open());
        let parts = self.push(message, receipt, now);
        if let (Some(receipt), Some(parts)) = (receipt, parts) {
            self.receipts.expect_parts(receipt, parts);
        }
        Ok(receipt)
    }

    /// Says whether there is room for a message of the application. If not, it counts as refused, so that
    /// [`take_writable`](Self::take_writable) tells when there is.
    pub(crate) fn poll_room(&mut self, reliability: Reliability, config: &SessionConfig) -> bool {
        let full = if reliability.is_reliable() {
            self.queue.reliable_bytes() >= config.reliable_queue_bytes
        } else {
            self.queue.unreliable_bytes() >= config.unreliable_queue_bytes
        };
        let room = !full && (!reliability.has_receipt() || self.receipts.has_room());
        self.refused |= !room;
        room
    }

    /// Queues a message of our own; it is always taken.
    pub(crate) fn send_control(&mut self, message: Message, now: Instant) {
        self.push(message, None, now);
    }

    fn push(&mut self, message: Message, receipt: Option<ReceiptId>, now: Instant) -> Option<u32> {
        self.flush |= message.priority == Priority::Immediate;
        self.queue.push(message, receipt, self.max_datagram, now)
    }

    /// Lets everything queued so far leave with the next drain.
    pub(crate) fn flush(&mut self) {
        self.flush = !self.queue.is_empty();
    }

    /// Writes the next datagram, at most `room` bytes long.
    #[inline]
    pub(crate) fn write(
        &mut self,
        now: Instant,
        room: usize,
        config: &SessionConfig,
        totals: &mut PeerTotals,
        buf: &mut Vec<u8>,
    ) -> Option<Written> {
        let urgent = self.urgent > 0;
        let resends = self.flight.waiting_resend() > 0;
        if !resends && self.queue.is_empty() {
            self.flush = false;
            self.urgent = 0;
            return None;
        }
        if !urgent && !self.pacer.is_open(now) {
            return None;
        }
        let window = self.congestion.window().min(config.max_bytes_in_flight);
        let open = urgent || self.flight.reliable_bytes() < window;
        let allow = Allow {
            reliable: open && self.flight.frames() < config.max_frames_in_flight,
            unreliable: self.flight.unreliable_bytes() < window,
        };
        let resends = resends && open;
        let fresh = self.queue.has(allow) && self.may_leave(now, config.flush);
        if !resends && !fresh {
            return None;
        }

        let start = buf.len();
        let number = DatagramNumber(to_wire(self.flight.next_number()));
        DataHeader { continuous_send: false, number }.emit(buf);
        let (mut frames, mut reliable, mut full) = (0, false, false);
        while resends && !full {
            match self.flight.next_resend(room - (buf.len() - start)) {
                Resend::Frame(number, frame) => {
                    frame.to_wire(ReliableIndex(to_wire(number))).emit(buf);
                    totals.frames_resent += 1;
                    frames += 1;
                    reliable = true;
                }
                Resend::TooLong => full = true,
                Resend::Empty => break,
            }
        }
        while fresh && !full {
            let allow = Allow {
                reliable: allow.reliable && self.flight.frames() < config.max_frames_in_flight,
                ..allow
            };
            match self.queue.next(room - (buf.len() - start), allow) {
                Next::Frame(frame) => {
                    frames += 1;
                    if frame.reliability.is_reliable() {
                        reliable = true;
                        frame.to_wire(ReliableIndex(to_wire(self.flight.next_reliable()))).emit(buf);
                        self.flight.carry_reliable(frame);
                    } else {
                        frame.to_wire(ReliableIndex::default()).emit(buf);
                        self.flight.carry_unreliable(frame.receipt);
                    }
                }
                Next::TooLong => full = true,
                Next::Empty => break,
            }
        }
        if frames == 0 {
            buf.truncate(start);
            return None;
        }
        let len = buf.len() - start;
        self.urgent = self.urgent.saturating_sub(1);
        self.pacer.on_sent(len);
        let in_flight = if reliable { self.flight.reliable_bytes() } else { self.flight.unreliable_bytes() };
        let window_limited =
            (in_flight + len) * 2 >= window || self.flight.frames() * 2 >= config.max_frames_in_flight;
        if let (true, Some(datagram)) = (window_limited, buf.get_mut(start..)) {
            DataHeader::set_continuous_send(datagram);
        }
        self.flight.sent(now, len, frames, reliable, window_limited);
        totals.data_datagrams_sent += 1;
        Some(Written { len, frames })
    }

    /// Says whether what is queued may leave now although it may not fill a datagram.
    fn may_leave(&self, now: Instant, policy: FlushPolicy) -> bool {
        match policy {
            FlushPolicy::Immediate => true,
            FlushPolicy::Batched(delay) => {
                let queued = self.queue.reliable_bytes() + self.queue.unreliable_bytes();
                self.flush
                    || queued >= self.max_datagram
                    || self.queue.oldest().is_some_and(|at| at + delay <= now)
            }
        }
    }

    /// Takes in the records of an ACK.
    pub(crate) fn on_ack(
        &mut self,
        records: AckRecords<'_>,
        now: Instant,
        config: &SessionConfig,
        totals: &mut PeerTotals,
        notices: &mut Notices<'_>,
    ) {
        let (mut newest, mut visits) = (None, self.flight.visits());
        let Self { rtt, congestion, receipts, .. } = self;
        let mut outcome = Ledger::new(now, rtt, &mut **congestion, receipts, totals, notices);
        outcome.read(records, self.flight.next_number(), |numbers, outcome| {
            newest = newest.max(self.flight.on_ack(numbers, &mut visits, outcome));
        });
        if let Some(sent_at) = newest {
            self.rtt.update(now.saturating_since(sent_at));
            self.probes = 0;
            self.probed_at = None;
        }
        self.flight.detect_lost(now, &self.rtt, &mut outcome);
        if outcome.lost {
            self.lossy_until = Some(now + LOSS_MEMORY);
        }
        self.set_pace(config);
    }

    /// Takes in the records of a NACK.
    pub(crate) fn on_nack(
        &mut self,
        records: AckRecords<'_>,
        now: Instant,
        config: &SessionConfig,
        totals: &mut PeerTotals,
        notices: &mut Notices<'_>,
    ) {
        totals.nacks_received += 1;
        let mut visits = self.flight.visits();
        let Self { rtt, congestion, receipts, .. } = self;
        let mut outcome = Ledger::new(now, rtt, &mut **congestion, receipts, totals, notices);
        outcome.read(records, self.flight.next_number(), |numbers, outcome| {
            self.flight.on_nack(numbers, &mut visits, outcome);
        });
        if outcome.lost {
            self.lossy_until = Some(now + LOSS_MEMORY);
        }
        self.set_pace(config);
    }

    /// Does what is due: expiries, losses by time, probes, the flush of a batch.
    pub(crate) fn on_timeout(
        &mut self,
        now: Instant,
        config: &SessionConfig,
        totals: &mut PeerTotals,
        notices: &mut Notices<'_>,
    ) {
        if let Some(expiry) = config.unreliable_expiry {
            let receipts = &mut self.receipts;
            totals.unreliable_expired += self.queue.expire(now, expiry, |receipt| {
                receipts.lost(receipt);
                notices.receipt_lost(receipt);
            });
        }
        let probe = self.probe_at().is_some_and(|at| at <= now);
        let collapse = probe && self.probes >= PROBES_BEFORE_TIMEOUT;
        let age = self.unreliable_age();
        let Self { rtt, congestion, receipts, .. } = self;
        let mut outcome = Ledger::new(now, rtt, &mut **congestion, receipts, totals, notices);
        self.flight.detect_lost(now, &self.rtt, &mut outcome);
        // From here on nothing is a sign of congestion by itself.
        outcome.congestion = None;
        self.flight.expire_unreliable(now, age, &mut outcome);
        if probe {
            outcome.totals.probes += 1;
            if collapse {
                self.flight.lose_all(&mut outcome);
            } else {
                self.flight.probe(PROBE_DATAGRAMS, &mut outcome);
            }
            self.probes = self.probes.saturating_add(1);
            self.probed_at = Some(now);
            self.urgent = PROBE_DATAGRAMS;
        }
        // Last, since all of the above may put receipts in doubt that are overdue already.
        self.flight.expire_receipts(now, &self.rtt, &mut outcome);
        if collapse {
            self.congestion.on_timeout(now);
        }
        if let FlushPolicy::Batched(delay) = config.flush {
            self.flush |= self.queue.oldest().is_some_and(|at| at + delay <= now);
        }
        self.pacer.is_open(now);
        self.set_pace(config);
    }

    /// Returns when [`on_timeout`](Self::on_timeout) has something to do, or the pace lets more out.
    pub(crate) fn deadline(&self, config: &SessionConfig) -> Option<Instant> {
        let waiting = !self.queue.is_empty() || self.flight.waiting_resend() > 0;
        let pace = if waiting { self.pacer.opens_at() } else { None };
        let expiry = config.unreliable_expiry.and_then(|expiry| self.queue.next_expiry(expiry));
        let flush = match config.flush {
            FlushPolicy::Batched(delay) if !self.flush => self.queue.oldest().map(|at| at + delay),
            FlushPolicy::Batched(_) | FlushPolicy::Immediate => None,
        };
        let loss = self.flight.loss_at(&self.rtt);
        let age = self.flight.unreliable_expiry(self.unreliable_age());
        let receipt = self.flight.receipt_expiry(&self.rtt);
        [pace, expiry, flush, loss, age, receipt, self.probe_at()].into_iter().flatten().min()
    }

    /// Says whether a refused message would be taken now, and forgets that one was.
    pub(crate) fn take_writable(&mut self, config: &SessionConfig) -> bool {
        let room = self.queue.reliable_bytes() <= config.reliable_queue_bytes / 2
            && self.queue.unreliable_bytes() <= config.unreliable_queue_bytes / 2
            && self.receipts.has_room();
        let writable = self.refused && room;
        if writable {
            self.refused = false;
        }
        writable
    }

    /// Says whether nothing waits and everything reliable was acknowledged.
    pub(crate) fn is_settled(&self) -> bool {
        self.queue.is_empty() && self.flight.is_settled()
    }

    /// Says whether nothing reliable is outstanding, so that no acknowledgement is to be expected.
    pub(crate) fn is_quiet(&self) -> bool {
        self.flight.is_settled()
    }

    /// Returns the probe timeout, which bounds how long a living peer takes to answer.
    pub(crate) fn probe_timeout(&self) -> Duration {
        self.rtt.probe_timeout()
    }

    /// Reports every open receipt as lost: the session ends.
    pub(crate) fn give_up_receipts(&mut self, notices: &mut Notices<'_>) {
        let mut open: Vec<ReceiptId> = self.flight.open_receipts().chain(self.queue.receipts()).collect();
        open.sort_unstable();
        open.dedup();
        for receipt in open {
            notices.receipt_lost(receipt);
        }
    }

    /// Fills in what the sending half knows.
    pub(crate) fn report(&self, stats: &mut PeerStats) {
        stats.rtt = self.rtt.smoothed();
        stats.rtt_variation = self.rtt.variation();
        stats.latest_rtt = self.rtt.latest();
        stats.min_rtt = self.rtt.min();
        stats.congestion_window = self.congestion.window();
        stats.bytes_in_flight = self.flight.reliable_bytes() + self.flight.unreliable_bytes();
        stats.frames_in_flight = self.flight.frames();
        stats.frames_to_resend = self.flight.waiting_resend();
        stats.send_queue = self.queue.lengths();
        stats.reliable_queue_bytes = self.queue.reliable_bytes();
        stats.unreliable_queue_bytes = self.queue.unreliable_bytes();
    }

    fn probe_at(&self) -> Option<Instant> {
        let sent = self.flight.last_reliable_at()?;
        let lossy = self.lossy_until.is_some_and(|until| sent < until);
        let wait = if lossy { self.rtt.eager_probe_timeout() } else { self.rtt.probe_timeout() };
        let wait = wait * (1 << self.probes.min(10));
        Some(sent.max(self.probed_at.unwrap_or(sent)) + wait.min(MAX_PROBE_WAIT))
    }

    /// Returns after how long an unreliable datagram counts as lost without a sign of it (C++: one RTO).
    fn unreliable_age(&self) -> Duration {
        self.rtt.probe_timeout() * 2
    }

    fn set_pace(&mut self, config: &SessionConfig) {
        let pace = match self.rtt.smoothed() {
            Some(rtt) if config.pacing && self.congestion.wants_pacing() => {
                Some((self.congestion.window().min(config.max_bytes_in_flight), rtt))
            }
            Some(_) | None => None,
        };
        self.pacer.set_window(pace);
    }
}

/// A datagram that was written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written {
    pub(crate) len: usize,
    pub(crate) frames: usize,
}

/// Books what became of datagrams.
struct Ledger<'a, 'n> {
    now: Instant,
    rtt: Duration,
    /// `None` where a loss says nothing about the path.
    congestion: Option<&'a mut dyn Controller>,
    receipts: &'a mut Receipts,
    totals: &'a mut PeerTotals,
    notices: &'a mut Notices<'n>,
    /// The path lost something.
    lost: bool,
}

impl<'a, 'n> Ledger<'a, 'n> {
    fn new(
        now: Instant,
        rtt: &Rtt,
        congestion: &'a mut dyn Controller,
        receipts: &'a mut Receipts,
        totals: &'a mut PeerTotals,
        notices: &'a mut Notices<'n>,
    ) -> Self {
        let rtt = rtt.smoothed().unwrap_or_default();
        Self { now, rtt, congestion: Some(congestion), receipts, totals, notices, lost: false }
    }

    /// Reads records up to one that is malformed, and hands on the datagrams that they name. `next` is the number of
    /// the next datagram.
    fn read(&mut self, records: AckRecords<'_>, next: u64, mut book: impl FnMut(Range<u64>, &mut Self)) {
        for record in records {
            let Ok(record) = record else {
                self.totals.malformed += 1;
                break;
            };
            if let (Some(first), Some(last)) = (unwrap(record.first, next), unwrap(record.last, next)) {
                book(first..last + 1, self);
            }
        }
    }
}

impl Outcome for Ledger<'_, '_> {
    fn acked(&mut self, datagram: AckedDatagram) {
        if let Some(congestion) = &mut self.congestion {
            let AckedDatagram { sent_at, bytes, window_limited } = datagram;
            congestion.on_ack(self.now, Acked { sent_at, bytes, rtt: self.rtt, window_limited });
        }
    }

    fn frame_acked(&mut self, receipt: Option<ReceiptId>) {
        if let Some(receipt) = receipt
            && self.receipts.frame_acked(receipt)
        {
            self.notices.receipt_acked(receipt);
        }
    }

    fn lost(&mut self, sent_at: Instant) {
        if let Some(congestion) = &mut self.congestion {
            self.totals.datagrams_lost += 1;
            self.lost = true;
            congestion.on_loss(self.now, sent_at);
        }
    }

    fn receipt_lost(&mut self, receipt: ReceiptId) {
        self.receipts.lost(receipt);
        self.notices.receipt_lost(receipt);
    }
}
