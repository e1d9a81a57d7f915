//! How often something happens, over the last few times it did.

use alloc::collections::VecDeque;
use core::time::Duration;
use proto_core::Instant;

/// A window over the last [`SAMPLES`] events, none older than [`WINDOW`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Frequency(VecDeque<Instant>);

/// How many events are remembered.
const SAMPLES: usize = 48;
/// How long an event is remembered.
const WINDOW: Duration = Duration::from_secs(10);
/// With so few events no frequency is told.
const TOO_FEW: usize = 2;

impl Frequency {
    /// Notes that it happened.
    pub(crate) fn record(&mut self, now: Instant) {
        if self.0.len() >= SAMPLES {
            self.0.pop_front();
        }
        self.0.push_back(now);
    }

    /// Returns how often a second it happens.
    #[allow(clippy::cast_precision_loss, reason = "48 fits a double")]
    pub(crate) fn hertz(&mut self, now: Instant) -> f64 {
        while self.0.front().is_some_and(|oldest| now.saturating_since(*oldest) > WINDOW) {
            self.0.pop_front();
        }
        let span = self.0.front().map_or(Duration::ZERO, |oldest| now.saturating_since(*oldest));
        if self.0.len() <= TOO_FEW {
            return 0.0;
        }
        // Events at one instant are a burst however short, not an error of arithmetic.
        self.0.len() as f64 / span.as_secs_f64().max(0.001)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    #[test]
    fn two_events_have_no_frequency_and_a_burst_has_a_finite_one() {
        let mut frequency = Frequency::default();
        frequency.record(at(0));
        frequency.record(at(0));
        assert!(frequency.hertz(at(0)) < 0.1);
        frequency.record(at(0));
        assert!(frequency.hertz(at(0)).is_finite());
        assert!((frequency.hertz(at(1_000)) - 3.0).abs() < 0.01);
    }

    #[test]
    fn events_are_forgotten_by_age_and_by_number() {
        let mut frequency = Frequency::default();
        (0..1_000).for_each(|event| frequency.record(at(event)));
        assert_eq!(frequency.0.len(), SAMPLES);
        assert!(frequency.hertz(at(11_000)) < 0.1);
        assert!(frequency.0.is_empty());
    }
}
