//! The way back of proofs (spec 1.14).

use crate::{DestinationHash, PacketHash, iface::InterfaceId};
use alloc::{vec, vec::Vec};
use core::time::Duration;
use proto_core::Instant;

/// How long the way back is remembered.
pub const REVERSE_TIMEOUT: Duration = Duration::from_secs(8 * 60);

/// For each packet that was forwarded, between which interfaces: a ring that drops the oldest when it is full.
///
/// Every packet that is forwarded adds a way and most drop one, so the index is a chain for each bucket through the ring
/// itself. Adding a way touches one bucket; dropping the oldest touches nothing, because a chain ends where its numbers
/// are older than the oldest. An entry takes about 70 bytes.
#[derive(Clone, Debug)]
pub(crate) struct ReverseTable {
    /// The ways by age, from `oldest` on, at their numbers modulo its length.
    ring: Vec<Entry>,
    /// The number of the oldest way, and of the next one.
    oldest: u64,
    next: u64,
    /// The number of the youngest way in each bucket, plus one; 0 for none.
    buckets: Vec<u64>,
    secret: u64,
    capacity: usize,
}

/// Between which interfaces a packet was forwarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Way {
    /// Where it came from.
    pub(crate) received: InterfaceId,
    /// Where it went, and the proof must come from.
    pub(crate) outbound: InterfaceId,
    pub(crate) since: Instant,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    packet: DestinationHash,
    way: Way,
    /// The number of the next older way in the bucket, plus one; 0 for none.
    older: u64,
    /// It was proved.
    gone: bool,
}

impl ReverseTable {
    /// Ways that there is room for at first.
    const FIRST: usize = 256;

    pub(crate) fn new(capacity: usize, hash_key: &[u8; 16]) -> Self {
        let secret = hash_key.first_chunk().map_or(1, |half| u64::from_le_bytes(*half)) | 1;
        Self { ring: Vec::new(), oldest: 0, next: 0, buckets: Vec::new(), secret, capacity: capacity.max(1) }
    }

    /// Notes that a packet went from `received` to `outbound`.
    pub(crate) fn insert(
        &mut self,
        now: Instant,
        packet: &PacketHash,
        received: InterfaceId,
        outbound: InterfaceId,
    ) {
        if self.len() >= self.capacity {
            self.drop_oldest();
        } else if self.len() >= self.buckets.len() {
            self.grow();
        }
        // A packet that is forwarded again, which its filter hardly lets happen, is found by its youngest way.
        let packet = packet.truncated();
        self.push(Entry { packet, way: Way { received, outbound, since: now }, older: 0, gone: false });
    }

    /// Returns the way of the packet that a proof is for.
    pub(crate) fn get(&self, packet: DestinationHash) -> Option<Way> {
        self.find(packet).and_then(|number| self.entry(number)).map(|entry| entry.way)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&DestinationHash, &Way)> {
        let entries = (self.oldest..self.next).filter_map(|number| self.entry(number));
        entries.filter(|entry| !entry.gone).map(|entry| (&entry.packet, &entry.way))
    }

    /// Forgets a way: a packet is proved once.
    pub(crate) fn remove(&mut self, packet: DestinationHash) {
        while let Some(number) = self.find(packet)
            && let Some(entry) = self.entry_mut(number)
        {
            entry.gone = true;
        }
    }

    pub(crate) fn expire(&mut self, now: Instant) {
        while self.deadline().is_some_and(|at| at <= now) {
            self.drop_oldest();
        }
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.entry(self.oldest)
            .filter(|_| self.oldest < self.next)
            .map(|entry| entry.way.since + REVERSE_TIMEOUT)
    }

    fn len(&self) -> usize {
        usize::try_from(self.next - self.oldest).unwrap_or(usize::MAX)
    }

    /// Returns the number of a packet's way.
    fn find(&self, packet: DestinationHash) -> Option<u64> {
        let mut link = self.buckets.get(self.bucket(packet)).copied()?;
        while let Some(number) = link.checked_sub(1).filter(|number| *number >= self.oldest) {
            let entry = self.entry(number)?;
            if entry.packet == packet && !entry.gone {
                return Some(number);
            }
            link = entry.older;
        }
        None
    }

    /// Adds a way, for which there must be room.
    fn push(&mut self, mut entry: Entry) {
        let (number, bucket) = (self.next, self.bucket(entry.packet));
        if let Some(head) = self.buckets.get_mut(bucket) {
            entry.older = core::mem::replace(head, number + 1);
        }
        let place = self.place(number);
        match self.ring.get_mut(place) {
            Some(slot) => *slot = entry,
            None => self.ring.push(entry),
        }
        self.next = number + 1;
    }

    fn drop_oldest(&mut self) {
        self.oldest = self.next.min(self.oldest + 1);
    }

    /// Doubles the room and sorts the ways into the new buckets.
    fn grow(&mut self) {
        let room = (self.buckets.len() * 2).max(Self::FIRST);
        let kept: Vec<Entry> =
            (self.oldest..self.next).filter_map(|number| self.entry(number).copied()).collect();
        self.buckets = vec![0; room];
        self.ring = Vec::with_capacity(room.min(self.capacity));
        (self.oldest, self.next) = (0, 0);
        kept.into_iter().for_each(|entry| self.push(Entry { older: 0, ..entry }));
    }

    /// Returns a packet's bucket. Its hash is as good as random, but a peer may have picked it.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the product's upper half is below the number of buckets"
    )]
    fn bucket(&self, packet: DestinationHash) -> usize {
        let word = packet.as_bytes().first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
        let mixed = (word ^ self.secret).wrapping_mul(self.secret);
        ((u128::from(mixed) * self.buckets.len() as u128) >> 64) as usize
    }

    /// Returns the place of a number in the ring, which is as long as there are buckets, or as ways are allowed.
    #[allow(clippy::cast_possible_truncation, reason = "the remainder is below the ring's length")]
    fn place(&self, number: u64) -> usize {
        (number % self.buckets.len().min(self.capacity).max(1) as u64) as usize
    }

    fn entry(&self, number: u64) -> Option<&Entry> {
        self.ring.get(self.place(number))
    }

    fn entry_mut(&mut self, number: u64) -> Option<&mut Entry> {
        let place = self.place(number);
        self.ring.get_mut(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(seconds: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(seconds)
    }

    fn packet(number: u8) -> PacketHash {
        PacketHash::new([number; 32])
    }

    #[test]
    fn the_ring_drops_the_oldest_when_full_and_all_by_age() {
        let mut table = ReverseTable::new(2, &[0; 16]);
        for number in 1..=3 {
            table.insert(at(u64::from(number)), &packet(number), InterfaceId(1), InterfaceId(2));
        }
        let known =
            |table: &ReverseTable| (1..=3).filter(|n| table.get(packet(*n).truncated()).is_some()).count();
        assert_eq!(known(&table), 2);
        assert_eq!(table.get(packet(1).truncated()), None);
        assert_eq!(table.deadline(), Some(at(482)));
        table.expire(at(482));
        assert_eq!(known(&table), 1);
        table.remove(packet(3).truncated());
        table.expire(at(483));
        assert_eq!((known(&table), table.deadline()), (0, None));
    }

    proptest! {
        #[test]
        fn it_knows_what_a_plain_list_would(ops in prop::collection::vec((0..40_u8, 0..3_u8), 0..400)) {
            let mut table = ReverseTable::new(20, &[7; 16]);
            let mut list: Vec<(u8, u32, bool)> = Vec::new();
            for (number, (byte, op)) in (0..).zip(ops) {
                if op < 2 {
                    if list.len() == 20 {
                        list.remove(0);
                    }
                    list.push((byte, number, false));
                    table.insert(at(1), &packet(byte), InterfaceId(number), InterfaceId(2));
                } else {
                    list.iter_mut().filter(|known| known.0 == byte).for_each(|known| known.2 = true);
                    table.remove(packet(byte).truncated());
                }
                for byte in 0..40 {
                    let youngest = list.iter().rev().find(|known| known.0 == byte && !known.2);
                    let known = youngest.map(|known| InterfaceId(known.1));
                    prop_assert_eq!(table.get(packet(byte).truncated()).map(|way| way.received), known);
                }
                prop_assert_eq!(table.iter().count(), list.iter().filter(|known| !known.2).count());
            }
        }
    }
}
