//! What is on its way: sent datagrams, the frames they carry, and which of them are lost.
//!
//! What is acknowledged is the datagram; what is resent is the frame. So there are two rings: `datagrams` by datagram
//! number, and `frames` by reliable number. A datagram remembers which frames it carried through a run of `carried`.
//!
//! ```text
//! frame:  sent -> (its datagram lost) -> waits for resend -> sent in a new datagram -> ... -> acknowledged: gone
//! ```

use alloc::collections::VecDeque;
use core::{ops::Range, time::Duration};
use proto_core::Instant;

use super::{doubts::Doubts, queue::OutFrame, rtt::Rtt};
use crate::{ReceiptId, limits::MAX_SENT_HISTORY};

/// How many later datagrams must be acknowledged before an unacknowledged one counts as lost (RFC 9002 §6.1.1).
const REORDERING: u64 = 3;
const MAX_REORDERING: u64 = 128;

/// A datagram that was sent.
#[derive(Clone, Copy, Debug)]
struct Sent {
    at: Instant,
    bytes: u16,
    /// Where its frames begin in `carried`, counted from the start of the session, and how many there are.
    carried_at: u64,
    frames: u16,
    reliable: bool,
    window_limited: bool,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    InFlight,
    Lost,
    Acked,
}

/// A frame in a sent datagram.
#[derive(Clone, Copy, Debug)]
enum Carried {
    /// The reliable frame with this number.
    Reliable(u64),
    /// An unreliable frame whose sender waits for a receipt.
    Receipt(ReceiptId),
    /// An unreliable frame that nobody asks for.
    Nothing,
}

/// A reliable frame that is not acknowledged yet.
#[derive(Debug)]
struct Unacked {
    frame: OutFrame,
    /// The datagram that carried it last; `None` while it waits to be resent.
    datagram: Option<u64>,
}

/// What became of datagrams.
pub(crate) trait Outcome {
    /// A datagram was acknowledged.
    fn acked(&mut self, datagram: AckedDatagram);
    /// A frame was acknowledged, or an unreliable frame with a receipt was.
    fn frame_acked(&mut self, receipt: Option<ReceiptId>);
    /// A datagram was lost.
    fn lost(&mut self, sent_at: Instant);
    /// An unreliable frame with a receipt was lost.
    fn receipt_lost(&mut self, receipt: ReceiptId);
}

/// A datagram that was acknowledged in time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckedDatagram {
    pub(crate) sent_at: Instant,
    pub(crate) bytes: usize,
    pub(crate) window_limited: bool,
}

/// The datagrams and frames in flight.
#[derive(Debug, Default)]
pub(crate) struct Flight {
    datagrams: VecDeque<Sent>,
    /// The number of the first of `datagrams`.
    first_datagram: u64,
    /// Datagrams below this one are not in flight any more.
    oldest_in_flight: u64,
    carried: VecDeque<Carried>,
    /// How many entries of `carried` are gone.
    first_carried: u64,
    frames: VecDeque<Option<Unacked>>,
    /// The reliable number of the first of `frames`.
    first_frame: u64,
    /// Reliable numbers of frames that wait to be resent; may name frames acknowledged since.
    resend: VecDeque<u64>,
    waiting_resend: usize,
    doubts: Doubts,
    largest_acked: Option<u64>,
    reordering: u64,
    reliable_bytes: usize,
    unreliable_bytes: usize,
    /// When the last datagram with reliable frames was sent.
    last_reliable_at: Option<Instant>,
}

impl Flight {
    /// Returns the number of the next datagram.
    pub(crate) fn next_number(&self) -> u64 {
        self.first_datagram + self.datagrams.len() as u64
    }

    /// Returns the reliable number that a new reliable frame gets.
    pub(crate) fn next_reliable(&self) -> u64 {
        self.first_frame + self.frames.len() as u64
    }

    /// Notes a new reliable frame in the datagram that is being written.
    #[inline]
    pub(crate) fn carry_reliable(&mut self, frame: OutFrame) {
        self.carried.push_back(Carried::Reliable(self.next_reliable()));
        self.frames.push_back(Some(Unacked { frame, datagram: Some(self.next_number()) }));
    }

    /// Notes an unreliable frame in the datagram that is being written.
    pub(crate) fn carry_unreliable(&mut self, receipt: Option<ReceiptId>) {
        self.carried.push_back(receipt.map_or(Carried::Nothing, Carried::Receipt));
    }

    /// Returns the next frame to resend and its reliable number, if there is one of at most `room` bytes; it is noted
    /// in the datagram that is being written.
    pub(crate) fn next_resend(&mut self, room: usize) -> Resend<'_> {
        let datagram = self.next_number();
        loop {
            let Some(&number) = self.resend.front() else { return Resend::Empty };
            let Some(index) = number.checked_sub(self.first_frame).and_then(|i| usize::try_from(i).ok())
            else {
                self.resend.pop_front();
                continue;
            };
            let waits = matches!(self.frames.get(index), Some(Some(Unacked { datagram: None, .. })));
            if !waits {
                self.resend.pop_front();
                continue;
            }
            let Some(Some(unacked)) = self.frames.get_mut(index) else { return Resend::Empty };
            if unacked.frame.encoded_len() > room {
                return Resend::TooLong;
            }
            self.resend.pop_front();
            self.waiting_resend -= 1;
            unacked.datagram = Some(datagram);
            self.carried.push_back(Carried::Reliable(number));
            return Resend::Frame(number, &unacked.frame);
        }
    }

    /// Ends the datagram being written: it is sent now.
    pub(crate) fn sent(
        &mut self,
        now: Instant,
        bytes: usize,
        frames: usize,
        reliable: bool,
        window_limited: bool,
    ) {
        if reliable {
            self.reliable_bytes += bytes;
            self.last_reliable_at = Some(now);
        } else {
            self.unreliable_bytes += bytes;
        }
        self.datagrams.push_back(Sent {
            at: now,
            bytes: u16::try_from(bytes).unwrap_or(u16::MAX),
            carried_at: (self.first_carried + self.carried.len() as u64).saturating_sub(frames as u64),
            frames: u16::try_from(frames).unwrap_or(u16::MAX),
            reliable,
            window_limited,
            state: State::InFlight,
        });
    }

    /// Begins the reading of one ACK or NACK.
    pub(crate) fn visits(&self) -> Visits {
        Visits { left: self.datagrams.len() as u64 }
    }

    /// Takes in a range of acknowledged numbers. Returns the send time of the newest datagram among them that was not
    /// acknowledged before: a round-trip sample.
    pub(crate) fn on_ack(
        &mut self,
        range: Range<u64>,
        visits: &mut Visits,
        outcome: &mut impl Outcome,
    ) -> Option<Instant> {
        let range = visits.clip(range.start.max(self.first_datagram)..range.end.min(self.next_number()));
        let mut newest = None;
        for number in range {
            let Some(sent) = self.datagram_mut(number) else { continue };
            let state = sent.state;
            if state == State::Acked {
                continue;
            }
            sent.state = State::Acked;
            let sent = *sent;
            if state == State::InFlight {
                self.unload(sent);
            } else {
                // It was not lost but late: be more patient.
                let behind = self.largest_acked.map_or(0, |largest| largest.saturating_sub(number));
                self.reordering = (behind + 1).clamp(self.reordering_threshold(), MAX_REORDERING);
                while let Some(receipt) = self.doubts.settle(number) {
                    outcome.frame_acked(Some(receipt));
                }
            }
            newest = Some(sent.at);
            self.largest_acked = self.largest_acked.max(Some(number));
            outcome.acked(AckedDatagram {
                sent_at: sent.at,
                bytes: usize::from(sent.bytes),
                window_limited: sent.window_limited,
            });
            for index in self.carried_by(&sent) {
                match self.carried.get(index).copied() {
                    Some(Carried::Reliable(reliable)) => {
                        if let Some(unacked) = self.take_frame(reliable) {
                            if unacked.datagram.is_none() {
                                self.waiting_resend -= 1;
                            }
                            outcome.frame_acked(unacked.frame.receipt);
                        }
                    }
                    Some(Carried::Receipt(receipt)) => {
                        self.settle_receipt(index);
                        outcome.frame_acked(Some(receipt));
                    }
                    Some(Carried::Nothing) | None => {}
                }
            }
        }
        newest
    }

    /// Takes in a range of numbers that the peer misses.
    pub(crate) fn on_nack(&mut self, range: Range<u64>, visits: &mut Visits, outcome: &mut impl Outcome) {
        let range = visits.clip(range.start.max(self.oldest_in_flight)..range.end.min(self.next_number()));
        for number in range {
            self.lose(number, outcome);
        }
        self.skip_settled();
    }

    /// Declares lost what is overdue, by three later datagrams acknowledged or by time, and forgets what is settled.
    pub(crate) fn detect_lost(&mut self, now: Instant, rtt: &Rtt, outcome: &mut impl Outcome) {
        self.skip_settled();
        let Some(largest) = self.largest_acked else { return };
        let delay = rtt.loss_delay();
        for number in self.oldest_in_flight..largest {
            let Some(sent) = self.datagram(number) else { continue };
            if sent.state != State::InFlight {
                continue;
            }
            if largest - number >= self.reordering_threshold() || sent.at + delay <= now {
                self.lose(number, outcome);
            }
        }
        self.shrink(now, rtt.probe_timeout() * 2);
    }

    /// Returns when the oldest datagram sent before an acknowledged one counts as lost by time.
    pub(crate) fn loss_at(&self, rtt: &Rtt) -> Option<Instant> {
        let largest = self.largest_acked?;
        if self.oldest_in_flight >= largest {
            return None;
        }
        self.datagram(self.oldest_in_flight).map(|sent| sent.at + rtt.loss_delay())
    }

    /// Sends the oldest outstanding frames again, up to `datagrams` datagrams of them, without waiting for a sign
    /// that they are lost: the tail-loss probe.
    pub(crate) fn probe(&mut self, datagrams: usize, outcome: &mut impl Outcome) {
        let mut probed = 0;
        for number in self.oldest_in_flight..self.next_number() {
            if probed == datagrams {
                break;
            }
            if self.datagram(number).is_some_and(|sent| sent.state == State::InFlight) {
                probed += usize::from(self.datagram(number).is_some_and(|sent| sent.reliable));
                self.lose(number, outcome);
            }
        }
        self.skip_settled();
    }

    /// Declares everything in flight lost.
    pub(crate) fn lose_all(&mut self, outcome: &mut impl Outcome) {
        for number in self.oldest_in_flight..self.next_number() {
            self.lose(number, outcome);
        }
        self.skip_settled();
    }

    /// Forgets unreliable datagrams that stay unacknowledged, so that they do not count as in flight for ever.
    pub(crate) fn expire_unreliable(&mut self, now: Instant, age: Duration, outcome: &mut impl Outcome) {
        for number in self.oldest_in_flight..self.next_number() {
            let Some(sent) = self.datagram(number) else { break };
            if sent.at + age > now {
                break;
            }
            if !sent.reliable {
                self.lose(number, outcome);
            }
        }
        self.skip_settled();
    }

    /// Gives up the receipts of unreliable messages that seem lost and will not be acknowledged any more.
    pub(crate) fn expire_receipts(&mut self, now: Instant, rtt: &Rtt, outcome: &mut impl Outcome) {
        while let Some(receipt) = self.doubts.expire(now, rtt.receipt_timeout()) {
            outcome.receipt_lost(receipt);
        }
    }

    /// Returns when [`expire_receipts`](Self::expire_receipts) has something to do.
    pub(crate) fn receipt_expiry(&self, rtt: &Rtt) -> Option<Instant> {
        self.doubts.next_expiry(rtt.receipt_timeout())
    }

    /// Returns when the oldest datagram in flight reaches `age`, if that one is unreliable.
    pub(crate) fn unreliable_expiry(&self, age: Duration) -> Option<Instant> {
        if self.unreliable_bytes == 0 {
            return None;
        }
        let in_flight = self.datagrams.iter().skip(self.index_of(self.oldest_in_flight)?);
        in_flight
            .filter(|sent| sent.state == State::InFlight && !sent.reliable)
            .map(|sent| sent.at + age)
            .next()
    }

    /// Returns the receipts that will never come because the session ends.
    pub(crate) fn open_receipts(&self) -> impl Iterator<Item = ReceiptId> {
        let reliable = self.frames.iter().flatten().filter_map(|unacked| unacked.frame.receipt);
        let unreliable = self.carried.iter().filter_map(|carried| match carried {
            Carried::Receipt(receipt) => Some(*receipt),
            Carried::Reliable(_) | Carried::Nothing => None,
        });
        reliable.chain(unreliable).chain(self.doubts.receipts())
    }

    /// Returns the bytes of datagrams with reliable frames in flight.
    pub(crate) fn reliable_bytes(&self) -> usize {
        self.reliable_bytes
    }

    /// Returns the bytes of datagrams without reliable frames in flight.
    pub(crate) fn unreliable_bytes(&self) -> usize {
        self.unreliable_bytes
    }

    /// Returns the span of reliable numbers from the oldest unacknowledged one to the newest.
    pub(crate) fn frames(&self) -> usize {
        self.frames.len()
    }

    /// Returns how many frames wait to be resent.
    pub(crate) fn waiting_resend(&self) -> usize {
        self.waiting_resend
    }

    /// Says whether everything reliable was acknowledged.
    pub(crate) fn is_settled(&self) -> bool {
        self.frames.is_empty()
    }

    /// Returns when the last datagram with reliable frames left, while one is in flight.
    pub(crate) fn last_reliable_at(&self) -> Option<Instant> {
        self.last_reliable_at.filter(|_| self.reliable_bytes > 0)
    }

    fn reordering_threshold(&self) -> u64 {
        self.reordering.max(REORDERING)
    }

    /// Marks a datagram as lost and lets its frames wait for a resend.
    fn lose(&mut self, number: u64, outcome: &mut impl Outcome) {
        let Some(sent) = self.datagram_mut(number) else { return };
        if sent.state != State::InFlight {
            return;
        }
        sent.state = State::Lost;
        let sent = *sent;
        self.unload(sent);
        outcome.lost(sent.at);
        for index in self.carried_by(&sent) {
            match self.carried.get(index).copied() {
                Some(Carried::Reliable(reliable)) => {
                    if let Some(unacked) = self.frame_mut(reliable).filter(|u| u.datagram == Some(number)) {
                        unacked.datagram = None;
                        self.waiting_resend += 1;
                        self.resend.push_back(reliable);
                    }
                }
                Some(Carried::Receipt(receipt)) => {
                    self.settle_receipt(index);
                    self.doubts.add(number, receipt, sent.at);
                }
                Some(Carried::Nothing) | None => {}
            }
        }
    }

    /// Forgets the receipt of a frame in `carried`: it is accounted for.
    fn settle_receipt(&mut self, index: usize) {
        if let Some(carried) = self.carried.get_mut(index) {
            *carried = Carried::Nothing;
        }
    }

    fn unload(&mut self, sent: Sent) {
        if sent.reliable {
            self.reliable_bytes -= usize::from(sent.bytes);
        } else {
            self.unreliable_bytes -= usize::from(sent.bytes);
        }
    }

    fn take_frame(&mut self, number: u64) -> Option<Unacked> {
        let unacked =
            self.frames.get_mut(usize::try_from(number.checked_sub(self.first_frame)?).ok()?)?.take();
        while matches!(self.frames.front(), Some(None)) {
            self.frames.pop_front();
            self.first_frame += 1;
        }
        unacked
    }

    fn frame_mut(&mut self, number: u64) -> Option<&mut Unacked> {
        let index = usize::try_from(number.checked_sub(self.first_frame)?).ok()?;
        self.frames.get_mut(index)?.as_mut()
    }

    fn index_of(&self, number: u64) -> Option<usize> {
        usize::try_from(number.checked_sub(self.first_datagram)?).ok()
    }

    fn datagram(&self, number: u64) -> Option<&Sent> {
        self.datagrams.get(self.index_of(number)?)
    }

    fn datagram_mut(&mut self, number: u64) -> Option<&mut Sent> {
        let index = self.index_of(number)?;
        self.datagrams.get_mut(index)
    }

    /// Returns the places in `carried` of a datagram's frames.
    fn carried_by(&self, sent: &Sent) -> Range<usize> {
        let start = usize::try_from(sent.carried_at.saturating_sub(self.first_carried)).unwrap_or(usize::MAX);
        start..start.saturating_add(usize::from(sent.frames))
    }

    /// Steps `oldest_in_flight` over datagrams that are settled.
    fn skip_settled(&mut self) {
        while self.datagram(self.oldest_in_flight).is_some_and(|sent| sent.state != State::InFlight) {
            self.oldest_in_flight += 1;
        }
    }

    /// Forgets datagrams at the front that are acknowledged, or lost long ago.
    fn shrink(&mut self, now: Instant, patience: Duration) {
        self.skip_settled();
        while let Some(sent) = self.datagrams.front() {
            let forget = match sent.state {
                State::Acked => true,
                State::Lost => {
                    let concerns = self.doubts.concern(self.first_datagram);
                    (sent.at + patience <= now && !concerns) || self.datagrams.len() > MAX_SENT_HISTORY
                }
                State::InFlight => false,
            };
            if !forget {
                break;
            }
            self.first_carried += u64::from(sent.frames);
            self.carried.drain(..usize::from(sent.frames).min(self.carried.len()));
            self.datagrams.pop_front();
            self.first_datagram += 1;
        }
        self.oldest_in_flight = self.oldest_in_flight.max(self.first_datagram);
    }
}

/// How many more datagrams the records of one ACK or NACK may visit.
///
/// Honest records do not overlap, so they visit each datagram once at the most. Hostile ones could name the whole window
/// hundreds of times over (SLikeNet#32).
#[derive(Debug)]
pub(crate) struct Visits {
    left: u64,
}

impl Visits {
    fn clip(&mut self, range: Range<u64>) -> Range<u64> {
        let len = range.end.saturating_sub(range.start).min(self.left);
        self.left -= len;
        range.start..range.start + len
    }
}

/// What one look at the frames to resend gave.
#[derive(Debug)]
pub(crate) enum Resend<'a> {
    /// The next one and its reliable number.
    Frame(u64, &'a OutFrame),
    /// The next one does not fit into the room that is left.
    TooLong,
    /// None waits.
    Empty,
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{vec, vec::Vec};

    const RECEIPT: ReceiptId = ReceiptId(9);

    /// What was reported of receipts.
    #[derive(Default)]
    struct Reports {
        acked: Vec<ReceiptId>,
        lost: Vec<ReceiptId>,
    }

    impl Outcome for Reports {
        fn acked(&mut self, _datagram: AckedDatagram) {}
        fn frame_acked(&mut self, receipt: Option<ReceiptId>) {
            self.acked.extend(receipt);
        }
        fn lost(&mut self, _sent_at: Instant) {}
        fn receipt_lost(&mut self, receipt: ReceiptId) {
            self.lost.push(receipt);
        }
    }

    fn send_unreliable(flight: &mut Flight, at: Instant, receipt: Option<ReceiptId>) {
        flight.carry_unreliable(receipt);
        flight.sent(at, 100, 1, false, false);
    }

    /// A round-trip time of 100 microseconds, as loopback has it.
    fn short_rtt() -> Rtt {
        let mut rtt = Rtt::default();
        rtt.update(Duration::from_micros(100));
        rtt
    }

    #[test]
    fn a_receipt_whose_acknowledgement_comes_late_is_acknowledged() {
        let (mut flight, mut reports, rtt) = (Flight::default(), Reports::default(), short_rtt());
        send_unreliable(&mut flight, Instant::from_millis(0), Some(RECEIPT));
        let ten = Instant::from_millis(10);
        flight.expire_unreliable(ten, rtt.probe_timeout() * 2, &mut reports);
        flight.detect_lost(ten, &rtt, &mut reports);
        flight.expire_receipts(ten, &rtt, &mut reports);
        assert_eq!(
            (flight.unreliable_bytes(), reports.lost.len()),
            (0, 0),
            "not in flight, but not lost yet"
        );

        let mut visits = flight.visits();
        flight.on_ack(0..1, &mut visits, &mut reports);
        flight.expire_receipts(Instant::from_millis(10_000), &rtt, &mut reports);
        assert_eq!((reports.acked, reports.lost), (vec![RECEIPT], vec![]));
    }

    #[test]
    fn a_receipt_without_acknowledgement_is_lost_in_the_end() {
        let (mut flight, mut reports, rtt) = (Flight::default(), Reports::default(), short_rtt());
        send_unreliable(&mut flight, Instant::from_millis(0), Some(RECEIPT));
        let mut visits = flight.visits();
        flight.on_nack(0..1, &mut visits, &mut reports);
        let due = flight.receipt_expiry(&rtt).unwrap();
        flight.expire_receipts(due, &rtt, &mut reports);
        let mut visits = flight.visits();
        flight.on_ack(0..1, &mut visits, &mut reports);
        assert_eq!((reports.acked, reports.lost), (vec![], vec![RECEIPT]));
    }

    #[test]
    fn an_acknowledged_receipt_is_not_open_while_an_older_datagram_is_in_flight() {
        let (mut flight, mut reports) = (Flight::default(), Reports::default());
        send_unreliable(&mut flight, Instant::from_millis(0), None);
        send_unreliable(&mut flight, Instant::from_millis(0), Some(RECEIPT));
        let mut visits = flight.visits();
        flight.on_ack(1..2, &mut visits, &mut reports);
        assert_eq!(reports.acked, [RECEIPT]);
        assert_eq!(flight.open_receipts().count(), 0);
    }

    #[test]
    fn overlapping_records_visit_no_datagram_twice() {
        let (mut flight, mut reports) = (Flight::default(), Reports::default());
        for n in 0..10 {
            send_unreliable(&mut flight, Instant::ZERO, Some(ReceiptId(n)));
        }
        let mut visits = flight.visits();
        assert_eq!(visits.clip(0..6), 0..6);
        flight.on_ack(0..u64::MAX, &mut visits, &mut reports);
        assert_eq!(reports.acked.len(), 4, "of ten visits six were used up");
        assert_eq!(visits.clip(0..10), 0..0);
    }
}
