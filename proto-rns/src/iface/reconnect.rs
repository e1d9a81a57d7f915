//! When a lost connection is tried again.

use core::time::Duration;
use proto_core::Instant;

/// Waits longer after each failure, up to a limit, and starts over after a connection that held.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reconnect {
    first: Duration,
    longest: Duration,
    max_tries: Option<u32>,
    tries: u32,
    connected: Option<Instant>,
}

impl Reconnect {
    /// How long a connection must hold to count as good.
    const STEADY: Duration = Duration::from_secs(20);

    /// Waits `first` after the first failure, doubling up to `longest`; gives up after `max_tries` in a row.
    pub(crate) const fn new(first: Duration, longest: Duration, max_tries: Option<u32>) -> Self {
        Self { first, longest, max_tries, tries: 0, connected: None }
    }

    /// Takes note of a connection.
    pub(crate) const fn connected(&mut self, now: Instant) {
        self.connected = Some(now);
    }

    /// Takes note of a failure or a loss, and returns when to try again, if at all.
    pub(crate) fn lost(&mut self, now: Instant) -> Option<Instant> {
        if self.connected.take().is_some_and(|since| now.saturating_since(since) >= Self::STEADY) {
            self.tries = 0;
        }
        if self.max_tries.is_some_and(|max| self.tries >= max) {
            return None;
        }
        let wait = self.first.saturating_mul(1_u32.checked_shl(self.tries.min(16)).unwrap_or(u32::MAX));
        self.tries = self.tries.saturating_add(1);
        Some(now + wait.min(self.longest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: Duration = Duration::from_secs(1);

    #[test]
    fn waits_double_up_to_the_limit_and_start_over_after_a_good_connection() {
        let mut reconnect = Reconnect::new(5 * S, 30 * S, None);
        let mut now = Instant::ZERO;
        let mut waits = [0; 5];
        for wait in &mut waits {
            let next = reconnect.lost(now).unwrap();
            *wait = next.saturating_since(now).as_secs();
            now = next;
        }
        assert_eq!(waits, [5, 10, 20, 30, 30]);
        reconnect.connected(now);
        assert_eq!(reconnect.lost(now + 60 * S), Some(now + 65 * S));
    }

    #[test]
    fn a_connection_that_is_lost_at_once_is_no_success() {
        let mut reconnect = Reconnect::new(5 * S, 300 * S, Some(3));
        for wait in [5, 10, 20] {
            reconnect.connected(Instant::ZERO);
            assert_eq!(reconnect.lost(Instant::ZERO + S), Some(Instant::ZERO + S + wait * S));
        }
        assert_eq!(reconnect.lost(Instant::ZERO + S), None);
    }
}
