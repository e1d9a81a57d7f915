//! Keeping a runtime's timer armed with as few changes as possible.

use proto_core::{Instant, StdClock};
use std::task::Context;

use crate::runtime::Timer;

/// A timer that is moved only when it would fire too late.
///
/// A machine's deadline moves away with every acknowledgement. Arming the timer costs a system call, so the old,
/// earlier instant stays; when it comes, the driver looks again.
#[derive(Debug)]
pub(super) struct Alarm<T> {
    timer: T,
    armed: Option<Instant>,
}

impl<T: Timer> Alarm<T> {
    pub(super) const fn new(timer: T) -> Self {
        Self { timer, armed: None }
    }

    /// Has the task of `cx` woken at `next` at the latest.
    pub(super) fn schedule(&mut self, next: Option<Instant>, clock: &StdClock, cx: &mut Context<'_>) {
        loop {
            if let Some(next) = next
                && self.armed.is_none_or(|armed| next < armed)
            {
                self.timer.arm(clock.to_std(next));
                self.armed = Some(next);
            }
            if self.armed.is_none() || self.timer.poll_expired(cx).is_pending() {
                return;
            }
            // What fired was an instant from before. If `next` itself has come meanwhile, the timer that is armed
            // again fires at once.
            self.armed = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::{Poll, Waker};

    /// Counts how often it is armed; fires when told.
    struct Fake {
        armed: Vec<std::time::Instant>,
        fires: bool,
    }

    impl Timer for Fake {
        fn arm(&mut self, at: std::time::Instant) {
            self.armed.push(at);
        }
        fn poll_expired(&mut self, _: &mut Context<'_>) -> Poll<()> {
            if std::mem::take(&mut self.fires) { Poll::Ready(()) } else { Poll::Pending }
        }
    }

    #[test]
    #[allow(clippy::disallowed_methods, reason = "a clock needs a base")]
    fn a_deadline_that_moves_away_costs_nothing_until_the_old_one_comes() {
        let clock = StdClock::new(std::time::Instant::now());
        let mut alarm = Alarm::new(Fake { armed: vec![], fires: false });
        let mut cx = Context::from_waker(Waker::noop());
        let at = Instant::from_millis;
        for next in [5, 6, 7] {
            alarm.schedule(Some(at(next)), &clock, &mut cx);
        }
        assert_eq!(alarm.timer.armed, [clock.to_std(at(5))]);

        alarm.timer.fires = true;
        alarm.schedule(Some(at(8)), &clock, &mut cx);
        assert_eq!(alarm.timer.armed, [clock.to_std(at(5)), clock.to_std(at(8))]);

        alarm.schedule(Some(at(2)), &clock, &mut cx);
        assert_eq!(alarm.timer.armed.last(), Some(&clock.to_std(at(2))));

        alarm.timer.fires = true;
        alarm.schedule(None, &clock, &mut cx);
        assert_eq!((alarm.timer.armed.len(), alarm.armed), (3, None));
    }
}
