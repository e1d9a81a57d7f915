//! Sets of numbers kept as ranges.

use alloc::collections::VecDeque;
use core::ops::Range;
use proto_core::U24;

/// Returns the full number that `wire` stands for: the one nearest to `near` (spec 1.5, wraparound).
///
/// Inside the machine all 24-bit counters run as 64-bit numbers, so nothing but this function knows about the wrap.
/// `None` if the nearest one would lie before zero.
#[inline]
pub(crate) fn unwrap(wire: U24, near: u64) -> Option<u64> {
    let ahead = wire.distance_from(to_wire(near));
    if ahead < U24::HALF {
        Some(near + u64::from(ahead))
    } else {
        near.checked_sub(u64::from(U24::MAX.get() - ahead) + 1)
    }
}

/// Returns the low 24 bits of a full number, as they go on the wire.
#[inline]
pub(crate) fn to_wire(number: u64) -> U24 {
    #[allow(clippy::cast_possible_truncation, reason = "the low 24 bits are what is wanted")]
    U24::new(number as u32)
}

/// A set of numbers as sorted, disjoint, non-adjacent ranges.
///
/// Adding at the end costs O(1); elsewhere O(log n) to find and O(n) to make room. Each range takes 16 bytes. The
/// owner bounds the number of ranges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RangeSet {
    ranges: VecDeque<Range<u64>>,
}

impl RangeSet {
    /// Adds one number and says whether it was new.
    #[inline]
    pub(crate) fn insert(&mut self, number: u64) -> bool {
        match self.ranges.back_mut() {
            Some(last) if number == last.end => {
                last.end += 1;
                return true;
            }
            Some(last) if number > last.end => {
                self.ranges.push_back(number..number + 1);
                return true;
            }
            None => {
                self.ranges.push_back(number..number + 1);
                return true;
            }
            Some(_) => {}
        }
        if self.contains(number) {
            return false;
        }
        self.insert_range(number..number + 1);
        true
    }

    /// Adds all numbers of `range`.
    pub(crate) fn insert_range(&mut self, range: Range<u64>) {
        if range.is_empty() {
            return;
        }
        // The ranges from `from` up to (not including) `to` touch or overlap the new one and merge with it.
        let from = self.ranges.partition_point(|r| r.end < range.start);
        let to = self.ranges.partition_point(|r| r.start <= range.end);
        if from == to {
            self.ranges.insert(from, range);
            return;
        }
        let end = self.ranges.get(to - 1).map_or(range.end, |r| r.end.max(range.end));
        if let Some(first) = self.ranges.get_mut(from) {
            first.start = first.start.min(range.start);
            first.end = end;
        }
        if to - from > 1 {
            self.ranges.drain(from + 1..to);
        }
    }

    /// Removes one number and says whether it was there.
    pub(crate) fn remove(&mut self, number: u64) -> bool {
        let at = self.ranges.partition_point(|r| r.end <= number);
        let Some(range) = self.ranges.get_mut(at).filter(|r| r.start <= number) else { return false };
        let after = number + 1..range.end;
        range.end = number;
        let empty = range.is_empty();
        match (empty, after.is_empty()) {
            (true, true) => {
                self.ranges.remove(at);
            }
            (true, false) => *range = after,
            (false, true) => {}
            (false, false) => self.ranges.insert(at + 1, after),
        }
        true
    }

    /// Says whether `number` is in the set.
    #[inline]
    pub(crate) fn contains(&self, number: u64) -> bool {
        let at = self.ranges.partition_point(|r| r.end <= number);
        self.ranges.get(at).is_some_and(|r| r.start <= number)
    }

    /// Removes and returns the first range.
    pub(crate) fn pop_first(&mut self) -> Option<Range<u64>> {
        self.ranges.pop_front()
    }

    /// Returns the first range.
    pub(crate) fn first(&self) -> Option<&Range<u64>> {
        self.ranges.front()
    }

    /// Returns the ranges in rising order.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &Range<u64>> {
        self.ranges.iter()
    }

    /// Returns the number of ranges.
    pub(crate) fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Says whether the set is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Empties the set.
    pub(crate) fn clear(&mut self) {
        self.ranges.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{collections::BTreeSet, vec::Vec};
    use proptest::prelude::*;

    fn numbers(set: &RangeSet) -> Vec<u64> {
        set.iter().flat_map(Clone::clone).collect()
    }

    proptest! {
        #[test]
        fn it_agrees_with_a_set_of_numbers(ops in prop::collection::vec((0_u8..3, 0_u64..60, 0_u64..8), 0..120)) {
            let (mut set, mut model) = (RangeSet::default(), BTreeSet::new());
            for (op, number, len) in ops {
                match op {
                    0 => prop_assert_eq!(set.insert(number), model.insert(number)),
                    1 => prop_assert_eq!(set.remove(number), model.remove(&number)),
                    _ => {
                        set.insert_range(number..number + len);
                        model.extend(number..number + len);
                    }
                }
                prop_assert_eq!(set.contains(number), model.contains(&number));
                prop_assert_eq!(numbers(&set), model.iter().copied().collect::<Vec<_>>());
                let ranges: Vec<_> = set.iter().cloned().collect();
                prop_assert!(ranges.windows(2).all(|pair| pair[0].end < pair[1].start), "{ranges:?}");
            }
        }

        #[test]
        fn a_number_survives_the_wire_within_half_the_range(near in 0_u64..1 << 40, offset in -8_388_607_i64..8_388_607) {
            let number = near.checked_add_signed(offset);
            prop_assert_eq!(number.and_then(|n| unwrap(to_wire(n), near)), number);
        }
    }

    #[test]
    fn numbers_before_zero_do_not_exist() {
        assert_eq!(unwrap(U24::MAX, 0), None);
        assert_eq!(unwrap(U24::MAX, 1 << 24), Some((1 << 24) - 1));
    }
}
