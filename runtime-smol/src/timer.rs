//! async-io's timer, which is as precise as the reactor's wait.

use runtime_core::Timer;
use std::{
    pin::Pin,
    task::{Context, Poll},
    time::{Duration, Instant},
};

/// A timer in async-io's reactor.
#[derive(Debug)]
pub struct SmolTimer {
    timer: async_io::Timer,
}

impl Default for SmolTimer {
    fn default() -> Self {
        Self { timer: async_io::Timer::never() }
    }
}

impl Timer for SmolTimer {
    fn arm(&mut self, at: Instant, _slack: Duration) {
        self.timer.set_at(at);
    }

    fn poll_expired(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.timer).poll(cx).map(|_| ())
    }
}
