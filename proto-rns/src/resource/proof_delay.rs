//! When the proof of a segment leaves (see [`ProofDelay`]).

use super::ProofDelay;
use core::time::Duration;
use proto_core::Instant;

/// Watches how soon the peer offers a next segment, and holds proofs back for a peer that their haste slows down.
#[derive(Clone, Debug)]
pub(super) struct ProofPacer {
    policy: ProofDelay,
    adapted: Duration,
    proved_at: Option<Instant>,
}

impl ProofPacer {
    pub(super) const fn new(policy: ProofDelay) -> Self {
        Self { policy, adapted: Duration::ZERO, proved_at: None }
    }

    /// Returns how long the proof of a segment waits that others follow.
    pub(super) const fn delay(&self) -> Duration {
        match self.policy {
            ProofDelay::Off => Duration::ZERO,
            ProofDelay::Always(delay) => delay,
            ProofDelay::Adaptive(_) => self.adapted,
        }
    }

    /// The proof of a segment that others follow left.
    pub(super) const fn on_proof(&mut self, now: Instant) {
        self.proved_at = Some(now);
    }

    /// The next segment was offered.
    pub(super) fn on_next_offer(&mut self, now: Instant, rtt: Duration) {
        let Some(proved_at) = self.proved_at.take() else { return };
        let ProofDelay::Adaptive(longest) = self.policy else { return };
        if now.saturating_since(proved_at) > rtt + SLOW {
            self.adapted = self.adapted.saturating_mul(2).max(FIRST_DELAY).min(longest);
        }
    }
}

/// A peer that takes so much longer than a round trip waits for something else than us: the reference looks every 50 ms.
const SLOW: Duration = Duration::from_millis(30);

/// The first delay that is tried.
const FIRST_DELAY: Duration = Duration::from_millis(2);

#[cfg(test)]
mod tests {
    use super::*;

    fn after_gap(pacer: &mut ProofPacer, millis: u64) -> Duration {
        pacer.on_proof(Instant::ZERO);
        pacer.on_next_offer(Instant::from_millis(millis), Duration::from_millis(1));
        pacer.delay()
    }

    #[test]
    fn only_a_slow_peer_is_waited_for_and_longer_while_that_is_not_enough() {
        let mut pacer = ProofPacer::new(ProofDelay::Adaptive(Duration::from_millis(5)));
        assert_eq!(after_gap(&mut pacer, 20), Duration::ZERO);
        assert_eq!(after_gap(&mut pacer, 50), Duration::from_millis(2));
        assert_eq!(after_gap(&mut pacer, 10), Duration::from_millis(2));
        assert_eq!(after_gap(&mut pacer, 50), Duration::from_millis(4));
        assert_eq!(after_gap(&mut pacer, 50), Duration::from_millis(5));
    }

    #[test]
    fn the_other_policies_do_not_adapt() {
        assert_eq!(after_gap(&mut ProofPacer::new(ProofDelay::Off), 90), Duration::ZERO);
        let always = ProofDelay::Always(Duration::from_millis(1));
        assert_eq!(after_gap(&mut ProofPacer::new(always), 90), Duration::from_millis(1));
    }
}
