//! The receiving half of a session: from datagrams to messages in their order.

use alloc::vec::Vec;
use bytes::Bytes;
use core::ops::Range;
use proto_core::{Instant, Reader, U24};

use super::{
    acknowledge::{AckPatience, Acknowledger, Missing},
    arrival::{Arrival, Arrivals},
    duplicates::{ReliableFilter, Verdict},
    notices::Notices,
    order::{Channels, HoldLimits, Placement},
    reassembly::{PartOutcome, Reassembly, SplitLimits},
    slab::Slab,
};
use crate::{
    Event, Received, SessionConfig,
    limits::MAX_NACK_SPAN,
    stats::PeerTotals,
    wire::{Frame, SplitPart},
};

/// What the receiving half works with besides its own state.
pub(crate) struct Intake<'a, 'n> {
    pub(crate) now: Instant,
    pub(crate) config: &'a SessionConfig,
    pub(crate) slab: &'a mut Slab,
    pub(crate) totals: &'a mut PeerTotals,
    pub(crate) notices: &'a mut Notices<'n>,
}

/// Filters, joins and orders, and keeps what the peer is to be told about its datagrams.
#[derive(Debug, Default)]
pub(crate) struct Receiver {
    arrivals: Arrivals,
    acks: Acknowledger,
    missing: Missing,
    filter: ReliableFilter,
    channels: Channels,
    splits: Reassembly,
    /// The newest datagram refused because the application lags behind.
    refused: Option<U24>,
}

/// Whether a frame was taken; if not, its datagram is not acknowledged and it comes again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Taken {
    Yes,
    NoRoom,
}

impl Receiver {
    /// Takes in the frames of a datagram and passes messages that are ready to `deliver`.
    #[inline]
    pub(crate) fn on_datagram(
        &mut self,
        number: U24,
        mut frames: Reader<'_>,
        intake: &mut Intake<'_, '_>,
        mut deliver: impl FnMut(Received),
    ) {
        let number = match self.arrivals.receive(number) {
            Arrival::New { number, gap } => {
                if !gap.is_empty() {
                    self.missing.add(gap, intake.now);
                    self.acks.hurry();
                } else if self.missing.arrived(number, intake.now) {
                    self.acks.hurry();
                }
                number
            }
            Arrival::Duplicate { number } => {
                intake.totals.duplicates += 1;
                self.acks.add(number, 0, intake.now);
                self.acks.hurry();
                return;
            }
            Arrival::OutOfRange => {
                intake.totals.out_of_range += 1;
                return;
            }
        };
        let (mut taken, mut count) = (Taken::Yes, 0);
        while !frames.is_empty() {
            let Ok(frame) = Frame::parse(&mut frames) else {
                intake.totals.malformed += 1;
                break;
            };
            count += 1;
            if self.on_frame(&frame, intake, &mut deliver) == Taken::NoRoom {
                intake.totals.refused_full += 1;
                taken = Taken::NoRoom;
            }
        }
        match taken {
            Taken::Yes => self.acks.add(number, count, intake.now),
            Taken::NoRoom => {
                self.arrivals.forget(number);
                self.reassure(intake.now);
            }
        }
    }

    /// Leaves a datagram unread and unacknowledged, because the application lags behind.
    pub(crate) fn refuse(&mut self, number: U24, now: Instant) {
        self.refused = Some(number);
        self.reassure(now);
    }

    /// Asks at once for what was refused: the application has caught up.
    pub(crate) fn resume(&mut self, now: Instant) {
        if let Some(refused) = self.refused.take() {
            let gap = self.arrivals.up_to(refused);
            let from = gap.start.max(gap.end.saturating_sub(u64::from(MAX_NACK_SPAN)));
            self.missing.add(Range { start: from, end: gap.end }, now);
        }
    }

    /// Says whether something was refused that has not been asked for again.
    pub(crate) fn has_refused(&self) -> bool {
        self.refused.is_some()
    }

    /// Gives up split messages without progress, and takes note of reports that are due.
    pub(crate) fn on_timeout(&mut self, now: Instant, config: &SessionConfig, totals: &mut PeerTotals) {
        if self.acks.is_due(now, ack_patience(config)) {
            self.acks.hurry();
        }
        self.missing.on_timeout(now);
        self.splits.expire(now, config.split_timeout);
        totals.splits_timed_out += self.splits.take_given_up();
    }

    /// Returns when [`on_timeout`](Self::on_timeout) has something to do or missing datagrams are to be reported.
    pub(crate) fn deadline(&self, config: &SessionConfig) -> Option<Instant> {
        let expiry = self.splits.next_expiry(config.split_timeout);
        let ack = self.acks.due_at(ack_patience(config));
        [expiry, ack, self.missing.report_at()].into_iter().flatten().min()
    }

    /// Appends a NACK if one is due.
    pub(crate) fn emit_nack(&mut self, now: Instant, max_len: usize, buf: &mut Vec<u8>) -> bool {
        self.missing.is_due(now) && self.missing.emit(max_len, buf)
    }

    /// Lets the next ACK leave at once.
    pub(crate) fn hurry_ack(&mut self) {
        self.acks.hurry();
    }

    /// Says whether an ACK is due.
    pub(crate) fn owes_ack(&self, now: Instant, config: &SessionConfig) -> bool {
        self.acks.is_due(now, ack_patience(config))
    }

    /// Appends an ACK if one is due.
    pub(crate) fn emit_ack(&mut self, max_len: usize, buf: &mut Vec<u8>) -> bool {
        self.acks.emit(&self.arrivals, max_len, buf)
    }

    /// Returns how many messages wait for an earlier one of their channel.
    pub(crate) fn held(&self) -> usize {
        self.channels.held()
    }

    /// Acknowledges the newest datagram again: the peer whose datagrams are refused hears that we are there, or it would
    /// take a slow application for a dead one.
    fn reassure(&mut self, now: Instant) {
        if let Some(newest) = self.arrivals.newest() {
            self.acks.add(newest, 0, now);
        }
    }

    #[inline]
    fn on_frame(
        &mut self,
        frame: &Frame<'_>,
        intake: &mut Intake<'_, '_>,
        deliver: &mut impl FnMut(Received),
    ) -> Taken {
        let number = if frame.reliability.is_reliable() {
            match self.filter.check(frame.reliable.0) {
                Verdict::New(number) => Some(number),
                Verdict::Duplicate => {
                    intake.totals.duplicates += 1;
                    return Taken::Yes;
                }
                Verdict::BeyondWindow => return Taken::NoRoom,
            }
        } else {
            None
        };
        let taken = match frame.split {
            None => {
                let payload = intake.slab.freeze(frame.payload);
                self.on_message(frame, payload, intake, deliver)
            }
            Some(part) => self.on_part(part, frame, intake, deliver),
        };
        if let (Taken::Yes, Some(number)) = (taken, number) {
            self.filter.mark(number);
        }
        taken
    }

    fn on_part(
        &mut self,
        part: SplitPart,
        frame: &Frame<'_>,
        intake: &mut Intake<'_, '_>,
        deliver: &mut impl FnMut(Received),
    ) -> Taken {
        let config = intake.config;
        // A whole message must not be lost for want of room, so the room is looked for before its last part is taken.
        if frame.reliability.has_channel() && !self.channels.has_room(frame.order, hold_limits(config)) {
            return Taken::NoRoom;
        }
        let limits = SplitLimits {
            parts: config.max_split_parts,
            splits: config.max_splits,
            bytes: config.max_split_bytes,
            timeout: config.split_timeout,
        };
        let outcome = self.splits.add(part, frame, limits, intake.now);
        intake.totals.splits_timed_out += self.splits.take_given_up();
        match outcome {
            PartOutcome::Complete(payload) => {
                self.report_progress(part, part.count, intake);
                self.on_message(frame, payload, intake, deliver)
            }
            PartOutcome::Kept { parts } => {
                self.report_progress(part, parts, intake);
                Taken::Yes
            }
            PartOutcome::Duplicate => {
                intake.totals.duplicates += 1;
                Taken::Yes
            }
            PartOutcome::Invalid => {
                intake.totals.invalid_splits += 1;
                Taken::Yes
            }
            PartOutcome::Full => Taken::NoRoom,
        }
    }

    #[inline]
    fn on_message(
        &mut self,
        frame: &Frame<'_>,
        payload: Bytes,
        intake: &mut Intake<'_, '_>,
        deliver: &mut impl FnMut(Received),
    ) -> Taken {
        let message = Received { payload, reliability: frame.reliability, channel: frame.order.channel };
        if !frame.reliability.has_channel() {
            deliver(message);
            return Taken::Yes;
        }
        let sequence = frame.reliability.is_sequenced().then_some(frame.sequencing);
        let limits = hold_limits(intake.config);
        match self.channels.place(frame.order, sequence, message, limits, deliver) {
            Placement::Delivered | Placement::Held => Taken::Yes,
            Placement::Stale => {
                intake.totals.stale += 1;
                Taken::Yes
            }
            Placement::Full => Taken::NoRoom,
        }
    }

    fn report_progress(&self, part: SplitPart, parts: u32, intake: &mut Intake<'_, '_>) {
        if intake.config.split_progress {
            let (split, total) = (part.id.0, part.count);
            intake.notices.push(|peer| Event::SplitProgress { peer, split, parts, total });
        }
    }
}

fn ack_patience(config: &SessionConfig) -> AckPatience {
    AckPatience { delay: config.ack_delay, frames: config.ack_frames }
}

fn hold_limits(config: &SessionConfig) -> HoldLimits {
    HoldLimits { messages: config.max_held_messages, bytes: config.max_held_bytes }
}
