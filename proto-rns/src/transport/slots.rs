//! A table whose entries have deadlines.

use alloc::vec::Vec;
use core::hash::{Hash, Hasher};
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use proto_core::{Deadlines, Instant};
use siphasher::sip::SipHasher13;

/// Entries by key, each with a deadline or none. Every operation costs O(log n) at most; looking one up, O(1).
///
/// Entries are visited in the order of their slots, which depends on nothing but the order of operations, so that
/// equal inputs give equal outputs.
#[derive(Clone, Debug)]
pub(crate) struct Slots<K, V> {
    /// Keys are hashes that peers have a hand in, so they are hashed again under a secret key, but cheaply.
    index: HashMap<K, u32, FixedState>,
    entries: Vec<Option<(K, V)>>,
    free: Vec<u32>,
    deadlines: Deadlines,
}

impl<K: Copy + Eq + Hash, V> Slots<K, V> {
    pub(crate) fn new(hash_key: &[u8; 16]) -> Self {
        Self {
            index: HashMap::with_hasher(FixedState::with_seed(secret_seed(hash_key))),
            entries: Vec::new(),
            free: Vec::new(),
            deadlines: Deadlines::new(),
        }
    }

    /// Puts an entry in the table and returns the one it replaces.
    pub(crate) fn insert(&mut self, key: K, value: V, deadline: Option<Instant>) -> Option<V> {
        let replaced = self.remove(&key);
        let slot = self.free.pop().unwrap_or_else(|| {
            self.entries.push(None);
            // No table comes near four thousand million entries.
            u32::try_from(self.entries.len() - 1).unwrap_or(u32::MAX)
        });
        if let Some(entry) = self.entries.get_mut(slot as usize) {
            *entry = Some((key, value));
        }
        self.index.insert(key, slot);
        self.deadlines.set(slot, deadline);
        replaced
    }

    pub(crate) fn remove(&mut self, key: &K) -> Option<V> {
        let slot = self.index.remove(key)?;
        self.deadlines.set(slot, None);
        self.free.push(slot);
        self.entries.get_mut(slot as usize)?.take().map(|(_, value)| value)
    }

    /// Removes the entries for which `keep` says no.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&K, &mut V) -> bool) {
        let mut over = Vec::new();
        for (key, value) in self.entries.iter_mut().flatten() {
            if !keep(key, value) {
                over.push(*key);
            }
        }
        over.iter().for_each(|key| _ = self.remove(key));
    }

    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        let slot = *self.index.get(key)?;
        self.entries.get(slot as usize)?.as_ref().map(|(_, value)| value)
    }

    pub(crate) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        let slot = *self.index.get(key)?;
        self.entries.get_mut(slot as usize)?.as_mut().map(|(_, value)| value)
    }

    /// Moves the deadline of an entry that there is.
    pub(crate) fn set_deadline(&mut self, key: &K, deadline: Option<Instant>) {
        if let Some(slot) = self.index.get(key) {
            self.deadlines.set(*slot, deadline);
        }
    }

    /// Returns an entry whose deadline has come, the earliest first. It stays, without a deadline.
    pub(crate) fn due(&mut self, now: Instant) -> Option<(K, &mut V)> {
        let slot = self.deadlines.expire(now)?;
        self.entries.get_mut(slot as usize)?.as_mut().map(|(key, value)| (*key, value))
    }

    pub(crate) fn contains(&self, key: &K) -> bool {
        self.index.contains_key(key)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.entries.iter().flatten().map(|(key, value)| (key, value))
    }

    pub(crate) fn len(&self) -> usize {
        self.index.len()
    }

    /// Returns the earliest deadline.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.deadlines.next()
    }
}

/// Returns a seed that tells nothing of the key.
fn secret_seed(hash_key: &[u8; 16]) -> u64 {
    let mut hasher = SipHasher13::new_with_key(hash_key);
    hasher.write(b"slots");
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: u64) -> Instant {
        Instant::from_nanos(nanos)
    }

    #[test]
    fn entries_come_due_in_the_order_of_their_deadlines_and_stay() {
        let mut slots = Slots::new(&[0; 16]);
        for (key, deadline) in [(1, 30), (2, 10), (3, 20)] {
            slots.insert(key, (), Some(at(deadline)));
        }
        slots.set_deadline(&3, Some(at(5)));
        slots.remove(&1);
        assert_eq!(slots.deadline(), Some(at(5)));
        let mut due = Vec::new();
        while let Some((key, ())) = slots.due(at(100)) {
            due.push(key);
        }
        assert_eq!(due, [3, 2]);
        assert_eq!((slots.len(), slots.deadline()), (2, None));
    }

    #[test]
    fn slots_are_used_again() {
        let mut slots = Slots::new(&[0; 16]);
        for key in 0..1_000 {
            slots.insert(key, key, Some(at(key)));
            slots.remove(&(key.wrapping_sub(2)));
        }
        assert!(slots.entries.len() <= 4, "{}", slots.entries.len());
        slots.retain(|key, _| *key == 999);
        assert_eq!(slots.iter().collect::<Vec<_>>(), [(&999, &999)]);
    }
}
