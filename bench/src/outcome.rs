//! What repetitions come to, whatever was measured.

use crate::process::Failure;

/// All repetitions of one peer in one cell.
#[derive(Debug)]
pub(crate) struct Outcome<P: 'static, M> {
    pub(crate) peer: &'static P,
    measurements: Vec<M>,
    failures: Vec<Failure>,
}

/// The values of one quantity over the repetitions, sorted.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Samples(Vec<f64>);

impl<P, M> Outcome<P, M> {
    pub(crate) fn new(peer: &'static P) -> Self {
        Self { peer, measurements: Vec::new(), failures: Vec::new() }
    }

    /// Adds one repetition.
    pub(crate) fn add(&mut self, result: Result<M, Failure>) {
        match result {
            Ok(measurement) => self.measurements.push(measurement),
            Err(failure) => self.failures.push(failure),
        }
    }

    /// The repetitions that went well.
    pub(crate) fn measurements(&self) -> &[M] {
        &self.measurements
    }

    /// Whether another repetition would only wait for another time-out.
    pub(crate) fn is_hopeless(&self) -> bool {
        self.failures.iter().any(|failure| failure.stalled)
    }

    /// A sentence about the repetitions that failed.
    pub(crate) fn failure(&self) -> Option<String> {
        let first = self.failures.first()?;
        let (failed, tried) = (self.failures.len(), self.failures.len() + self.measurements.len());
        Some(if failed == tried {
            format!("failed: {}", first.why)
        } else {
            format!("failed {failed} of {tried} times: {}", first.why)
        })
    }

    /// One quantity of all repetitions that have it.
    pub(crate) fn samples(&self, value: impl Fn(&M) -> Option<f64>) -> Samples {
        Samples::new(self.measurements.iter().filter_map(value).collect())
    }
}

impl Samples {
    pub(crate) fn new(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        Self(values)
    }

    /// The middle value, or the mean of the two middle ones.
    pub(crate) fn median(&self) -> Option<f64> {
        let high = *self.0.get(self.0.len() / 2)?;
        let low = *self.0.get((self.0.len() - 1) / 2)?;
        Some(f64::midpoint(low, high))
    }

    pub(crate) fn min(&self) -> Option<f64> {
        self.0.first().copied()
    }

    pub(crate) fn max(&self) -> Option<f64> {
        self.0.last().copied()
    }

    /// All values, the smallest first.
    pub(crate) fn values(&self) -> &[f64] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_or_between_the_two_middle_values() {
        assert_eq!(Samples::new(vec![]).median(), None);
        assert_eq!(Samples::new(vec![3.0, 1.0, 2.0]).median(), Some(2.0));
        assert_eq!(Samples::new(vec![4.0, 1.0, 3.0, 2.0]).median(), Some(2.5));
    }

    #[test]
    fn a_peer_that_stalled_is_not_tried_again_and_says_so() {
        let mut outcome = Outcome::<&str, f64>::new(&"tcp");
        assert!(outcome.failure().is_none());
        outcome.add(Err(Failure { why: "client stalled".to_owned(), stalled: true }));
        assert!(outcome.is_hopeless());
        assert_eq!(outcome.failure().as_deref(), Some("failed: client stalled"));
        assert_eq!(outcome.samples(|measurement| Some(*measurement)).median(), None);
    }
}
