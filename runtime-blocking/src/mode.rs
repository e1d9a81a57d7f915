//! How to wait for what arrives.

use proto_core::Instant;
use runtime_core::Trust;
use std::{thread::available_parallelism, time::Duration};

/// How a driver waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReceiveMode {
    /// Sleep in the operating system. Costs nothing while nothing happens; waking up takes a few microseconds.
    #[default]
    Park,
    /// Ask again and again and never sleep: the lowest latency, for a processor of one's own.
    Poll,
    /// Ask again and again for so long after each activity, then sleep. Where that does not pay, it stops by itself. It is
    /// the same as [`Park`](Self::Park) on a single processor, where it would only keep the peer from its work.
    Spin(Duration),
}

/// What a mode amounts to in a thread.
#[derive(Debug)]
pub(crate) struct Looking {
    mode: ReceiveMode,
    trust: Trust,
}

impl Looking {
    pub(crate) fn new(mode: ReceiveMode) -> Self {
        let alone = available_parallelism().is_ok_and(|processors| processors.get() == 1);
        let mode = match mode {
            ReceiveMode::Spin(budget) if alone || budget.is_zero() => ReceiveMode::Park,
            ReceiveMode::Park | ReceiveMode::Poll | ReceiveMode::Spin(_) => mode,
        };
        Self { mode, trust: Trust::default() }
    }

    /// Says until when to ask again and again before sleeping.
    pub(crate) fn start(&mut self, now: Instant) -> Look {
        match self.mode {
            ReceiveMode::Park => Look::Never,
            ReceiveMode::Poll => Look::Always,
            ReceiveMode::Spin(budget) if self.trust.is_worth_it() => Look::Until(now + budget),
            ReceiveMode::Spin(_) => Look::Never,
        }
    }

    /// Takes note of how looking until an instant ended.
    pub(crate) fn learn(&mut self, found: bool) {
        if found {
            self.trust.gain();
        } else {
            self.trust.lose();
        }
    }
}

/// How long to ask again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    Never,
    Until(Instant),
    Always,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looking_in_vain_ends_and_finding_brings_it_back() {
        let mut looking =
            Looking { mode: ReceiveMode::Spin(Duration::from_micros(50)), trust: Trust::default() };
        let now = Instant::ZERO;
        let mut looks = 0;
        for _ in 0..1_000 {
            if looking.start(now) == Look::Until(now + Duration::from_micros(50)) {
                looks += 1;
                looking.learn(false);
            }
        }
        assert!((10..40).contains(&looks), "{looks}");
        looking.learn(true);
        assert_ne!(looking.start(now), Look::Never);
    }
}
