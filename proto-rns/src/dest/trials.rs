//! A limit on the work that garbage can cause at a destination with many ratchets.

use core::time::Duration;
use proto_core::Instant;

/// Trying a ratchet costs a key agreement. The newest few may always be tried; older ones come out of a budget that
/// refills with time, so that a flood of garbage cannot cost more than [`PER_SECOND`](Self::PER_SECOND) agreements a
/// second beyond that.
#[derive(Clone, Copy, Debug)]
pub(super) struct TrialBudget {
    left: u32,
    refilled: Instant,
}

impl TrialBudget {
    /// Ratchets so new are tried for every message.
    const ALWAYS: usize = 4;
    /// The budget's size and how much of it comes back in a second.
    const PER_SECOND: u32 = 1_024;

    /// Says whether the ratchet of this age, counted in rotations, may be tried, and charges for it.
    pub(super) fn allows(&mut self, now: Instant, age: usize) -> bool {
        if age < Self::ALWAYS {
            return true;
        }
        let elapsed = now.saturating_since(self.refilled);
        if elapsed >= Duration::from_millis(10) {
            let refill = elapsed.as_millis().saturating_mul(u128::from(Self::PER_SECOND)) / 1_000;
            let refill = u32::try_from(refill).unwrap_or(Self::PER_SECOND);
            self.left = self.left.saturating_add(refill).min(Self::PER_SECOND);
            self.refilled = now;
        }
        let allowed = self.left > 0;
        self.left = self.left.saturating_sub(1);
        allowed
    }
}

impl Default for TrialBudget {
    fn default() -> Self {
        Self { left: Self::PER_SECOND, refilled: Instant::ZERO }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn garbage_exhausts_the_budget_but_not_the_newest_ratchets() {
        let mut budget = TrialBudget::default();
        let tried = |budget: &mut TrialBudget, now| (0..512).filter(|age| budget.allows(now, *age)).count();
        let total: usize = (0..10).map(|_| tried(&mut budget, Instant::ZERO)).sum();
        assert_eq!(total, 1_024 + 10 * 4);
        assert_eq!(tried(&mut budget, Instant::from_millis(100)), 4 + 102);
    }
}
