//! What the repetitions of one peer in one cell came to.

use bench_peer::{Rtt, Usage};

use super::{peer::Peer, trial::Measurement};
use crate::outcome::Samples;

/// All repetitions of one peer in one cell.
pub(crate) type Outcome = crate::outcome::Outcome<Peer, Measurement>;

impl Outcome {
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
        self.measurements().iter().map(|measurement| measurement.client.least_echoes).min()
    }
}

fn micros_per_echo(usage: &Usage, measurement: &Measurement) -> f64 {
    (usage.user_seconds + usage.system_seconds) * 1e6 / measurement.client.echoes as f64
}

const MIB: f64 = 1_048_576.0;
