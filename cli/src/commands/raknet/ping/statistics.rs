//! Round-trip statistics in the manner of `ping`.

use std::time::Duration;

/// The spread of round trips, in constant memory.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RoundTrips {
    count: u64,
    min: Duration,
    max: Duration,
    /// The mean in seconds and the sum of squared distances from it (Welford).
    mean: f64,
    squares: f64,
}

impl RoundTrips {
    /// Adds a sample.
    #[allow(clippy::cast_precision_loss, reason = "nobody sends 2^52 pings")]
    pub(super) fn add(&mut self, rtt: Duration) {
        self.min = if self.count == 0 { rtt } else { self.min.min(rtt) };
        self.max = self.max.max(rtt);
        self.count += 1;
        let distance = rtt.as_secs_f64() - self.mean;
        self.mean += distance / self.count as f64;
        self.squares += distance * (rtt.as_secs_f64() - self.mean);
    }

    /// Returns the number of samples.
    pub(super) const fn count(&self) -> u64 {
        self.count
    }

    /// Returns the shortest.
    pub(super) const fn min(&self) -> Duration {
        self.min
    }

    /// Returns the longest.
    pub(super) const fn max(&self) -> Duration {
        self.max
    }

    /// Returns the mean.
    pub(super) fn mean(&self) -> Duration {
        Duration::from_secs_f64(self.mean.max(0.0))
    }

    /// Returns the standard deviation, which `ping` calls mdev.
    #[allow(clippy::cast_precision_loss, reason = "nobody sends 2^52 pings")]
    pub(super) fn deviation(&self) -> Duration {
        Duration::from_secs_f64((self.squares / (self.count.max(1)) as f64).max(0.0).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_of_known_samples_is_right() {
        let mut trips = RoundTrips::default();
        for millis in [2, 4, 4, 4, 5, 5, 7, 9] {
            trips.add(Duration::from_millis(millis));
        }
        assert_eq!(trips.count(), 8);
        assert_eq!(trips.min(), Duration::from_millis(2));
        assert_eq!(trips.max(), Duration::from_millis(9));
        assert!((trips.mean().as_secs_f64() - 0.005).abs() < 1e-9);
        assert!((trips.deviation().as_secs_f64() - 0.002).abs() < 1e-9);
    }
}
