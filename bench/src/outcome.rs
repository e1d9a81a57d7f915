//! What the repetitions of one peer in one cell came to.

use bench_peer::{Rtt, Usage};

use crate::peer::Peer;
use crate::trial::{Failure, Measurement};

/// All repetitions of one peer in one cell.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) peer: &'static Peer,
    measurements: Vec<Measurement>,
    failures: Vec<Failure>,
}

/// The values of one quantity over the repetitions, sorted.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Samples(Vec<f64>);

impl Outcome {
    pub(crate) fn new(peer: &'static Peer) -> Self {
        Self { peer, measurements: Vec::new(), failures: Vec::new() }
    }

    /// Adds one repetition.
    pub(crate) fn add(&mut self, result: Result<Measurement, Failure>) {
        match result {
            Ok(measurement) => self.measurements.push(measurement),
            Err(failure) => self.failures.push(failure),
        }
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

    /// Echoed payload in MiB a second and direction.
    pub(crate) fn throughput(&self) -> Samples {
        self.samples(|measurement| Some(measurement.client.throughput() / MIB))
    }

    /// One of the round-trip percentiles in microseconds.
    pub(crate) fn rtt(&self, percentile: impl Fn(&Rtt) -> f64) -> Samples {
        self.samples(|measurement| measurement.client.rtt.as_ref().map(&percentile))
    }

    /// Peak resident memory of the client in MiB.
    pub(crate) fn client_memory(&self) -> Samples {
        self.samples(|measurement| Some(measurement.client.usage.peak_rss as f64 / MIB))
    }

    /// Peak resident memory of the server in MiB.
    pub(crate) fn server_memory(&self) -> Samples {
        self.samples(|measurement| Some(measurement.server.peak_rss as f64 / MIB))
    }

    /// Processor time of the client, in microseconds an echo; connecting and warming up included.
    pub(crate) fn client_time(&self) -> Samples {
        self.samples(|measurement| Some(micros_per_echo(&measurement.client.usage, measurement)))
    }

    /// Processor time of the server, in microseconds an echo; connecting and warming up included.
    pub(crate) fn server_time(&self) -> Samples {
        self.samples(|measurement| Some(micros_per_echo(&measurement.server, measurement)))
    }

    /// The fewest echoes that any connection of any repetition got.
    pub(crate) fn least_echoes(&self) -> Option<u64> {
        self.measurements.iter().map(|measurement| measurement.client.least_echoes).min()
    }

    fn samples(&self, value: impl Fn(&Measurement) -> Option<f64>) -> Samples {
        Samples::new(self.measurements.iter().filter_map(value).collect())
    }
}

impl Samples {
    fn new(mut values: Vec<f64>) -> Self {
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

fn micros_per_echo(usage: &Usage, measurement: &Measurement) -> f64 {
    (usage.user_seconds + usage.system_seconds) * 1e6 / measurement.client.echoes as f64
}

const MIB: f64 = 1_048_576.0;

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
        let mut outcome = Outcome::new(Peer::by_name("tcp").unwrap());
        assert!(outcome.failure().is_none());
        outcome.add(Err(Failure { why: "client stalled".to_owned(), stalled: true }));
        assert!(outcome.is_hopeless());
        assert_eq!(outcome.failure().as_deref(), Some("failed: client stalled"));
        assert_eq!(outcome.throughput().median(), None);
    }
}
