//! Processor time and memory of both ends of a trial.

use std::{process, time::Instant};

use crate::Usage;

/// What this process and its partner had taken at a moment.
#[derive(Debug, Clone, Copy)]
pub struct Gauge {
    at: Instant,
    own: Option<Usage>,
    partner: Option<Usage>,
}

impl Gauge {
    /// Reads both; `partner` is a process number, or 0 for none.
    pub fn read(partner: u32) -> Self {
        Self {
            own: Usage::of_process(process::id()),
            partner: Usage::of_process(partner).filter(|_| partner != 0),
            at: Instant::now(),
        }
    }

    /// When it was read.
    pub fn at(&self) -> Instant {
        self.at
    }

    /// What was taken from this reading until a later one: by this process, by its partner.
    pub fn until(&self, later: &Self) -> (Option<Usage>, Option<Usage>) {
        let between = |from: Option<Usage>, to: Option<Usage>| {
            from.zip(to).map(|(from, to)| Usage {
                peak_rss: to.peak_rss,
                user_seconds: to.user_seconds - from.user_seconds,
                system_seconds: to.system_seconds - from.system_seconds,
            })
        };
        (between(self.own, later.own), between(self.partner, later.partner))
    }
}
