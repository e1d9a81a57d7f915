//! Two kinds of timer: precise where it matters, cheap where it does not.

mod sleep;
#[cfg(target_os = "linux")]
mod timerfd;

use runtime_core::Timer;
use std::{
    task::{Context, Poll},
    time::{Duration, Instant},
};

use sleep::SleepTimer;
#[cfg(target_os = "linux")]
use timerfd::TimerFd;

/// A timer in tokio's reactor: on Linux a timerfd, precise to some microseconds, unless so much slack is allowed that
/// tokio's own timers, which count milliseconds but need no system call, will do.
#[derive(Debug, Default)]
pub struct TokioTimer {
    kind: Kind,
}

#[derive(Debug, Default)]
enum Kind {
    #[default]
    Unarmed,
    #[cfg(target_os = "linux")]
    Precise(TimerFd),
    Coarse(SleepTimer),
}

impl Kind {
    /// Makes the kind that fits the slack out of what is there.
    #[cfg(target_os = "linux")]
    fn for_slack(self, slack: Duration) -> Self {
        match self {
            Self::Coarse(timer) if slack >= TICK => Self::Coarse(timer),
            Self::Precise(timer) if slack < TICK => Self::Precise(timer),
            _ if slack >= TICK => Self::Coarse(SleepTimer::default()),
            // A sandbox may forbid timerfd, or no descriptor is left: late timers are better than none.
            Self::Coarse(timer) => TimerFd::new().map_or(Self::Coarse(timer), Self::Precise),
            Self::Unarmed | Self::Precise(_) => {
                TimerFd::new().map_or_else(|_| Self::Coarse(SleepTimer::default()), Self::Precise)
            }
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn for_slack(self, _slack: Duration) -> Self {
        match self {
            Self::Unarmed => Self::Coarse(SleepTimer::default()),
            coarse => coarse,
        }
    }
}

impl Timer for TokioTimer {
    fn arm(&mut self, at: Instant, slack: Duration) {
        self.kind = std::mem::take(&mut self.kind).for_slack(slack);
        match &mut self.kind {
            Kind::Unarmed => {}
            #[cfg(target_os = "linux")]
            Kind::Precise(timer) => timer.arm(at),
            Kind::Coarse(timer) => timer.arm(at),
        }
    }

    fn poll_expired(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match &mut self.kind {
            Kind::Unarmed => Poll::Pending,
            #[cfg(target_os = "linux")]
            Kind::Precise(timer) => timer.poll_expired(cx),
            Kind::Coarse(timer) => timer.poll_expired(cx),
        }
    }
}

/// How late tokio's own timers may be.
#[cfg(target_os = "linux")]
const TICK: Duration = Duration::from_millis(2);
