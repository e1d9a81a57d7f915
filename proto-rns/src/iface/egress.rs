//! Path requests that recursive searches send, limited on their way out (spec 1.8).

use super::frequency::Frequency;
use proto_core::Instant;

/// Counts the path requests that leave by one interface.
#[derive(Clone, Debug, Default)]
pub(crate) struct EgressGauge(Frequency);

impl EgressGauge {
    /// Says whether one more may leave below `limit`, in hertz, and counts it if so.
    pub(crate) fn admit(&mut self, now: Instant, limit: Option<f64>) -> bool {
        if limit.is_some_and(|limit| self.0.hertz(now) > limit) {
            return false;
        }
        self.0.record(now);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_above_the_limit_stay_until_the_frequency_falls() {
        let mut gauge = EgressGauge::default();
        let at = |tenths: u64| Instant::from_nanos(tenths * 100_000_000);
        let admitted = (0..20).filter(|&tenth| gauge.admit(at(tenth), Some(5.0))).count();
        assert!((3..15).contains(&admitted), "{admitted}");
        assert!(gauge.admit(at(300), Some(5.0)));
        assert!((0..100).all(|_| gauge.admit(at(301), None)));
    }
}
