//! Trying again.

use core::time::Duration;
use proto_core::{Instant, Rng};

use crate::Error;

/// How a lost connection is made again: exponential backoff with full jitter, and the first attempt at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reconnect {
    /// The longest wait before the second attempt; it doubles with each further one.
    pub base: Duration,
    /// The longest wait of all.
    pub cap: Duration,
    /// How long a connection must last for the next loss to count as the first.
    pub healthy_after: Duration,
    /// Attempts in a row before giving up.
    pub max_attempts: Option<u32>,
    /// How long to try altogether before giving up.
    pub max_elapsed: Option<Duration>,
    /// The longest wait that a server may ask for with `Retry-After`.
    pub max_retry_after: Duration,
    /// Whether messages that were not sent wait for the new connection, or fail.
    pub keep_waiting: bool,
}

impl Default for Reconnect {
    fn default() -> Self {
        Self {
            base: Duration::from_millis(100),
            cap: Duration::from_secs(30),
            healthy_after: Duration::from_secs(60),
            max_attempts: None,
            max_elapsed: None,
            max_retry_after: Duration::from_secs(300),
            keep_waiting: true,
        }
    }
}

/// Where a connection stands in its attempts.
#[derive(Clone, Debug, Default)]
pub(super) struct Attempts {
    in_a_row: u32,
    since: Option<Instant>,
    up_since: Option<Instant>,
}

impl Attempts {
    /// The connection is up.
    pub(super) const fn on_up(&mut self, now: Instant) {
        self.up_since = Some(now);
    }

    /// The connection was lost or not made. Returns how long to wait, or `None` to give up.
    pub(super) fn on_failure(
        &mut self,
        now: Instant,
        policy: &Reconnect,
        error: &Error,
        retry_after: Option<Duration>,
        rng: &mut Rng,
    ) -> Option<Duration> {
        let up = self.up_since.take();
        if up.is_some_and(|up| now.saturating_since(up) >= policy.healthy_after) {
            *self = Self::default();
        }
        self.in_a_row = self.in_a_row.saturating_add(1);
        let since = *self.since.get_or_insert(now);
        let is_too_many = policy.max_attempts.is_some_and(|most| self.in_a_row > most);
        let is_too_long = policy.max_elapsed.is_some_and(|most| now.saturating_since(since) >= most);
        if !error.is_transient() || is_too_many || is_too_long {
            return None;
        }
        let asked = retry_after.unwrap_or_default().min(policy.max_retry_after);
        Some(self.jittered(policy, rng).max(asked))
    }

    /// Which attempt the next one is, from 1.
    pub(super) const fn number(&self) -> u32 {
        self.in_a_row
    }

    /// Anything between nothing and the exponential limit ("full jitter"); nothing the first time.
    fn jittered(&self, policy: &Reconnect, rng: &mut Rng) -> Duration {
        let Some(doublings) = self.in_a_row.checked_sub(2) else { return Duration::ZERO };
        let limit = policy.base.saturating_mul(1_u32 << doublings.min(20)).min(policy.cap);
        let nanos = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        Duration::from_nanos(rng.below(nanos.saturating_add(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Code, Phase};

    fn lost() -> Error {
        Error::new(Code::Reset, Phase::Idle)
    }

    fn waits(policy: &Reconnect, count: u32, seed: u8) -> alloc::vec::Vec<Option<Duration>> {
        let mut rng = Rng::new([seed; 32]);
        let mut attempts = Attempts::default();
        (0..count).map(|_| attempts.on_failure(Instant::ZERO, policy, &lost(), None, &mut rng)).collect()
    }

    #[test]
    fn the_first_attempt_is_at_once_and_later_ones_stay_below_a_doubling_limit() {
        let policy = Reconnect::default();
        let waits = waits(&policy, 40, 3);
        assert_eq!(waits[0], Some(Duration::ZERO));
        for (n, wait) in waits.iter().enumerate().skip(1) {
            let limit = policy.base * (1 << (n - 1).min(20));
            assert!(wait.unwrap() <= limit.min(policy.cap), "{n} {wait:?}");
        }
        assert!(waits.iter().flatten().any(|wait| *wait > Duration::from_secs(5)));
    }

    #[test]
    fn the_seed_decides() {
        let policy = Reconnect::default();
        assert_eq!(waits(&policy, 9, 1), waits(&policy, 9, 1));
        assert_ne!(waits(&policy, 9, 1), waits(&policy, 9, 2));
    }

    #[test]
    fn it_gives_up_after_so_many_attempts_or_at_once_when_it_is_no_use() {
        let policy = Reconnect { max_attempts: Some(2), ..Reconnect::default() };
        assert_eq!(waits(&policy, 3, 1).iter().filter(|wait| wait.is_some()).count(), 2);
        let mut attempts = Attempts::default();
        let wrong = Error::new(Code::CertWrongName, Phase::Tls);
        let mut rng = Rng::new([0; 32]);
        assert_eq!(attempts.on_failure(Instant::ZERO, &policy, &wrong, None, &mut rng), None);
    }

    #[test]
    fn a_healthy_connection_forgives_and_a_server_may_ask_for_time() {
        let policy = Reconnect::default();
        let mut attempts = Attempts::default();
        let mut rng = Rng::new([0; 32]);
        for _ in 0..9 {
            attempts.on_failure(Instant::ZERO, &policy, &lost(), None, &mut rng);
        }
        attempts.on_up(Instant::ZERO);
        let later = Instant::ZERO + Duration::from_secs(61);
        assert_eq!(attempts.on_failure(later, &policy, &lost(), None, &mut rng), Some(Duration::ZERO));
        let asked = attempts.on_failure(later, &policy, &lost(), Some(Duration::from_secs(7)), &mut rng);
        assert_eq!(asked, Some(Duration::from_secs(7)));
    }
}
