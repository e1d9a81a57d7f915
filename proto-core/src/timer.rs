//! Deadlines of many peers in one heap.

use crate::Instant;
use alloc::vec::Vec;

/// One deadline a slot, kept in an indexed heap: setting one costs O(log n), asking for the next O(1).
///
/// Slots are small numbers (a slab's indices). Memory is 24 bytes a slot ever used.
#[derive(Clone, Debug, Default)]
pub struct Deadlines {
    /// A binary heap of (deadline, slot), the earliest first; ties go to the smaller slot.
    heap: Vec<(Instant, u32)>,
    /// Where each slot stands in the heap; `ABSENT` where it has no deadline.
    place: Vec<u32>,
}

const ABSENT: u32 = u32::MAX;

impl Deadlines {
    /// Creates an empty set.
    pub const fn new() -> Self {
        Self { heap: Vec::new(), place: Vec::new() }
    }

    /// Sets, moves or removes the deadline of `slot`.
    pub fn set(&mut self, slot: u32, at: Option<Instant>) {
        let place = self.place_of(slot);
        match (at, place) {
            (None, None) => {}
            (None, Some(place)) => self.remove(place),
            (Some(at), None) => {
                let index = slot as usize;
                if self.place.len() <= index {
                    self.place.resize(index + 1, ABSENT);
                }
                self.heap.push((at, slot));
                self.sift_up(self.heap.len() - 1);
            }
            (Some(at), Some(place)) => {
                let Some(entry) = self.heap.get_mut(place) else { return };
                let before = entry.0;
                entry.0 = at;
                if at < before {
                    self.sift_up(place);
                } else if at > before {
                    self.sift_down(place);
                }
            }
        }
    }

    /// Removes and returns a slot whose deadline is at or before `now`, the earliest first.
    pub fn expire(&mut self, now: Instant) -> Option<u32> {
        let &(at, slot) = self.heap.first()?;
        if at > now {
            return None;
        }
        self.remove(0);
        Some(slot)
    }

    /// Returns the earliest deadline.
    pub fn next(&self) -> Option<Instant> {
        self.heap.first().map(|&(at, _)| at)
    }

    /// Returns the deadline of `slot`.
    pub fn get(&self, slot: u32) -> Option<Instant> {
        self.heap.get(self.place_of(slot)?).map(|&(at, _)| at)
    }

    /// Returns how many slots have a deadline.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Says whether no slot has a deadline.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    fn place_of(&self, slot: u32) -> Option<usize> {
        self.place.get(slot as usize).filter(|&&place| place != ABSENT).map(|&place| place as usize)
    }

    fn remove(&mut self, place: usize) {
        if let Some(&(_, slot)) = self.heap.get(place) {
            self.note(slot, ABSENT);
        }
        let _ = self.heap.swap_remove(place);
        if place < self.heap.len() {
            let place = self.sift_up(place);
            self.sift_down(place);
        }
    }

    fn sift_up(&mut self, mut place: usize) -> usize {
        while place > 0 {
            let parent = (place - 1) / 2;
            if self.heap.get(place) >= self.heap.get(parent) {
                break;
            }
            self.swap(place, parent);
            place = parent;
        }
        self.settle(place);
        place
    }

    fn sift_down(&mut self, mut place: usize) {
        loop {
            let (left, right) = (2 * place + 1, 2 * place + 2);
            let Some(at_left) = self.heap.get(left) else { break };
            let child = match self.heap.get(right) {
                Some(at_right) if at_right < at_left => right,
                _ => left,
            };
            if self.heap.get(place) <= self.heap.get(child) {
                break;
            }
            self.swap(place, child);
            place = child;
        }
        self.settle(place);
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.heap.swap(a, b);
        self.settle(a);
        self.settle(b);
    }

    /// Notes the place of the entry that now stands at `place`.
    fn settle(&mut self, place: usize) {
        if let Some(&(_, slot)) = self.heap.get(place) {
            self.note(slot, u32::try_from(place).unwrap_or(ABSENT));
        }
    }

    fn note(&mut self, slot: u32, place: u32) {
        if let Some(noted) = self.place.get_mut(slot as usize) {
            *noted = place;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_agrees_with_a_sorted_map(ops in prop::collection::vec((0_u32..20, prop::option::of(0_u64..50)), 0..200)) {
            let (mut heap, mut model) = (Deadlines::new(), BTreeMap::new());
            for (slot, at) in ops {
                heap.set(slot, at.map(Instant::from_nanos));
                match at {
                    Some(at) => { model.insert(slot, at); }
                    None => { model.remove(&slot); }
                }
                prop_assert_eq!(heap.len(), model.len());
                prop_assert_eq!(heap.next().map(Instant::as_nanos), model.values().min().copied());
                prop_assert_eq!(heap.get(slot).map(Instant::as_nanos), model.get(&slot).copied());
            }
            let mut last = Instant::ZERO;
            while let Some(next) = heap.next() {
                prop_assert!(next >= last);
                last = next;
                let slot = heap.expire(next).unwrap();
                prop_assert_eq!(model.remove(&slot), Some(next.as_nanos()));
            }
            prop_assert!(model.is_empty());
        }
    }

    #[test]
    fn nothing_expires_early() {
        let mut heap = Deadlines::new();
        heap.set(4, Some(Instant::from_nanos(10)));
        assert_eq!(heap.expire(Instant::from_nanos(9)), None);
        assert_eq!(heap.expire(Instant::from_nanos(10)), Some(4));
        assert_eq!(heap.expire(Instant::from_nanos(10)), None);
    }
}
