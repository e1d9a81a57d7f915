//! Which datagrams arrived: duplicates, gaps and numbers out of range.

use core::ops::Range;
use proto_core::U24;

use super::ranges::{RangeSet, unwrap};
use crate::limits::{MAX_DATAGRAM_JUMP, MAX_HISTORY_RANGES, MAX_NACK_SPAN};

/// What the number of a datagram says about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// It is new.
    New {
        /// Its full number.
        number: u64,
        /// The numbers before it that are now known to be missing; empty if none.
        gap: Range<u64>,
    },
    /// It was here before: acknowledge it again, but do not read it.
    Duplicate {
        /// Its full number.
        number: u64,
    },
    /// Its number is too old to tell, or too far ahead to be true.
    OutOfRange,
}

/// The history of received datagram numbers, as ranges.
///
/// It holds at most [`MAX_HISTORY_RANGES`] ranges (16 bytes each); older numbers count as out of range, and since a
/// sender resends frames under new numbers, nothing is lost by that.
#[derive(Debug, Default)]
pub(crate) struct Arrivals {
    seen: RangeSet,
    /// The number after the highest one believed in.
    next: u64,
    /// Numbers below are forgotten.
    floor: u64,
}

impl Arrivals {
    /// Judges `wire`, and takes note of it unless it is out of range.
    #[inline]
    pub(crate) fn receive(&mut self, wire: U24) -> Arrival {
        let Some(number) = unwrap(wire, self.next) else { return Arrival::OutOfRange };
        if number < self.floor || number > self.next + u64::from(MAX_DATAGRAM_JUMP) {
            return Arrival::OutOfRange;
        }
        let follows = number > 0 && self.seen.contains(number - 1);
        if !self.seen.insert(number) {
            return Arrival::Duplicate { number };
        }
        if self.seen.len() > MAX_HISTORY_RANGES
            && let Some(oldest) = self.seen.pop_first()
        {
            self.floor = oldest.end;
        }
        let mut gap = number..number;
        if number >= self.next {
            let missing = number - self.next;
            // A jump far ahead may be forged: it counts only once a second datagram confirms it. Otherwise the
            // true ones, behind it, would never be seen as missing again.
            if missing <= u64::from(MAX_NACK_SPAN) || follows {
                if missing <= u64::from(MAX_NACK_SPAN) {
                    gap = self.next..number;
                }
                self.next = number + 1;
            }
        }
        Arrival::New { number, gap }
    }

    /// Forgets that a datagram arrived, because what it held could not be taken.
    pub(crate) fn forget(&mut self, number: u64) {
        self.seen.remove(number);
    }

    /// Returns the numbers from the first one not seen up to `wire`, itself included; empty if it was seen.
    pub(crate) fn up_to(&self, wire: U24) -> Range<u64> {
        match unwrap(wire, self.next) {
            Some(number) if number >= self.next => self.next..number + 1,
            Some(number) if number >= self.floor && !self.seen.contains(number) => number..number + 1,
            Some(_) | None => self.next..self.next,
        }
    }

    /// Returns the highest number received.
    pub(crate) fn newest(&self) -> Option<u64> {
        self.seen.iter().next_back().map(|range| range.end - 1)
    }

    /// Returns the ranges received from `from` on, the newest first.
    pub(crate) fn since(&self, from: u64) -> impl Iterator<Item = Range<u64>> {
        self.seen.iter().rev().take_while(move |r| r.end > from).map(move |r| r.start.max(from)..r.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new(number: u64, gap: Range<u64>) -> Arrival {
        Arrival::New { number, gap }
    }

    #[test]
    fn gaps_duplicates_and_late_ones_are_told_apart() {
        let mut arrivals = Arrivals::default();
        assert_eq!(arrivals.receive(U24::new(0)), new(0, 0..0));
        assert_eq!(arrivals.receive(U24::new(3)), new(3, 1..3));
        assert_eq!(arrivals.receive(U24::new(2)), new(2, 2..2), "late: no gap");
        assert_eq!(arrivals.receive(U24::new(2)), Arrival::Duplicate { number: 2 });
        assert_eq!(arrivals.receive(U24::new(4)), new(4, 4..4));
    }

    #[test]
    fn one_forged_jump_does_not_hide_later_gaps() {
        let mut arrivals = Arrivals::default();
        for n in 0..10 {
            arrivals.receive(U24::new(n));
        }
        assert_eq!(arrivals.receive(U24::new(40_000)), new(40_000, 40_000..40_000));
        assert_eq!(arrivals.receive(U24::new(12)), new(12, 10..12));
        assert_eq!(arrivals.receive(U24::new(90_000)), Arrival::OutOfRange);
    }

    #[test]
    fn a_confirmed_jump_is_followed() {
        let mut arrivals = Arrivals::default();
        arrivals.receive(U24::new(0));
        arrivals.receive(U24::new(5_000));
        arrivals.receive(U24::new(5_001));
        assert_eq!(arrivals.receive(U24::new(5_003)), new(5_003, 5_002..5_003));
    }

    #[test]
    fn numbers_go_on_across_the_wrap() {
        let mut arrivals = Arrivals { next: (1 << 24) - 1, ..Arrivals::default() };
        arrivals.receive(U24::MAX);
        assert_eq!(arrivals.receive(U24::new(1)), new((1 << 24) + 1, 1 << 24..(1 << 24) + 1));
        assert_eq!(arrivals.receive(U24::MAX), Arrival::Duplicate { number: (1 << 24) - 1 });
    }

    #[test]
    fn the_history_is_bounded() {
        let mut arrivals = Arrivals::default();
        for n in 0..10_000 {
            arrivals.receive(U24::new(2 * n));
            assert!(arrivals.seen.len() <= MAX_HISTORY_RANGES);
        }
        assert_eq!(arrivals.receive(U24::new(1)), Arrival::OutOfRange);
    }

    #[test]
    fn a_forgotten_datagram_is_new_again() {
        let mut arrivals = Arrivals::default();
        arrivals.receive(U24::new(0));
        arrivals.forget(0);
        assert_eq!(arrivals.receive(U24::new(0)), new(0, 0..0));
    }
}
