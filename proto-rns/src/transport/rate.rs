//! How often destinations announce, and which do so too often (spec 1.6.3).

use super::slots::Slots;
use crate::{DestinationHash, iface::AnnounceRate};
use alloc::{collections::VecDeque, vec::Vec};
use core::time::Duration;
use proto_core::Instant;

/// How many announces of a destination are remembered.
pub const RATE_TIMESTAMPS: usize = 16;
/// How long a destination that announces no more is remembered, beyond any block.
const MEMORY: Duration = Duration::from_secs(24 * 60 * 60);

/// The announce rates of destinations, at most 500 bytes each; the one that was silent the longest makes room.
#[derive(Clone, Debug)]
pub(crate) struct RateTable {
    rates: Slots<DestinationHash, Rate>,
    capacity: usize,
}

#[derive(Clone, Debug)]
struct Rate {
    last_accepted: Instant,
    violations: u32,
    blocked_until: Instant,
    timestamps: VecDeque<Instant>,
}

/// What is known of a destination's announces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateInfo {
    /// The destination.
    pub destination: DestinationHash,
    /// When the last announce that was not blocked came.
    pub last: Instant,
    /// How often it announced too soon; each announce in time makes up for one.
    pub violations: u32,
    /// Until when its announces are not passed on; in the past when they are.
    pub blocked_until: Instant,
    /// When the last announces came, at most [`RATE_TIMESTAMPS`].
    pub timestamps: Vec<Instant>,
}

impl RateTable {
    pub(crate) fn new(capacity: usize, hash_key: &[u8; 16]) -> Self {
        Self { rates: Slots::new(hash_key), capacity: capacity.max(1) }
    }

    /// Counts an announce and says whether it is not to be passed on.
    pub(crate) fn is_blocked(
        &mut self,
        now: Instant,
        destination: DestinationHash,
        limit: &AnnounceRate,
    ) -> bool {
        let Some(rate) = self.rates.get_mut(&destination) else {
            self.make_room();
            let timestamps = VecDeque::from([now]);
            let rate = Rate { last_accepted: now, violations: 0, blocked_until: Instant::ZERO, timestamps };
            self.rates.insert(destination, rate, Some(now + MEMORY));
            return false;
        };
        if rate.timestamps.len() >= RATE_TIMESTAMPS {
            rate.timestamps.pop_front();
        }
        rate.timestamps.push_back(now);
        let mut blocked = now <= rate.blocked_until;
        if !blocked {
            if now.saturating_since(rate.last_accepted) < limit.target {
                rate.violations = rate.violations.saturating_add(1);
            } else {
                rate.violations = rate.violations.saturating_sub(1);
            }
            if rate.violations > limit.grace {
                rate.blocked_until = rate.last_accepted + limit.target + limit.penalty;
                blocked = true;
            } else {
                rate.last_accepted = now;
            }
        }
        let until = now.max(rate.blocked_until) + MEMORY;
        self.rates.set_deadline(&destination, Some(until));
        blocked
    }

    pub(crate) fn expire(&mut self, now: Instant) {
        while let Some((destination, _)) = self.rates.due(now) {
            self.rates.remove(&destination);
        }
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.rates.deadline()
    }

    pub(crate) fn infos(&self) -> Vec<RateInfo> {
        let info = |(destination, rate): (&DestinationHash, &Rate)| RateInfo {
            destination: *destination,
            last: rate.last_accepted,
            violations: rate.violations,
            blocked_until: rate.blocked_until,
            timestamps: rate.timestamps.iter().copied().collect(),
        };
        self.rates.iter().map(info).collect()
    }

    fn make_room(&mut self) {
        while self.rates.len() >= self.capacity {
            let Some((oldest, _)) = self.rates.due(Instant::from_nanos(u64::MAX)) else { return };
            self.rates.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: AnnounceRate =
        AnnounceRate { target: Duration::from_secs(100), grace: 1, penalty: Duration::from_secs(50) };
    const DESTINATION: DestinationHash = DestinationHash::new([1; 16]);

    fn at(seconds: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(seconds)
    }

    #[test]
    fn a_destination_is_blocked_after_its_grace_until_target_and_penalty_are_over() {
        let mut table = RateTable::new(9, &[0; 16]);
        let blocked: Vec<bool> =
            [10, 20, 30, 169, 170, 171].map(|time| table.is_blocked(at(time), DESTINATION, &LIMIT)).into();
        // The second violation at 30 blocks until 20 + 100 + 50.
        assert_eq!(blocked, [false, false, true, true, true, false]);
        let info = table.infos();
        assert_eq!((info[0].violations, info[0].timestamps.len()), (1, 6));
    }

    #[test]
    fn announces_in_time_make_up_for_violations() {
        let mut table = RateTable::new(9, &[0; 16]);
        for round in 0..10 {
            assert!(!table.is_blocked(at(1_000 * round), DESTINATION, &LIMIT));
            assert!(!table.is_blocked(at(1_000 * round + 1), DESTINATION, &LIMIT));
        }
        assert_eq!(table.infos()[0].timestamps.len(), RATE_TIMESTAMPS);
    }

    #[test]
    fn the_table_is_bounded_and_forgets() {
        let mut table = RateTable::new(3, &[0; 16]);
        for number in 0..9 {
            table.is_blocked(at(u64::from(number)), DestinationHash::new([number; 16]), &LIMIT);
        }
        let first: Vec<u8> = table.infos().iter().map(|info| info.destination.as_bytes()[0]).collect();
        assert_eq!(first.len(), 3);
        assert!(first.iter().all(|number| *number >= 6));
        table.expire(at(90_000));
        assert_eq!((table.infos().len(), table.deadline()), (0, None));
    }
}
