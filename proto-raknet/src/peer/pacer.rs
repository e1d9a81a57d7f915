//! Token buckets: the pace of sending.

use core::time::Duration;
use proto_core::Instant;

/// A bucket that fills at a rate and is emptied by sending.
///
/// It may be overdrawn by one batch; sending then waits until it is positive again.
#[derive(Debug)]
pub(crate) struct Bucket {
    /// Bytes that may leave now, negative after an overdraft.
    tokens: i64,
    filled_at: Instant,
}

impl Bucket {
    pub(crate) const fn new(now: Instant) -> Self {
        Self { tokens: i64::MAX, filled_at: now }
    }

    /// Fills the bucket for the time that passed, up to `burst` bytes.
    pub(crate) fn fill(&mut self, now: Instant, rate: u64, burst: u64) {
        let elapsed = now.saturating_since(self.filled_at).as_nanos();
        let added = i64::try_from(elapsed * u128::from(rate) / 1_000_000_000).unwrap_or(i64::MAX);
        let burst = i64::try_from(burst).unwrap_or(i64::MAX);
        if added > 0 || self.tokens > burst {
            self.tokens = self.tokens.saturating_add(added).min(burst);
            self.filled_at = now;
        }
    }

    /// Says whether something may leave.
    pub(crate) const fn is_open(&self) -> bool {
        self.tokens > 0
    }

    /// Takes out what was sent.
    pub(crate) fn take(&mut self, bytes: usize) {
        self.tokens = self.tokens.saturating_sub(i64::try_from(bytes).unwrap_or(i64::MAX));
    }

    /// Returns when something may leave again at `rate`.
    pub(crate) fn opens_at(&self, rate: u64) -> Instant {
        if self.is_open() {
            return self.filled_at;
        }
        let missing = u128::from(self.tokens.unsigned_abs()) + 1;
        let nanos = missing * 1_000_000_000 / u128::from(rate.max(1)) + 1;
        self.filled_at + Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

/// What a session may send now: the optional bandwidth limit, and the congestion window spread over a round trip.
#[derive(Debug)]
pub(crate) struct Pacer {
    limit: Option<(u64, Bucket)>,
    window: Bucket,
    /// The rate that the window and the round trip amount to; `None` while unpaced.
    window_rate: Option<u64>,
}

impl Pacer {
    /// What may leave at once when the window is spread: timers are no finer than this.
    const WINDOW_BURST: Duration = Duration::from_millis(2);
    const MIN_WINDOW_BURST: u64 = 16 * 1_464;
    /// What may leave at once under a bandwidth limit.
    const LIMIT_BURST: Duration = Duration::from_millis(20);

    pub(crate) fn new(now: Instant, bandwidth_limit: Option<u64>) -> Self {
        Self {
            limit: bandwidth_limit.map(|rate| (rate, Bucket::new(now))),
            window: Bucket::new(now),
            window_rate: None,
        }
    }

    /// Sets the pace to 5/4 of `window` a round trip (RFC 9002 §7.7), or lifts it.
    pub(crate) fn set_window(&mut self, window_and_rtt: Option<(usize, Duration)>) {
        self.window_rate = window_and_rtt.and_then(|(window, rtt)| {
            let nanos = rtt.as_nanos();
            let rate = (window as u128 * 5 / 4 * 1_000_000_000).checked_div(nanos)?;
            Some(u64::try_from(rate).unwrap_or(u64::MAX))
        });
    }

    /// Says whether a batch may leave now.
    pub(crate) fn is_open(&mut self, now: Instant) -> bool {
        if let Some((rate, bucket)) = &mut self.limit {
            bucket.fill(now, *rate, burst(*rate, Self::LIMIT_BURST).max(2_000));
            if !bucket.is_open() {
                return false;
            }
        }
        let Some(rate) = self.window_rate else { return true };
        self.window.fill(now, rate, burst(rate, Self::WINDOW_BURST).max(Self::MIN_WINDOW_BURST));
        self.window.is_open()
    }

    /// Takes note of what was sent.
    pub(crate) fn on_sent(&mut self, bytes: usize) {
        if let Some((_, bucket)) = &mut self.limit {
            bucket.take(bytes);
        }
        if self.window_rate.is_some() {
            self.window.take(bytes);
        }
    }

    /// Returns when a batch may leave that may not now.
    pub(crate) fn opens_at(&self) -> Option<Instant> {
        let limit = self.limit.as_ref().filter(|(_, b)| !b.is_open()).map(|(rate, b)| b.opens_at(*rate));
        let window =
            self.window_rate.filter(|_| !self.window.is_open()).map(|rate| self.window.opens_at(rate));
        limit.max(window)
    }
}

fn burst(rate: u64, time: Duration) -> u64 {
    let bytes = u128::from(rate) * time.as_nanos() / 1_000_000_000;
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bandwidth_limit_holds_over_a_second() {
        let mut pacer = Pacer::new(Instant::ZERO, Some(100_000));
        let (mut now, mut sent) = (Instant::ZERO, 0);
        while now < Instant::from_millis(1_000) {
            if pacer.is_open(now) {
                pacer.on_sent(1_000);
                sent += 1_000;
            } else {
                let next = pacer.opens_at().unwrap();
                assert!(next > now, "no spin");
                now = next;
            }
        }
        assert!((95_000..=104_000).contains(&sent), "{sent}");
    }

    #[test]
    fn without_limit_and_window_all_may_leave() {
        let mut pacer = Pacer::new(Instant::ZERO, None);
        for _ in 0..1_000 {
            assert!(pacer.is_open(Instant::ZERO));
            pacer.on_sent(1_000_000);
        }
        assert_eq!(pacer.opens_at(), None);
    }

    #[test]
    fn a_window_is_spread_over_the_round_trip() {
        let mut pacer = Pacer::new(Instant::ZERO, None);
        pacer.set_window(Some((400_000, Duration::from_millis(100))));
        let (mut now, mut sent) = (Instant::ZERO, 0);
        while now < Instant::from_millis(50) {
            if pacer.is_open(now) {
                pacer.on_sent(1_464);
                sent += 1_464;
            } else {
                now = pacer.opens_at().unwrap();
            }
        }
        assert!((240_000..300_000).contains(&sent), "half a round trip of 5/4 window, and a burst: {sent}");
    }
}
