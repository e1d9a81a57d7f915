//! Which packets were seen before (spec 1.6.2).

use alloc::{vec, vec::Vec};
use core::{array, hash::Hasher, mem};
use siphasher::sip::SipHasher13;

/// Two generations of fingerprints: when the current one is full it becomes the previous one.
///
/// A fingerprint is 64 bits under a secret key, so nobody can find packets that are taken for others; by chance one
/// new packet in 10^13 is. Tables grow as they fill, to 10 bytes an entry: 10 MiB for both generations of 500 000.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    secret: Secret,
    current: Fingerprints,
    previous: Fingerprints,
    capacity: usize,
}

impl Seen {
    /// Creates a memory of `capacity` entries a generation.
    pub(crate) fn new(capacity: usize, hash_key: &[u8; 16]) -> Self {
        Self {
            secret: Secret::new(hash_key),
            current: Fingerprints::new(),
            previous: Fingerprints::new(),
            capacity: capacity.max(1),
        }
    }

    pub(crate) fn contains(&self, entry: &[u8]) -> bool {
        let fingerprint = self.fingerprint(entry);
        self.current.contains(fingerprint) || self.previous.contains(fingerprint)
    }

    /// Adds an entry; false when it was there.
    pub(crate) fn insert(&mut self, entry: &[u8]) -> bool {
        let fingerprint = self.fingerprint(entry);
        if self.current.contains(fingerprint) || self.previous.contains(fingerprint) {
            return false;
        }
        if self.current.len >= self.capacity {
            self.previous = mem::replace(&mut self.current, Fingerprints::new());
        }
        self.current.insert(fingerprint);
        true
    }

    /// Forgets an entry, so that it counts as new when it comes again.
    pub(crate) fn remove(&mut self, entry: &[u8]) {
        let fingerprint = self.fingerprint(entry);
        self.current.remove(fingerprint);
        self.previous.remove(fingerprint);
    }

    fn fingerprint(&self, entry: &[u8]) -> u64 {
        self.secret.hash(entry).max(VACANT + 1)
    }
}

/// The key of a universal hash (NH, RFC 4418 §5.2, with 64-bit words): whoever does not know it finds no two entries
/// with the same fingerprint but by chance. Entries are hashes already, and taking a hash of a hash has to be cheap.
#[derive(Clone, Debug)]
struct Secret([u64; 6]);

impl Secret {
    fn new(key: &[u8; 16]) -> Self {
        Self(array::from_fn(|place| {
            let mut hasher = SipHasher13::new_with_key(key);
            hasher.write_usize(place);
            hasher.finish()
        }))
    }

    /// Hashes the first 32 bytes, and the length.
    #[allow(clippy::cast_possible_truncation, reason = "both halves of the sum are wanted")]
    fn hash(&self, entry: &[u8]) -> u64 {
        let mut words = [0; 4];
        for (word, bytes) in words.iter_mut().zip(entry.chunks(8)) {
            *word = match bytes.try_into() {
                Ok(whole) => u64::from_le_bytes(whole),
                Err(_) => bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
            };
        }
        let ([a, b, c, d], [k0, k1, k2, k3, k4, k5]) = (words, self.0);
        let product = |x: u64, y: u64| u128::from(x).wrapping_mul(u128::from(y));
        let sum = product(a.wrapping_add(k0), b.wrapping_add(k1))
            .wrapping_add(product(c.wrapping_add(k2), d.wrapping_add(k3)))
            .wrapping_add(product((entry.len() as u64).wrapping_add(k4), k5));
        let [low, high] = [sum as u64, (sum >> 64) as u64];
        low ^ high.rotate_left(32)
    }
}

/// A flat open-addressed set with linear probing, at most 4/5 full.
#[derive(Clone, Debug)]
struct Fingerprints {
    slots: Vec<u64>,
    len: usize,
}

const VACANT: u64 = 0;
const FIRST_SLOTS: usize = 1_280;

impl Fingerprints {
    const fn new() -> Self {
        Self { slots: Vec::new(), len: 0 }
    }

    fn contains(&self, fingerprint: u64) -> bool {
        self.probe(fingerprint).any(|(_, slot)| slot == fingerprint)
    }

    fn insert(&mut self, fingerprint: u64) {
        if self.len * 5 >= self.slots.len() * 4 {
            self.grow();
        }
        self.place(fingerprint);
        self.len += 1;
    }

    /// Removes an entry and moves those behind it up, so that no probe ends early.
    fn remove(&mut self, fingerprint: u64) {
        let Some((mut hole, _)) = self.probe(fingerprint).find(|(_, slot)| *slot == fingerprint) else {
            return;
        };
        self.len -= 1;
        let mut place = hole;
        loop {
            place = self.next(place);
            let moving = self.slots.get(place).copied().unwrap_or(VACANT);
            if moving == VACANT {
                break;
            }
            // The entry may move into the hole unless its home lies between the hole and its place.
            let home = self.home(moving);
            let stays =
                if hole <= place { (hole + 1..=place).contains(&home) } else { home > hole || home <= place };
            if !stays {
                self.set(hole, moving);
                hole = place;
            }
        }
        self.set(hole, VACANT);
    }

    fn grow(&mut self) {
        let slots = (self.slots.len() * 2).max(FIRST_SLOTS);
        let old = mem::replace(&mut self.slots, vec![VACANT; slots]);
        old.into_iter().filter(|slot| *slot != VACANT).for_each(|fingerprint| self.place(fingerprint));
    }

    fn place(&mut self, fingerprint: u64) {
        let mut place = self.home(fingerprint);
        while self.slots.get(place).is_some_and(|slot| *slot != VACANT) {
            place = self.next(place);
        }
        self.set(place, fingerprint);
    }

    /// Returns the occupied slots from the home of `fingerprint` on, with their places.
    fn probe(&self, fingerprint: u64) -> impl Iterator<Item = (usize, u64)> {
        let home = self.home(fingerprint);
        let (before, from) = self.slots.split_at_checked(home).unwrap_or_default();
        (home..)
            .zip(from)
            .chain((0..).zip(before))
            .map(|(place, slot)| (place, *slot))
            .take_while(|(_, slot)| *slot != VACANT)
    }

    /// Returns the place where the search for `fingerprint` starts: its share of the table's length.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the product's upper half is below the table's length"
    )]
    fn home(&self, fingerprint: u64) -> usize {
        ((u128::from(fingerprint) * self.slots.len() as u128) >> 64) as usize
    }

    fn next(&self, place: usize) -> usize {
        if place + 1 < self.slots.len() { place + 1 } else { 0 }
    }

    fn set(&mut self, place: usize, value: u64) {
        if let Some(slot) = self.slots.get_mut(place) {
            *slot = value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;
    use proptest::prelude::*;

    #[test]
    fn an_entry_is_remembered_for_at_least_one_generation() {
        let mut seen = Seen::new(100, &[1; 16]);
        for number in 0_u32..1_000 {
            assert!(seen.insert(&number.to_be_bytes()));
            for recent in number.saturating_sub(99)..=number {
                assert!(seen.contains(&recent.to_be_bytes()));
            }
        }
        assert!(!seen.contains(&0_u32.to_be_bytes()));
        assert!(!seen.insert(&999_u32.to_be_bytes()));
    }

    #[test]
    fn two_full_generations_take_ten_mebibytes() {
        let mut seen = Seen::new(500_000, &[1; 16]);
        (0_u32..1_000_000).for_each(|number| _ = seen.insert(&number.to_be_bytes()));
        let slots = seen.current.slots.len() + seen.previous.slots.len();
        assert!(slots * 8 <= 10 << 20, "{slots}");
        assert!((0_u32..1_000_000).all(|number| seen.contains(&number.to_be_bytes())));
        assert_eq!(
            (1_000_000_u32..2_000_000).filter(|number| seen.contains(&number.to_be_bytes())).count(),
            0
        );
    }

    proptest! {
        #[test]
        fn the_set_agrees_with_a_sorted_one(ops in prop::collection::vec((any::<bool>(), any::<u8>()), 0..600)) {
            let (mut set, mut model) = (Fingerprints::new(), BTreeSet::new());
            // Few homes at the table's end make long probes that wrap around.
            let spread = |byte: u8| u64::MAX - u64::from(byte % 64) - (u64::from(byte / 64) << 50);
            for (insert, byte) in ops {
                let fingerprint = spread(byte);
                if !insert {
                    set.remove(fingerprint);
                    model.remove(&fingerprint);
                } else if model.insert(fingerprint) {
                    set.insert(fingerprint);
                }
                prop_assert_eq!(set.len, model.len());
            }
            for byte in 0..=u8::MAX {
                prop_assert_eq!(set.contains(spread(byte)), model.contains(&spread(byte)));
            }
        }
    }
}
