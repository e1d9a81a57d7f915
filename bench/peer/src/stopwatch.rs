//! The clock of the measured burst.

use std::time::{Duration, Instant};

use crate::Load;

/// Times the burst of one client: it starts when the first connection begins and ends with the last echo, or
/// at the time limit when messages are left.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch {
    start: Instant,
    deadline: Instant,
}

impl Stopwatch {
    /// Starts the burst of `load` now.
    pub fn start(load: &Load) -> Self {
        let start = Instant::now();
        Self { start, deadline: start + load.time_limit }
    }

    /// Whether the time limit has passed.
    pub fn is_over(&self) -> bool {
        Instant::now() >= self.deadline
    }

    /// When the time limit passes.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// How long the burst took when its last echo came at `end`, but not more than the limit.
    pub fn elapsed_at(&self, end: Instant) -> Duration {
        end.min(self.deadline).saturating_duration_since(self.start)
    }
}
