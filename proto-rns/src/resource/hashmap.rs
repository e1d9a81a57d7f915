//! The hash map of a segment: one short hash a part (spec 1.12, step 4).

use crate::{
    crypto::RunningHash,
    wire::{HashmapUpdate, MapHash, MapHashes, ResourceAdvertisement, ResourceSalt},
};
use alloc::vec::Vec;

/// The map hashes of so many parts in a row all differ (COLLISION_GUARD).
pub(super) const COLLISION_GUARD: usize = 224;

/// How many hashes travel at a time.
pub(super) const STRETCH: usize = ResourceAdvertisement::MAX_HASHES;

/// The hash over a part's bytes, before the salt that makes it a map hash of one segment.
#[derive(Clone, Debug)]
pub(super) struct PartHash(RunningHash);

impl PartHash {
    pub(super) fn new(part: &[u8]) -> Self {
        let mut hash = RunningHash::new();
        hash.update(part);
        Self(hash)
    }

    pub(super) fn with(&self, salt: ResourceSalt) -> MapHash {
        let mut hash = self.0.clone();
        hash.update(salt.as_bytes());
        MapHash::new(hash.finish().first_chunk().copied().unwrap_or_default())
    }
}

/// Says whether two hashes are equal that could be asked for at a time.
pub(super) fn collides(map: &[[u8; 4]]) -> bool {
    // As words they are compared several at a time.
    let words: Vec<u32> = map.iter().map(|hash| u32::from_ne_bytes(*hash)).collect();
    let near = |end: usize| words.get(end.saturating_sub(COLLISION_GUARD)..end).unwrap_or_default();
    words.iter().enumerate().any(|(index, word)| near(index).contains(word))
}

/// Appends map hashes as they lie in messages.
pub(super) fn write_hashes(hashes: &[MapHash], out: &mut Vec<u8>) {
    hashes.iter().for_each(|hash| out.extend_from_slice(hash.as_bytes()));
}

/// What a receiver knows of a hash map, and which parts it has.
#[derive(Clone, Debug)]
pub(super) struct PartMap {
    known: Vec<MapHash>,
    received: Vec<bool>,
    /// How many parts from the first on are there without a gap.
    contiguous: usize,
}

impl PartMap {
    /// Starts with the advertisement's stretch.
    pub(super) fn new(parts: usize, first: MapHashes<'_>) -> Self {
        let mut known = Vec::with_capacity(parts);
        known.extend(first.iter().take(parts));
        Self { known, received: alloc::vec![false; parts], contiguous: 0 }
    }

    pub(super) const fn parts(&self) -> usize {
        self.received.len()
    }

    pub(super) const fn contiguous(&self) -> usize {
        self.contiguous
    }

    pub(super) const fn known(&self) -> usize {
        self.known.len()
    }

    pub(super) const fn is_complete(&self) -> bool {
        self.contiguous == self.received.len()
    }

    /// Returns the last map hash known.
    pub(super) fn last_known(&self) -> Option<MapHash> {
        self.known.last().copied()
    }

    /// Takes in the next stretch. Says whether it was that.
    pub(super) fn extend(&mut self, update: &HashmapUpdate<'_>) -> bool {
        let missing = self.parts() - self.known.len();
        let is_next = usize::try_from(update.stretch).is_ok_and(|stretch| {
            self.known.len().is_multiple_of(STRETCH) && stretch == self.known.len() / STRETCH
        });
        if !is_next || missing == 0 || update.hashmap.len() != missing.min(STRETCH) {
            return false;
        }
        self.known.extend(update.hashmap.iter());
        true
    }

    /// Returns the missing parts with known hashes among the first `window` that are not contiguous.
    pub(super) fn missing(&self, window: usize) -> impl Iterator<Item = MapHash> + '_ {
        let range = self.contiguous..self.contiguous.saturating_add(window).min(self.known.len());
        let known = self.known.get(range.clone()).unwrap_or_default();
        let received = self.received.get(range).unwrap_or_default();
        known.iter().zip(received).filter(|(_, received)| !**received).map(|(hash, _)| *hash)
    }

    /// Returns the place of a missing part with this hash among those in reach.
    pub(super) fn find(&self, hash: MapHash) -> Option<usize> {
        let end = self.contiguous.saturating_add(COLLISION_GUARD).min(self.known.len());
        let known = self.known.get(self.contiguous..end)?;
        let received = self.received.get(self.contiguous..end)?;
        let offset = known.iter().zip(received).position(|(known, received)| *known == hash && !received)?;
        Some(self.contiguous + offset)
    }

    /// Notes that a part is there.
    pub(super) fn mark(&mut self, index: usize) {
        if let Some(received) = self.received.get_mut(index) {
            *received = true;
        }
        while self.received.get(self.contiguous).is_some_and(|received| *received) {
            self.contiguous += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ResourceHash;
    use alloc::vec;

    fn hashes(range: core::ops::Range<u32>) -> Vec<u8> {
        range.flat_map(u32::to_be_bytes).collect()
    }

    fn update(stretch: u32, hashmap: &[u8]) -> HashmapUpdate<'_> {
        HashmapUpdate {
            hash: ResourceHash::new([0; 32]),
            stretch,
            hashmap: MapHashes::parse(hashmap).unwrap(),
        }
    }

    #[test]
    fn equal_hashes_within_the_guard_collide_and_farther_apart_do_not() {
        let hash = |i: usize| u32::try_from(i).unwrap().to_be_bytes();
        let mut map: Vec<_> = (0..300).map(hash).collect();
        assert!(!collides(&map));
        map[COLLISION_GUARD] = hash(0);
        assert!(collides(&map));
        map[COLLISION_GUARD] = hash(COLLISION_GUARD);
        map[COLLISION_GUARD + 1] = hash(0);
        assert!(!collides(&map));
    }

    #[test]
    fn only_the_next_stretch_extends_the_map() {
        let first = hashes(0..74);
        let mut map = PartMap::new(100, MapHashes::parse(&first).unwrap());
        let rest = hashes(74..100);
        assert!(!map.extend(&update(2, &rest)));
        assert!(!map.extend(&update(1, &rest[4..])));
        assert!(map.extend(&update(1, &rest)));
        assert!(!map.extend(&update(1, &rest)));
        assert_eq!((map.known(), map.parts()), (100, 100));
    }

    #[test]
    fn parts_out_of_order_close_the_gap_when_its_last_part_comes() {
        let all = hashes(0..5);
        let mut map = PartMap::new(5, MapHashes::parse(&all).unwrap());
        for index in [2, 0, 3] {
            let hash = MapHash::new(u32::to_be_bytes(index));
            assert_eq!(map.find(hash), Some(index as usize));
            map.mark(index as usize);
            assert_eq!(map.find(hash), None);
        }
        assert_eq!(map.contiguous(), 1);
        assert_eq!(
            map.missing(4).collect::<Vec<_>>(),
            vec![MapHash::new([0, 0, 0, 1]), MapHash::new([0, 0, 0, 4])]
        );
        map.mark(1);
        map.mark(4);
        assert!(map.is_complete());
    }
}
