//! The way back of proofs (spec 1.14).

use crate::{DestinationHash, PacketHash, iface::InterfaceId};
use alloc::collections::VecDeque;
use core::time::Duration;
use proto_core::Instant;

use super::slots::Slots;

/// How long the way back is remembered.
pub const REVERSE_TIMEOUT: Duration = Duration::from_secs(8 * 60);

/// For each packet that was forwarded, between which interfaces: a ring that drops the oldest when it is full.
///
/// An entry takes about 90 bytes.
#[derive(Clone, Debug)]
pub(crate) struct ReverseTable {
    ways: Slots<DestinationHash, Way>,
    /// The ways by age; some may be gone already.
    ages: VecDeque<(DestinationHash, Instant)>,
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

impl ReverseTable {
    pub(crate) fn new(capacity: usize, hash_key: &[u8; 16]) -> Self {
        Self { ways: Slots::new(hash_key), ages: VecDeque::new(), capacity }
    }

    /// Notes that a packet went from `received` to `outbound`.
    pub(crate) fn insert(
        &mut self,
        now: Instant,
        packet: &PacketHash,
        received: InterfaceId,
        outbound: InterfaceId,
    ) {
        while self.ages.len() >= self.capacity.max(1) {
            self.drop_oldest();
        }
        let packet = packet.truncated();
        self.ways.insert(packet, Way { received, outbound, since: now }, None);
        self.ages.push_back((packet, now));
    }

    /// Returns the way of the packet that a proof is for.
    pub(crate) fn get(&self, packet: DestinationHash) -> Option<Way> {
        self.ways.get(&packet).copied()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&DestinationHash, &Way)> {
        self.ways.iter()
    }

    /// Forgets a way: a packet is proved once.
    pub(crate) fn remove(&mut self, packet: DestinationHash) {
        self.ways.remove(&packet);
    }

    pub(crate) fn expire(&mut self, now: Instant) {
        while self.deadline().is_some_and(|at| at <= now) {
            self.drop_oldest();
        }
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.ages.front().map(|(_, since)| *since + REVERSE_TIMEOUT)
    }

    fn drop_oldest(&mut self) {
        let Some((packet, since)) = self.ages.pop_front() else { return };
        if self.ways.get(&packet).is_some_and(|way| way.since == since) {
            self.ways.remove(&packet);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
