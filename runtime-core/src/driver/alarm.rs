//! Keeping a runtime's timer armed with as few changes as possible.

use proto_core::{Instant, StdClock};
use std::{task::Context, time::Duration};

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

    /// Has the task of `cx` woken at `next` at the latest; at once where that is past.
    pub(super) fn schedule(
        &mut self,
        next: Option<Instant>,
        slack: Duration,
        clock: &StdClock,
        cx: &mut Context<'_>,
    ) {
        self.arm(next, slack, clock);
        if self.has_fired(cx) {
            // An instant from before came, or `next` itself: only a timer that is armed anew can tell.
            self.arm(next, slack, clock);
            if self.has_fired(cx) {
                cx.waker().wake_by_ref();
            }
        }
    }

    fn arm(&mut self, next: Option<Instant>, slack: Duration, clock: &StdClock) {
        if let Some(next) = next
            && self.armed.is_none_or(|armed| next < armed)
        {
            self.timer.arm(clock.to_std(next), slack);
            self.armed = Some(next);
        }
    }

    /// Says whether the armed instant has come, and forgets it then.
    fn has_fired(&mut self, cx: &mut Context<'_>) -> bool {
        let fired = self.armed.is_some() && self.timer.poll_expired(cx).is_ready();
        if fired {
            self.armed = None;
        }
        fired
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        sync::{
            Arc,
            atomic::{AtomicBool, Ordering},
        },
        task::{Poll, Wake, Waker},
    };

    /// Counts how often it is armed; fires as often as told.
    struct Fake {
        armed: Vec<std::time::Instant>,
        fires: u32,
    }

    #[derive(Default)]
    struct Woken(AtomicBool);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    impl Timer for Fake {
        fn arm(&mut self, at: std::time::Instant, _slack: Duration) {
            self.armed.push(at);
        }
        fn poll_expired(&mut self, _: &mut Context<'_>) -> Poll<()> {
            let Some(left) = self.fires.checked_sub(1) else { return Poll::Pending };
            self.fires = left;
            Poll::Ready(())
        }
    }

    #[test]
    #[allow(clippy::disallowed_methods, reason = "a clock needs a base")]
    fn a_deadline_that_moves_away_costs_nothing_until_the_old_one_comes() {
        let clock = StdClock::new(std::time::Instant::now());
        let mut alarm = Alarm::new(Fake { armed: vec![], fires: 0 });
        let mut cx = Context::from_waker(Waker::noop());
        let at = Instant::from_millis;
        for next in [5, 6, 7] {
            alarm.schedule(Some(at(next)), Duration::ZERO, &clock, &mut cx);
        }
        assert_eq!(alarm.timer.armed, [clock.to_std(at(5))]);

        alarm.timer.fires = 1;
        alarm.schedule(Some(at(8)), Duration::ZERO, &clock, &mut cx);
        assert_eq!(alarm.timer.armed, [clock.to_std(at(5)), clock.to_std(at(8))]);

        alarm.schedule(Some(at(2)), Duration::ZERO, &clock, &mut cx);
        assert_eq!(alarm.timer.armed.last(), Some(&clock.to_std(at(2))));

        alarm.timer.fires = 1;
        alarm.schedule(None, Duration::ZERO, &clock, &mut cx);
        assert_eq!((alarm.timer.armed.len(), alarm.armed), (3, None));
    }

    #[test]
    #[allow(clippy::disallowed_methods, reason = "a clock needs a base")]
    fn a_deadline_that_is_past_wakes_the_task_at_once() {
        let clock = StdClock::new(std::time::Instant::now());
        // A timer that is ready as soon as it is armed with an instant in the past.
        let mut alarm = Alarm::new(Fake { armed: vec![], fires: u32::MAX });
        let woken = Arc::new(Woken::default());
        let waker = Waker::from(Arc::clone(&woken));
        alarm.schedule(Some(Instant::ZERO), Duration::ZERO, &clock, &mut Context::from_waker(&waker));
        assert!(woken.0.load(Ordering::Relaxed));

        let mut alarm = Alarm::new(Fake { armed: vec![], fires: 1 });
        let woken = Arc::new(Woken::default());
        let waker = Waker::from(Arc::clone(&woken));
        alarm.schedule(
            Some(Instant::from_millis(5)),
            Duration::ZERO,
            &clock,
            &mut Context::from_waker(&waker),
        );
        assert!(!woken.0.load(Ordering::Relaxed));
    }
}
