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
    /// Further ahead than the window, or one hole too many: the frame cannot be taken now.
    BeyondWindow,
}

/// The reliable numbers received so far.
///
/// All below `base` were received; above it the set is kept as ranges, at most [`MAX_RELIABLE_RANGES`] of 16 bytes.
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
        if number - self.base > u64::from(MAX_RELIABLE_AHEAD) || self.above.len() >= MAX_RELIABLE_RANGES {
            return Verdict::BeyondWindow;
        }
        Verdict::New(number)
    }

    /// Takes note that the frame with this number was taken.
    #[inline]
    pub(crate) fn mark(&mut self, number: u64) {
        if number != self.base {
            self.above.insert(number);
            return;
        }
        self.base += 1;
        if self.above.first().is_some_and(|range| range.start == self.base)
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
    fn the_number_of_holes_is_bounded() {
        let mut filter = ReliableFilter::default();
        let beyond = (1_u32..40_000)
            .filter(|n| match filter.check(U24::new(2 * n)) {
                Verdict::New(number) => {
                    filter.mark(number);
                    false
                }
                Verdict::Duplicate => panic!("all are new"),
                Verdict::BeyondWindow => true,
            })
            .count();
        assert!(beyond > 0 && filter.above.len() <= MAX_RELIABLE_RANGES);
        assert_eq!(filter.check(U24::new(0)), Verdict::New(0), "the hole itself can always be filled");
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
