//! Linux's timer descriptor: precise to some microseconds.

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use std::{
    io,
    os::fd::OwnedFd,
    task::{Context, Poll},
    time::{Duration, Instant},
};
use tokio::io::{Interest, unix::AsyncFd};

/// A timerfd in tokio's reactor.
///
/// The expirations are never read from it: the reactor reports edges, and arming it anew makes the next edge.
#[derive(Debug)]
pub(super) struct TimerFd {
    fd: AsyncFd<OwnedFd>,
}

impl TimerFd {
    #[allow(
        deprecated,
        reason = "the new constructor is unsafe for types that are not I/O safe; `OwnedFd` is"
    )]
    pub(super) fn new() -> io::Result<Self> {
        let fd = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
        Ok(Self { fd: AsyncFd::with_interest(fd, Interest::READABLE)? })
    }

    #[allow(clippy::disallowed_methods, reason = "the runtimes are where clocks are read")]
    pub(super) fn arm(&mut self, at: Instant) {
        let after = at.saturating_duration_since(Instant::now());
        let once = Itimerspec { it_interval: timespec(Duration::ZERO), it_value: timespec(after.max(SOON)) };
        // It fails only for a descriptor or a time that is not one.
        let set = timerfd_settime(&self.fd, TimerfdTimerFlags::empty(), &once);
        debug_assert!(set.is_ok(), "timerfd_settime: {set:?}");
    }

    pub(super) fn poll_expired(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.fd.poll_read_ready(cx).map(|ready| {
            if let Ok(mut ready) = ready {
                ready.clear_ready();
            }
        })
    }
}

fn timespec(duration: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: duration.subsec_nanos().into(),
    }
}

/// Zero would disarm the timer.
const SOON: Duration = Duration::from_nanos(1);
