//! Waiting a moment for an answer before going to sleep.

use proto_core::Instant;
use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use crate::Trust;

/// Decides whether a driver with nothing to do looks at its sockets again instead of sleeping.
///
/// Waking a sleeping thread costs tens of microseconds, often more than the peer needs for its answer. So after each
/// activity the driver keeps looking for a short while, as long as [that pays](Trust). Where a process runs several drivers none of them waits: it would keep the others from their work.
#[derive(Debug)]
pub(super) struct Spin {
    budget: Duration,
    until: Option<Instant>,
    trust: Trust,
}

/// What waiting amounts to at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// Look again soon.
    Look,
    /// Sleep until something happens.
    Sleep,
}

impl Spin {
    pub(super) fn new(budget: Duration) -> Self {
        DRIVERS.fetch_add(1, Ordering::Relaxed);
        Self { budget, until: None, trust: Trust::default() }
    }

    /// Says whether the driver is looking instead of sleeping.
    pub(super) const fn is_on(&self) -> bool {
        self.until.is_some()
    }

    /// Takes note that something arrived.
    pub(super) fn arrived(&mut self) {
        if self.until.take().is_some() {
            self.trust.gain();
        }
    }

    /// Nothing is left to do at `now`; `active` says whether there was something just before.
    pub(super) fn wait(&mut self, now: Instant, active: bool) -> Wait {
        match self.until {
            Some(until) if now < until => Wait::Look,
            Some(_) => {
                self.until = None;
                self.trust.lose();
                Wait::Sleep
            }
            None => {
                let look = active && !self.budget.is_zero() && self.is_worth_it();
                self.until = look.then(|| now + self.budget);
                if look { Wait::Look } else { Wait::Sleep }
            }
        }
    }

    fn is_worth_it(&mut self) -> bool {
        if drivers() > 1 {
            return false;
        }
        self.trust.is_worth_it()
    }
}

impl Drop for Spin {
    fn drop(&mut self) {
        DRIVERS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Returns how many drivers there are in this process.
pub(super) fn drivers() -> usize {
    DRIVERS.load(Ordering::Relaxed)
}

static DRIVERS: AtomicUsize = AtomicUsize::new(0);

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Mutex, MutexGuard, PoisonError};

    /// Each test needs to have the only driver.
    fn alone() -> MutexGuard<'static, ()> {
        static ALONE: Mutex<()> = Mutex::new(());
        ALONE.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn at(micros: u64) -> Instant {
        Instant::from_micros(micros)
    }

    #[test]
    fn it_waits_for_its_budget_after_an_activity_only() {
        let _alone = alone();
        let mut spin = Spin::new(Duration::from_micros(50));
        assert_eq!(spin.wait(at(0), false), Wait::Sleep);
        assert_eq!(spin.wait(at(0), true), Wait::Look);
        assert_eq!(spin.wait(at(49), false), Wait::Look);
        assert_eq!(spin.wait(at(50), false), Wait::Sleep);
        assert!(!spin.is_on());
    }

    #[test]
    fn waiting_in_vain_ends_but_is_tried_again_now_and_then() {
        let _alone = alone();
        let mut spin = Spin::new(Duration::from_micros(50));
        let mut waits = 0;
        for n in 0..1_000 {
            if spin.wait(at(1_000 * n), true) == Wait::Look {
                waits += 1;
                assert_eq!(spin.wait(at(1_000 * n + 50), false), Wait::Sleep);
            }
        }
        assert!((10..30).contains(&waits), "{waits}");
    }

    #[test]
    fn answers_in_time_keep_it_going() {
        let _alone = alone();
        let mut spin = Spin::new(Duration::from_micros(50));
        for n in 0..1_000 {
            assert_eq!(spin.wait(at(100 * n), true), Wait::Look);
            if n % 2 == 0 {
                spin.arrived();
            } else {
                assert_eq!(spin.wait(at(100 * n + 50), false), Wait::Sleep);
            }
        }
    }

    #[test]
    fn several_drivers_do_not_wait() {
        let _alone = alone();
        let mut spin = Spin::new(Duration::from_micros(50));
        let other = Spin::new(Duration::from_micros(50));
        assert_eq!(spin.wait(at(0), true), Wait::Sleep);
        drop(other);
        assert_eq!(spin.wait(at(0), true), Wait::Look);
    }

    #[test]
    fn no_budget_means_no_waiting() {
        let _alone = alone();
        assert_eq!(Spin::new(Duration::ZERO).wait(at(0), true), Wait::Sleep);
    }
}
