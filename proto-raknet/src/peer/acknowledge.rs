//! What the peer is to be told about its datagrams: arrived (ACK) and missing (NACK).

use alloc::{collections::VecDeque, vec::Vec};
use core::{ops::Range, time::Duration};
use proto_core::Instant;

use super::{
    arrival::Arrivals,
    ranges::{RangeSet, to_wire},
};
use crate::{
    limits::MAX_PENDING_RANGES,
    wire::{AckKind, AckRecords, NumberRange, emit_records},
};

/// Numbers below the oldest new one that an ACK repeats, in case the ACK before it was lost.
const REPEATED: u64 = 64;

/// With more ranges than this, an ACK repeats nothing.
const REPEATED_RANGES: usize = 32;

/// Reported gaps that are remembered to learn whether the report came too early.
const REMEMBERED_GAPS: usize = 32;

/// The longest wait for a reordered datagram before it is reported as missing.
const MAX_TOLERANCE: Duration = Duration::from_millis(25);

/// The acknowledgements that the peer has not got yet.
///
/// One ACK is a datagram of its own and costs both ends as much as one with data, so it waits a little for more to
/// acknowledge, unless the peer can be expected to need it (see [`Acknowledger::hurry`]). In a steady flow it waits while
/// more keeps coming, within bounds, and leaves with the last arrival within them; once nothing comes it is due.
#[derive(Debug, Default)]
pub(crate) struct Acknowledger {
    due: RangeSet,
    /// The frames in them.
    frames: usize,
    /// When the oldest of them arrived.
    since: Option<Instant>,
    /// When the last datagram arrived, acknowledged or not.
    last: Option<Instant>,
    /// The smoothed time between two arrivals.
    interval: Duration,
    hurry: bool,
}

/// What a datagram with fewer frames counts as: it costs its sender as much memory and window as its bytes.
const FRAMES_A_DATAGRAM: usize = 6;

/// The longest wait altogether, and the longest time between two arrivals of a flow. C++ waits up to 10 ms for each ACK,
/// QUIC 25 ms (RFC 9000 §18.2). A longer wait would save few ACKs and keep much in memory at the sender.
const MAX_DELAY: Duration = Duration::from_millis(25);

/// How long and for how many frames an ACK may wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckPatience {
    pub(crate) delay: Duration,
    pub(crate) frames: usize,
}

impl Acknowledger {
    /// Takes note that `number` is to be acknowledged. Beyond [`MAX_PENDING_RANGES`] the oldest are forgotten; the
    /// sender then resends, and the frames are filtered.
    #[inline]
    pub(crate) fn add(&mut self, number: u64, frames: usize, now: Instant) {
        self.due.insert(number);
        self.frames += frames.max(FRAMES_A_DATAGRAM);
        self.since.get_or_insert(now);
        if let Some(interval) = self.last.replace(now).map(|last| now.saturating_since(last))
            && !interval.is_zero()
        {
            let before = if self.interval.is_zero() { interval } else { self.interval };
            self.interval = (before * 3 + interval) / 4;
        }
        if self.due.len() > MAX_PENDING_RANGES {
            self.due.pop_first();
        }
    }

    /// Lets the next ACK leave at once: something is out of order, the peer waits for room in its window, or the
    /// session begins or ends.
    pub(crate) fn hurry(&mut self) {
        self.hurry = true;
    }

    /// Says whether an ACK is due.
    pub(crate) fn is_due(&self, now: Instant, patience: AckPatience) -> bool {
        self.since.is_some()
            && (self.hurry
                || self.frames >= patience.frames
                || self.wait_ends(patience).is_some_and(|at| at <= now))
    }

    /// Returns when an ACK that waits will be due.
    pub(crate) fn due_at(&self, patience: AckPatience) -> Option<Instant> {
        if self.hurry || self.frames >= patience.frames {
            return None;
        }
        self.wait_ends(patience)
    }

    fn wait_ends(&self, patience: AckPatience) -> Option<Instant> {
        let (first, last) = (self.since?, self.last?);
        if self.interval > MAX_DELAY {
            return Some(last + patience.delay);
        }
        let end = first + MAX_DELAY.max(patience.delay);
        if last + self.interval > end {
            // The next one would come too late: an ACK that leaves now can go along with an answer, and tells the peer
            // the true round trip.
            return Some(last);
        }
        Some(end.min(last + patience.delay.max(self.interval * 2)))
    }

    /// Appends one ACK of at most `max_len` bytes, and says whether that was possible. What does not fit stays due.
    pub(crate) fn emit(&mut self, arrivals: &Arrivals, max_len: usize, buf: &mut Vec<u8>) -> bool {
        let Some(oldest) = self.due.first().map(|range| range.start) else { return false };
        // The usual case: all that is due, and what arrived shortly before, newest first.
        let from = oldest.saturating_sub(REPEATED);
        let room = max_len.saturating_sub(AckRecords::HEAD_LEN) / AckRecords::RANGE_LEN;
        let records = arrivals.since(from).flat_map(wire_ranges);
        let any = if records.take(REPEATED_RANGES + 1).count() <= room.min(REPEATED_RANGES) {
            self.due.clear();
            emit_records(AckKind::Ack, arrivals.since(from).flat_map(wire_ranges), max_len, buf) > 0
        } else {
            emit_set(AckKind::Ack, &mut self.due, max_len, buf)
        };
        if self.due.is_empty() {
            (self.frames, self.since, self.hurry) = (0, None, false);
        } else {
            self.hurry = true;
        }
        any
    }
}

/// The missing datagrams that are to be asked for again.
///
/// A gap is reported with the next drain, that is at once. Where datagrams turn out to be late rather than lost, the
/// report waits as long as they were late, up to 25 ms, and the wait shrinks again while nothing is late.
#[derive(Debug, Default)]
pub(crate) struct Missing {
    due: RangeSet,
    /// When `due` may be reported.
    report_at: Option<Instant>,
    /// That moment has come: `due` is reported with the next drain.
    overdue: bool,
    /// How long a gap waits before it is reported.
    tolerance: Duration,
    /// Gaps reported of late, and when each was noticed.
    reported: VecDeque<(Range<u64>, Instant)>,
}

impl Missing {
    /// Takes note of a gap.
    pub(crate) fn add(&mut self, gap: Range<u64>, now: Instant) {
        if gap.is_empty() {
            return;
        }
        if self.reported.len() >= REMEMBERED_GAPS {
            self.reported.pop_front();
        }
        self.reported.push_back((gap.clone(), now));
        self.due.insert_range(gap);
        if self.due.len() > MAX_PENDING_RANGES {
            self.due.pop_first();
        }
        if self.report_at.is_none() && !self.overdue {
            self.report_at = Some(now + self.tolerance);
        }
    }

    /// Takes note of an arrival, and says whether that datagram had been missing.
    pub(crate) fn arrived(&mut self, number: u64, now: Instant) -> bool {
        let gap = self.reported.iter().rev().find(|(gap, _)| gap.contains(&number));
        if let Some(&(_, noticed)) = gap {
            let late = now.saturating_since(noticed);
            self.tolerance = self.tolerance.max(late + late / 4).min(MAX_TOLERANCE);
        }
        let was_missing = gap.is_some();
        if self.due.remove(number) {
            self.rest_if_done();
        }
        was_missing
    }

    /// Takes note of the time. A report that is due waits for the drain from then on, not for a timeout.
    pub(crate) fn on_timeout(&mut self, now: Instant) {
        if self.report_at.is_some_and(|at| at <= now) {
            self.report_at = None;
            self.overdue = true;
        }
    }

    /// Returns when the missing ones are to be reported, unless the drain is to do it already.
    pub(crate) fn report_at(&self) -> Option<Instant> {
        self.report_at
    }

    /// Says whether the missing ones are to be reported now.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        self.overdue || self.report_at.is_some_and(|at| at <= now)
    }

    /// Appends one NACK of at most `max_len` bytes.
    pub(crate) fn emit(&mut self, max_len: usize, buf: &mut Vec<u8>) -> bool {
        self.tolerance -= self.tolerance / 16;
        let any = emit_set(AckKind::Nack, &mut self.due, max_len, buf);
        self.rest_if_done();
        any
    }

    fn rest_if_done(&mut self) {
        if self.due.is_empty() {
            self.report_at = None;
            self.overdue = false;
        }
    }
}

fn emit_set(kind: AckKind, set: &mut RangeSet, max_len: usize, buf: &mut Vec<u8>) -> bool {
    let ranges = set.iter().cloned().flat_map(wire_ranges);
    let mut written = emit_records(kind, ranges, max_len, buf);
    let any = written > 0;
    while let Some(records) = set.first().map(|first| wire_ranges(first.clone()).count()) {
        if records > written {
            break;
        }
        written -= records;
        set.pop_first();
    }
    any
}

/// Returns a range as records: two where it runs over the wrap (spec 1.4).
fn wire_ranges(range: Range<u64>) -> impl Iterator<Item = NumberRange> {
    let wrap = (range.start | 0x00ff_ffff) + 1;
    let head = range.start..range.end.min(wrap);
    let tail = wrap.min(range.end)..range.end;
    [head, tail]
        .into_iter()
        .filter(|part| !part.is_empty())
        .map(|part| NumberRange { first: to_wire(part.start), last: to_wire(part.end - 1) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use proto_core::{Reader, U24};

    fn read(buf: &[u8]) -> Vec<(u32, u32)> {
        let (_, records) = AckRecords::parse(&mut Reader::new(buf)).unwrap();
        records.map(|record| record.unwrap()).map(|r| (r.first.get(), r.last.get())).collect()
    }

    #[test]
    fn an_ack_repeats_what_came_shortly_before() {
        let (mut arrivals, mut acks, mut buf) = (Arrivals::default(), Acknowledger::default(), vec![]);
        for n in 0..5 {
            arrivals.receive(U24::new(n));
        }
        acks.add(4, 1, Instant::ZERO);
        assert!(acks.emit(&arrivals, 100, &mut buf));
        assert_eq!(read(&buf), [(0, 4)]);
        assert!(!acks.emit(&arrivals, 100, &mut buf));
    }

    #[test]
    fn an_ack_waits_for_more_but_not_for_long_and_not_when_it_is_needed() {
        let patience = AckPatience { delay: Duration::from_millis(1), frames: 18 };
        let (at, late) = (Instant::from_millis(10), Instant::from_millis(11));
        let mut acks = Acknowledger::default();
        assert!(!acks.is_due(late, patience) && acks.due_at(patience).is_none());
        acks.add(0, 1, at);
        assert!(!acks.is_due(at, patience) && acks.is_due(late, patience));
        assert_eq!(acks.due_at(patience), Some(late));
        acks.add(1, 1, at);
        acks.add(2, 1, at);
        assert!(acks.is_due(at, patience), "three are enough");
        acks.emit(&Arrivals::default(), 100, &mut vec![]);
        acks.add(3, 1, at);
        assert!(!acks.is_due(at, patience));
        acks.hurry();
        assert!(acks.is_due(at, patience) && acks.due_at(patience).is_none());
    }

    #[test]
    fn what_does_not_fit_beside_short_datagrams_stays_due() {
        let (mut arrivals, mut acks, mut buf) = (Arrivals::default(), Acknowledger::default(), vec![]);
        for n in (0..40).filter(|n| n % 4 != 0) {
            arrivals.receive(U24::new(n));
            acks.add(u64::from(n), 1, Instant::ZERO);
        }
        assert!(!acks.emit(&arrivals, 8, &mut buf), "not even one record fits");
        let mut seen = vec![];
        for _ in 0..10 {
            buf.clear();
            if acks.emit(&arrivals, 31, &mut buf) {
                seen.extend(read(&buf));
            }
        }
        let all: Vec<(u32, u32)> = (0..10).map(|n| (4 * n + 1, 4 * n + 3)).collect();
        assert!(all.iter().all(|range| seen.contains(range)), "{seen:?}");
    }

    #[test]
    fn in_a_steady_flow_an_ack_waits_for_the_next_datagram() {
        let patience = AckPatience { delay: Duration::from_micros(500), frames: 300 };
        let mut acks = Acknowledger::default();
        for n in 0..20 {
            acks.add(n, 1, Instant::from_millis(2 * n));
            acks.emit(&Arrivals::default(), 100, &mut vec![]);
        }
        acks.add(20, 1, Instant::from_millis(40));
        let wait = acks.due_at(patience).unwrap().saturating_since(Instant::from_millis(40));
        assert!((3..=4).contains(&wait.as_millis()), "two intervals: {wait:?}");
        for n in 21..32 {
            acks.add(n, 1, Instant::from_millis(2 * n));
            assert!(!acks.is_due(Instant::from_millis(2 * n), patience), "{n}");
        }
        acks.add(32, 1, Instant::from_millis(64));
        assert!(acks.is_due(Instant::from_millis(64), patience), "the next one would come after 65 ms");
        acks.emit(&Arrivals::default(), 100, &mut vec![]);
        acks.add(35, 1, Instant::from_millis(10_000));
        let wait = acks.due_at(patience).unwrap().saturating_since(Instant::from_millis(10_000));
        assert_eq!(wait.as_micros(), 500, "a lone datagram is acknowledged soon");
    }

    #[test]
    fn in_a_slow_flow_every_other_arrival_is_acknowledged_at_once() {
        let patience = AckPatience { delay: Duration::from_micros(500), frames: 300 };
        let mut acks = Acknowledger::default();
        let due = (0..10).map(|n| {
            let at = Instant::from_millis(20 * n);
            acks.add(n, 1, at);
            let due = acks.is_due(at, patience);
            if due {
                acks.emit(&Arrivals::default(), 100, &mut vec![]);
            }
            due
        });
        let acks_sent: Vec<bool> = due.collect();
        assert_eq!(acks_sent, [0, 1, 0, 1, 0, 1, 0, 1, 0, 1].map(|sent| sent == 1));
    }

    #[test]
    fn ranges_over_the_wrap_become_two_records() {
        assert_eq!(wire_ranges((1 << 24) - 2..(1 << 24) + 3).count(), 2);
        assert_eq!(wire_ranges(5..6).count(), 1);
    }

    #[test]
    fn a_gap_is_reported_once_and_at_once() {
        let (mut missing, mut buf) = (Missing::default(), vec![]);
        missing.add(3..5, Instant::ZERO);
        assert!(missing.is_due(Instant::ZERO) && missing.emit(100, &mut buf));
        assert_eq!(read(&buf), [(3, 4)]);
        assert!(!missing.is_due(Instant::from_millis(100)));
    }

    #[test]
    fn reports_wait_for_datagrams_that_tend_to_be_late() {
        let (mut missing, mut buf) = (Missing::default(), vec![]);
        missing.add(1..2, Instant::ZERO);
        missing.emit(100, &mut buf);
        missing.arrived(1, Instant::from_millis(2));
        missing.add(5..6, Instant::from_millis(10));
        assert!(!missing.is_due(Instant::from_millis(11)), "the last one was 2 ms late");
        missing.arrived(5, Instant::from_millis(11));
        assert_eq!(missing.report_at(), None, "it came: there is nothing to report");
    }

    #[test]
    fn what_does_not_fit_goes_into_the_next_nack() {
        let (mut missing, mut buf) = (Missing::default(), vec![]);
        for n in 0..10 {
            missing.add(10 * n + 1..10 * n + 3, Instant::ZERO);
        }
        let mut seen = vec![];
        while missing.is_due(Instant::ZERO) {
            buf.clear();
            assert!(missing.emit(24, &mut buf));
            seen.extend(read(&buf));
        }
        assert_eq!(seen.len(), 10);
    }
}
