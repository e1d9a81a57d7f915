//! How fast parts come, and how long to wait for them (spec 1.12).

use core::time::Duration;
use proto_core::Instant;

/// What a link knows before the first part of a resource came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LinkPace {
    /// The round-trip time of the link.
    pub rtt: Duration,
    /// How many bytes the link's establishment took.
    pub establishment_bytes: u64,
    /// The rate that the last resource on the link came at.
    pub last_rate: Option<BitRate>,
}

impl LinkPace {
    /// Returns the rate to expect.
    pub(super) fn rate(&self) -> BitRate {
        self.last_rate.unwrap_or_else(|| BitRate::measured(self.establishment_bytes, self.rtt))
    }
}

impl Default for LinkPace {
    fn default() -> Self {
        Self { rtt: Duration::from_millis(500), establishment_bytes: ESTABLISHMENT_BYTES, last_rate: None }
    }
}

/// Bits a second, at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BitRate(u64);

impl BitRate {
    /// Returns the rate of so many bytes in that time.
    pub(super) fn measured(bytes: u64, time: Duration) -> Self {
        let nanos = time.as_nanos().max(1_000);
        let bits = u128::from(bytes) * 8 * 1_000_000_000 / nanos;
        Self(u64::try_from(bits).unwrap_or(u64::MAX).max(1))
    }

    pub(super) const fn bytes_per_second(self) -> u64 {
        self.0 / 8
    }

    /// Returns how long so many bytes take.
    pub(super) fn time_for(self, bytes: u64) -> Duration {
        let nanos = u128::from(bytes) * 8 * 1_000_000_000 / u128::from(self.0);
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)).min(LONGEST)
    }
}

/// The rounds of one resource: a request, and the parts that answer it.
#[derive(Clone, Debug)]
pub(super) struct Rounds {
    rate: BitRate,
    requested_at: Instant,
    round_bytes: u64,
    /// Whether a round came in whole, so that the rate is measured.
    is_measured: bool,
}

impl Rounds {
    pub(super) fn new(link: &LinkPace, now: Instant) -> Self {
        Self { rate: link.rate(), requested_at: now, round_bytes: 0, is_measured: false }
    }

    pub(super) const fn on_request(&mut self, now: Instant) {
        self.requested_at = now;
        self.round_bytes = 0;
    }

    pub(super) const fn on_part(&mut self, len: usize) {
        self.round_bytes = self.round_bytes.saturating_add(len as u64);
    }

    /// All parts of the round came. Returns the round's rate.
    pub(super) fn on_round(&mut self, now: Instant) -> BitRate {
        self.rate = BitRate::measured(self.round_bytes, now.saturating_since(self.requested_at));
        self.is_measured = true;
        self.rate
    }

    /// Returns the rate for the next resource on the link.
    pub(super) fn measured_rate(&self) -> Option<BitRate> {
        self.is_measured.then_some(self.rate)
    }

    /// Returns how long to wait after the last sign of life.
    pub(super) fn patience(&self, expected: &Expected) -> Duration {
        let factor = if self.is_measured { FACTOR } else { FIRST_FACTOR };
        let part = expected.part_size as u64;
        let parts = self.rate.time_for((expected.parts as u64).saturating_mul(part)).saturating_mul(factor);
        let map = if expected.map { self.rate.time_for(part).saturating_mul(7) / 2 } else { Duration::ZERO };
        let retries = RETRY_GRACE.saturating_mul(expected.retries);
        parts.min(LONGEST) + map.min(LONGEST) + GRACE + retries
    }
}

/// What a receiver waits for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected {
    /// How many parts.
    pub parts: usize,
    /// How long a part is.
    pub part_size: usize,
    /// Whether more of the hash map was asked for.
    pub map: bool,
    /// How many times it was waited in vain before.
    pub retries: u32,
}

/// What a link request, its proof and the round-trip time's packet take together.
const ESTABLISHMENT_BYTES: u64 = 287;

/// How many times the expected time of the parts to wait before a round came in.
const FIRST_FACTOR: u32 = 4;

/// The same, once the rate is measured.
const FACTOR: u32 = 2;

/// Added to every wait.
const GRACE: Duration = Duration::from_millis(250);

/// Added to a wait for every one before it that was in vain.
const RETRY_GRACE: Duration = Duration::from_millis(500);

/// No wait is longer, however slow the link was said to be.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_wait_is_four_times_the_expected_time_and_later_ones_twice() {
        let link = LinkPace { rtt: Duration::from_secs(1), establishment_bytes: 250, last_rate: None };
        let mut rounds = Rounds::new(&link, Instant::ZERO);
        let expected = Expected { parts: 4, part_size: 500, map: false, retries: 0 };
        // 2000 bytes at 250 a second.
        assert_eq!(rounds.patience(&expected), Duration::from_millis(4 * 8_000 + 250));
        rounds.on_request(Instant::ZERO);
        (0..4).for_each(|_| rounds.on_part(500));
        let rate = rounds.on_round(Instant::from_millis(2_000));
        assert_eq!(rate.bytes_per_second(), 1_000);
        let expected = Expected { map: true, retries: 2, ..expected };
        assert_eq!(rounds.patience(&expected), Duration::from_millis(2 * 2_000 + 1_750 + 250 + 1_000));
        assert_eq!(rounds.measured_rate(), Some(rate));
    }

    #[test]
    fn a_link_without_time_or_rate_waits_neither_no_time_nor_for_ever() {
        for (rtt, bytes) in
            [(Duration::ZERO, 0), (Duration::MAX, 0), (Duration::ZERO, u64::MAX), (Duration::MAX, 1)]
        {
            let link = LinkPace { rtt, establishment_bytes: bytes, last_rate: None };
            let rounds = Rounds::new(&link, Instant::ZERO);
            let expected = Expected { parts: 75, part_size: usize::MAX, map: true, retries: 16 };
            let patience = rounds.patience(&expected);
            assert!(patience >= GRACE && patience < 3 * LONGEST);
        }
    }
}
