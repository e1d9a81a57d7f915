//! Announces that are passed on take only a share of an interface's bitrate (spec 1.6.4).

use crate::{DestinationHash, wire::OwnedPacket};
use alloc::collections::{BTreeMap, BTreeSet};
use core::time::Duration;
use proto_core::Instant;

/// How many announces wait for one interface. At about 600 bytes each that is 2.4 MiB; further ones are dropped.
pub const MAX_QUEUED_ANNOUNCES: usize = 4_096;
/// How long an announce waits before it is dropped.
pub const QUEUED_ANNOUNCE_LIFE: Duration = Duration::from_secs(3 * 60 * 60);
/// The bitrate taken for an interface that reports less, or none.
pub const MINIMUM_BITRATE: u64 = 5;

/// The announces that wait for one interface, one a destination.
#[derive(Clone, Debug)]
pub(crate) struct AnnounceQueue {
    waiting: BTreeMap<DestinationHash, Waiting>,
    /// The fewest hops first, then the oldest.
    order: BTreeSet<Rank>,
    /// When the next announce may leave.
    allowed_at: Instant,
    arrivals: u64,
}

#[derive(Clone, Debug)]
struct Waiting {
    packet: OwnedPacket,
    emitted: u64,
    since: Instant,
    rank: Rank,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    hops: u8,
    arrival: u64,
    destination: DestinationHash,
}

/// The speed that announces may have on an interface.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// Bits a second.
    pub(crate) bitrate: u64,
    /// The share of it, 0.0 to 1.0.
    pub(crate) cap: f64,
}

impl Pace {
    /// Returns how long nothing may follow a frame of `len` bytes. Neither a bitrate nor a share of nothing divide by
    /// zero.
    #[allow(clippy::cast_precision_loss, reason = "bitrates and lengths are far below 2^53")]
    fn pause(self, len: usize) -> Duration {
        let rate = self.bitrate.max(MINIMUM_BITRATE) as f64 * self.cap.clamp(0.000_1, 1.0);
        Duration::try_from_secs_f64(len as f64 * 8.0 / rate).unwrap_or(QUEUED_ANNOUNCE_LIFE)
    }
}

/// What became of an announce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// It may leave now.
    Now,
    /// It waits.
    Queued,
    /// Too many wait.
    Full,
}

impl AnnounceQueue {
    /// Creates an empty queue.
    pub(crate) const fn new() -> Self {
        Self { waiting: BTreeMap::new(), order: BTreeSet::new(), allowed_at: Instant::ZERO, arrivals: 0 }
    }

    /// Takes the interface's time for a frame of `len` bytes if nothing waits for it.
    pub(crate) fn take_turn(&mut self, now: Instant, pace: Pace, len: usize) -> bool {
        let free = self.waiting.is_empty() && now >= self.allowed_at;
        if free {
            self.allowed_at = now + pace.pause(len);
        }
        free
    }

    /// Says whether an announce may leave, and queues it when not. One that waits already is replaced if `emitted`,
    /// the time of the announce, is later.
    pub(crate) fn admit(
        &mut self,
        now: Instant,
        pace: Pace,
        packet: &OwnedPacket,
        emitted: u64,
    ) -> Admission {
        let head = packet.as_packet();
        if self.take_turn(now, pace, head.encoded_len()) {
            return Admission::Now;
        }
        let destination = head.destination;
        match self.waiting.get(&destination) {
            Some(older) if older.emitted >= emitted => return Admission::Queued,
            Some(older) => _ = self.order.remove(&older.rank),
            None if self.waiting.len() >= MAX_QUEUED_ANNOUNCES => return Admission::Full,
            None => {}
        }
        self.arrivals += 1;
        let rank = Rank { hops: head.hops, arrival: self.arrivals, destination };
        self.order.insert(rank);
        self.waiting.insert(destination, Waiting { packet: packet.clone(), emitted, since: now, rank });
        Admission::Queued
    }

    /// Returns the announce whose turn it is, with the fewest hops and among these the oldest.
    pub(crate) fn pop(&mut self, now: Instant, pace: Pace) -> Option<OwnedPacket> {
        if now < self.allowed_at {
            return None;
        }
        loop {
            let rank = self.order.pop_first()?;
            let Some(waiting) = self.waiting.remove(&rank.destination) else { continue };
            if now.saturating_since(waiting.since) <= QUEUED_ANNOUNCE_LIFE {
                self.allowed_at = now + pace.pause(waiting.packet.as_packet().encoded_len());
                return Some(waiting.packet);
            }
        }
    }

    /// Drops all that wait.
    pub(crate) fn clear(&mut self) {
        self.waiting.clear();
        self.order.clear();
    }

    /// Returns how many wait.
    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Returns when the next one may leave.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        (!self.waiting.is_empty()).then_some(self.allowed_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Context, DestinationType, Packet, PacketType};
    use alloc::vec::Vec;

    const PACE: Pace = Pace { bitrate: 1_600, cap: 0.5 };

    fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    /// A frame of 100 bytes, which takes a second at [`PACE`].
    fn announce(number: u16, hops: u8) -> OwnedPacket {
        let mut destination = [0; 16];
        destination[..2].copy_from_slice(&number.to_be_bytes());
        let packet = Packet::new(
            PacketType::Announce,
            DestinationType::Single,
            DestinationHash::new(destination),
            Context::None,
            &[1; 81],
        );
        OwnedPacket::new(&Packet { hops, ..packet })
    }

    #[test]
    fn announces_leave_at_the_cap_the_nearest_and_oldest_first() {
        let mut queue = AnnounceQueue::new();
        assert_eq!(queue.admit(at(0), PACE, &announce(1, 5), 1), Admission::Now);
        for (number, hops) in [(2, 3), (3, 2), (4, 2)] {
            assert_eq!(queue.admit(at(0), PACE, &announce(number, hops), 1), Admission::Queued);
        }
        let mut sent = Vec::new();
        while let Some(deadline) = queue.deadline() {
            assert_eq!(queue.pop(deadline - Duration::from_nanos(1), PACE), None);
            let packet = queue.pop(deadline, PACE).unwrap();
            sent.push((deadline.as_millis(), packet.as_packet().destination.as_bytes()[1]));
        }
        assert_eq!(sent, [(1_000, 3), (2_000, 4), (3_000, 2)]);
    }

    #[test]
    fn a_later_announce_of_a_destination_replaces_the_one_that_waits() {
        let mut queue = AnnounceQueue::new();
        queue.admit(at(0), PACE, &announce(1, 1), 1);
        for (hops, emitted) in [(4, 10), (5, 11), (1, 9)] {
            queue.admit(at(0), PACE, &announce(2, hops), emitted);
        }
        assert_eq!(queue.len(), 1);
        assert_eq!(queue.pop(at(1_000), PACE).map(|packet| packet.as_packet().hops), Some(5));
        assert_eq!(queue.pop(at(9_000), PACE), None);
    }

    #[test]
    fn a_full_queue_drops_and_old_announces_are_forgotten() {
        let mut queue = AnnounceQueue::new();
        for number in 0..=4_096 {
            assert_ne!(queue.admit(at(0), PACE, &announce(number, 1), 1), Admission::Full);
        }
        assert_eq!(queue.admit(at(0), PACE, &announce(5_000, 1), 1), Admission::Full);
        assert_eq!(queue.pop(at(3 * 3_600_000 + 1), PACE), None);
        assert_eq!(queue.len(), 0);
    }

    #[test]
    fn an_interface_that_is_down_and_reports_no_bitrate_does_not_divide_by_zero() {
        let mut queue = AnnounceQueue::new();
        let pace = Pace { bitrate: 0, cap: 0.0 };
        assert_eq!(queue.admit(at(0), pace, &announce(1, 1), 1), Admission::Now);
        assert_eq!(queue.admit(at(1), pace, &announce(2, 1), 1), Admission::Queued);
        assert!(queue.deadline().unwrap() > at(1_000_000));
    }
}
