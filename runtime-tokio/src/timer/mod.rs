//! The most precise timer that can be had: a timerfd on Linux, tokio's own, which counts milliseconds, elsewhere.

mod sleep;
#[cfg(target_os = "linux")]
mod timerfd;

use runtime_core::Timer;
use std::{
    io,
    task::{Context, Poll},
    time::Instant,
};

use sleep::SleepTimer;
#[cfg(target_os = "linux")]
use timerfd::TimerFd;

/// A timer in tokio's reactor.
#[derive(Debug)]
pub struct TokioTimer(Kind);

#[derive(Debug)]
enum Kind {
    #[cfg(target_os = "linux")]
    Precise(TimerFd),
    Coarse(SleepTimer),
}

impl TokioTimer {
    #[cfg(target_os = "linux")]
    #[allow(clippy::unnecessary_wraps, reason = "the trait's constructor may fail")]
    pub(crate) fn new() -> io::Result<Self> {
        // A sandbox may forbid timerfd, or no descriptor is left: late timers are better than none.
        let precise = TimerFd::new().map(Kind::Precise);
        Ok(Self(precise.unwrap_or_else(|_| Kind::Coarse(SleepTimer::default()))))
    }

    #[cfg(not(target_os = "linux"))]
    #[allow(clippy::unnecessary_wraps, reason = "the trait's constructor may fail")]
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self(Kind::Coarse(SleepTimer::default())))
    }
}

impl Timer for TokioTimer {
    fn arm(&mut self, at: Instant) {
        match &mut self.0 {
            #[cfg(target_os = "linux")]
            Kind::Precise(timer) => timer.arm(at),
            Kind::Coarse(timer) => timer.arm(at),
        }
    }

    fn poll_expired(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match &mut self.0 {
            #[cfg(target_os = "linux")]
            Kind::Precise(timer) => timer.poll_expired(cx),
            Kind::Coarse(timer) => timer.poll_expired(cx),
        }
    }
}
