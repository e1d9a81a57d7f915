//! The exact filter for reliable frames that arrive more than once.

use proto_core::U24;

use super::ranges::{RangeSet, unwrap};
use crate::limits::{MAX_RELIABLE_AHEAD, MAX_RELIABLE_RANGES};

/// What the filter says of a reliable number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Not seen before: [`mark`](ReliableFilter::mark) it once the frame is taken.
    New(u64),
    /// Seen before.
    Duplicate,
    /// Further ahead than the window: the frame cannot be taken now.
    BeyondWindow,
}

/// The reliable numbers received so far.
///
/// All below `base` were received, or are not waited for any more; above it the set is kept as ranges, at most
/// [`MAX_RELIABLE_RANGES`] of 16 bytes. With one more hole than that the oldest is given up: no sender has so many frames
/// in flight, so it was never meant to be filled (rak-rs uses two numbers for each ordered message).
#[derive(Debug, Default)]
pub(crate) struct ReliableFilter {
    base: u64,
    above: RangeSet,
}

impl ReliableFilter {
    /// Judges a number. At least half the range behind `base` counts as a duplicate, as in C++.
    #[inline]
    pub(crate) fn check(&self, wire: U24) -> Verdict {
        let number = match unwrap(wire, self.base) {
            Some(number) if number >= self.base => number,
            Some(_) | None => return Verdict::Duplicate,
        };
        if number == self.base {
            return Verdict::New(number);
        }
        if self.above.contains(number) {
            return Verdict::Duplicate;
        }
        if number - self.base > u64::from(MAX_RELIABLE_AHEAD) {
            return Verdict::BeyondWindow;
        }
        Verdict::New(number)
    }

    /// Takes note that the frame with this number was taken.
    #[inline]
    pub(crate) fn mark(&mut self, number: u64) {
        if number == self.base {
            self.base += 1;
        } else {
            self.above.insert(number);
        }
        let full = self.above.len() > MAX_RELIABLE_RANGES;
        if self.above.first().is_some_and(|range| full || range.start == self.base)
            && let Some(range) = self.above.pop_first()
        {
            self.base = range.end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn holes_fill_and_duplicates_are_seen() {
        let mut filter = ReliableFilter::default();
        for (number, verdict) in [
            (0, Verdict::New(0)),
            (2, Verdict::New(2)),
            (2, Verdict::Duplicate),
            (1, Verdict::New(1)),
            (0, Verdict::Duplicate),
            (0x00ff_ffff, Verdict::Duplicate),
            (200_000, Verdict::BeyondWindow),
        ] {
            assert_eq!(filter.check(U24::new(number)), verdict, "{number}");
            if let Verdict::New(number) = verdict {
                filter.mark(number);
            }
        }
        assert_eq!((filter.base, filter.above.len()), (3, 0));
    }

    #[test]
    fn it_goes_on_across_the_wrap() {
        let mut filter = ReliableFilter { base: (1 << 24) - 2, ..ReliableFilter::default() };
        for wire in [0x00ff_fffe, 0x00ff_ffff, 0, 1] {
            let Verdict::New(number) = filter.check(U24::new(wire)) else { panic!("{wire} is new") };
            filter.mark(number);
        }
        assert_eq!(filter.base, (1 << 24) + 2);
        assert_eq!(filter.check(U24::MAX), Verdict::Duplicate);
    }

    #[test]
    fn a_sender_that_skips_numbers_for_ever_is_followed() {
        let mut filter = ReliableFilter::default();
        for n in 1_u32..40_000 {
            let Verdict::New(number) = filter.check(U24::new(2 * n)) else { panic!("{n} is new") };
            filter.mark(number);
            assert!(filter.above.len() <= MAX_RELIABLE_RANGES);
        }
        assert_eq!(filter.check(U24::new(0)), Verdict::Duplicate, "the oldest holes are given up");
        assert_eq!(filter.check(U24::new(79_997)), Verdict::New(79_997), "the newer ones are not");
    }

    proptest! {
        #[test]
        fn every_number_passes_exactly_once(numbers in prop::collection::vec(0_u32..300, 0..900)) {
            let (mut filter, mut seen) = (ReliableFilter::default(), alloc::collections::BTreeSet::new());
            for number in numbers {
                let new = match filter.check(U24::new(number)) {
                    Verdict::New(full) => { filter.mark(full); true }
                    Verdict::Duplicate => false,
                    Verdict::BeyondWindow => panic!("within the window"),
                };
                prop_assert_eq!(new, seen.insert(number));
            }
        }
    }
}
