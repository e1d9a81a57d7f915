//! Round-trip times in constant memory.

use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A histogram that all connections of a client record into.
pub type SharedHistogram = Arc<Mutex<Histogram>>;

/// Counts durations in buckets whose width is at most 1/128 of their value.
///
/// It takes 14 KiB whatever the number of samples, so that recording does not show in the peer's memory.
/// Durations are kept in nanoseconds; those under 128 ns share exact buckets, those over 17 s the last one.
#[derive(Debug, Clone)]
pub struct Histogram {
    buckets: Vec<u32>,
    count: u64,
    longest: u64,
}

impl Histogram {
    /// An empty histogram.
    pub fn new() -> Self {
        Self { buckets: vec![0; BUCKETS], count: 0, longest: 0 }
    }

    /// An empty histogram to be shared by many connections.
    pub fn shared() -> SharedHistogram {
        Arc::new(Mutex::new(Self::new()))
    }

    /// Adds one sample.
    pub fn record(&mut self, sample: Duration) {
        let nanos = u64::try_from(sample.as_nanos()).unwrap_or(u64::MAX);
        if let Some(bucket) = self.buckets.get_mut(bucket_of(nanos).min(BUCKETS - 1)) {
            *bucket += 1;
        }
        self.count += 1;
        self.longest = self.longest.max(nanos);
    }

    /// The number of samples.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The longest sample.
    pub fn longest(&self) -> Duration {
        Duration::from_nanos(self.longest)
    }

    /// The duration that `per_mille` of 1,000 samples do not exceed; zero without samples.
    pub fn quantile(&self, per_mille: u64) -> Duration {
        let rank = (self.count * per_mille).div_ceil(1000).max(1);
        let mut seen = 0;
        for (index, &bucket) in self.buckets.iter().enumerate() {
            seen += u64::from(bucket);
            if seen >= rank {
                return Duration::from_nanos(middle_of(index).min(self.longest));
            }
        }
        self.longest()
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

/// Values below `PER_OCTAVE` have a bucket each; every doubling above is divided into `PER_OCTAVE` buckets.
fn bucket_of(nanos: u64) -> usize {
    let octave = (64 - u64::from(nanos.leading_zeros())).saturating_sub(OCTAVE_BITS + 1);
    let index = octave * PER_OCTAVE + (nanos >> octave);
    usize::try_from(index).unwrap_or(usize::MAX)
}

fn middle_of(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    let octave = (bucket / PER_OCTAVE).saturating_sub(1);
    let low = (bucket - octave * PER_OCTAVE) << octave;
    low + ((1 << octave) >> 1)
}

const OCTAVE_BITS: u64 = 7;
const PER_OCTAVE: u64 = 1 << OCTAVE_BITS;
/// Enough for 2^34 ns.
const BUCKETS: usize = (34 - 7 + 1) * 128;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bucket_holds_its_own_middle() {
        for bucket in 0..BUCKETS {
            assert_eq!(bucket_of(middle_of(bucket)), bucket);
        }
    }

    #[test]
    fn quantiles_are_within_one_percent_of_the_sorted_samples() {
        let mut histogram = Histogram::new();
        for micros in 1..=10_000 {
            histogram.record(Duration::from_micros(micros));
        }
        for (per_mille, expected) in [(500, 5_000.0), (950, 9_500.0), (990, 9_900.0), (1000, 10_000.0)] {
            let found = histogram.quantile(per_mille).as_secs_f64() * 1e6;
            assert!((found - expected).abs() < expected / 100.0, "{per_mille}: {found}");
        }
    }

    #[test]
    fn an_empty_histogram_and_a_huge_sample_do_no_harm() {
        let mut histogram = Histogram::new();
        assert_eq!(histogram.quantile(500), Duration::ZERO);
        histogram.record(Duration::MAX);
        assert_eq!(histogram.count(), 1);
        assert!(histogram.quantile(500) > Duration::from_secs(15));
    }
}
