//! The round-trip time and the deadlines that follow from it.

use core::time::Duration;

/// A smoothed round-trip time in nanoseconds (RFC 6298 §2), fed by each acknowledged datagram.
///
/// The send time is kept per datagram number, and a resent frame gets a new number, so no sample is ambiguous.
#[derive(Debug)]
pub(crate) struct Rtt {
    latest: Duration,
    smoothed: Option<Duration>,
    variation: Duration,
    min: Duration,
}

impl Default for Rtt {
    fn default() -> Self {
        Self { latest: Duration::ZERO, smoothed: None, variation: Duration::ZERO, min: Duration::MAX }
    }
}

impl Rtt {
    /// The shortest tail-loss probe timeout: below it, timers of an operating system mean little.
    const MIN_PROBE: Duration = Duration::from_millis(1);
    /// The shortest one while datagrams get lost.
    const MIN_EAGER_PROBE: Duration = Duration::from_micros(300);
    /// The longest probe timeout (C++ `MAX_RTO`).
    const MAX_PROBE: Duration = Duration::from_millis(2_000);
    /// The probe timeout before the first sample.
    const INITIAL_PROBE: Duration = Duration::from_millis(500);
    /// How long a peer may hold an acknowledgement back (go-raknet's tick).
    const SLOWEST_ACK: Duration = Duration::from_millis(100);
    /// The finest granularity of loss detection by time.
    const GRANULARITY: Duration = Duration::from_micros(500);

    /// Takes in a sample.
    pub(crate) fn update(&mut self, sample: Duration) {
        self.latest = sample;
        self.min = self.min.min(sample);
        match self.smoothed {
            None => {
                self.smoothed = Some(sample);
                self.variation = sample / 2;
            }
            Some(smoothed) => {
                self.variation = (self.variation * 3 + smoothed.abs_diff(sample)) / 4;
                self.smoothed = Some((smoothed * 7 + sample) / 8);
            }
        }
    }

    /// Returns the smoothed round-trip time; `None` before the first sample.
    pub(crate) fn smoothed(&self) -> Option<Duration> {
        self.smoothed
    }

    /// Returns the mean deviation.
    pub(crate) fn variation(&self) -> Duration {
        self.variation
    }

    /// Returns the last sample.
    pub(crate) fn latest(&self) -> Duration {
        self.latest
    }

    /// Returns the shortest sample; `None` before the first.
    pub(crate) fn min(&self) -> Option<Duration> {
        self.smoothed.map(|_| self.min)
    }

    /// Returns after how long without acknowledgement the oldest data is sent again, before any back-off.
    ///
    /// The sample includes the peer's delay of its acknowledgements (10 ms ticks in C++, 100 ms in go-raknet), so
    /// its smoothed value and variation cover that too.
    pub(crate) fn probe_timeout(&self) -> Duration {
        self.timeout_from(Self::MIN_PROBE)
    }

    /// Returns the same for a path that loses datagrams: there a probe sent too early costs less than a stall.
    pub(crate) fn eager_probe_timeout(&self) -> Duration {
        self.timeout_from(Self::MIN_EAGER_PROBE)
    }

    fn timeout_from(&self, floor: Duration) -> Duration {
        let Some(smoothed) = self.smoothed else { return Self::INITIAL_PROBE };
        (smoothed + self.variation * 4).max(smoothed * 2).clamp(floor, Self::MAX_PROBE)
    }

    /// Returns after how long an unacknowledged message with a receipt is reported as lost.
    ///
    /// Like the retransmission timeout of C++, but with the 100 ms that go-raknet takes to acknowledge instead of
    /// 30 ms: the verdict is final, and nothing waits for it.
    pub(crate) fn receipt_timeout(&self) -> Duration {
        let Some(smoothed) = self.smoothed else { return Self::MAX_PROBE };
        (smoothed * 2 + self.variation * 4 + Self::SLOWEST_ACK).min(Self::MAX_PROBE)
    }

    /// Returns after how long a datagram counts as lost once a later one was acknowledged (RFC 9002 §6.1.2).
    pub(crate) fn loss_delay(&self) -> Duration {
        let rtt = self.smoothed.unwrap_or(Self::INITIAL_PROBE).max(self.latest);
        (rtt + rtt / 8).max(Self::GRANULARITY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_follows_its_samples_in_microseconds() {
        let mut rtt = Rtt::default();
        assert_eq!(rtt.probe_timeout(), Rtt::INITIAL_PROBE);
        for _ in 0..100 {
            rtt.update(Duration::from_micros(80));
        }
        assert_eq!(rtt.smoothed().unwrap().as_micros(), 80);
        assert_eq!(rtt.probe_timeout(), Duration::from_millis(1));
        assert_eq!(rtt.eager_probe_timeout(), Duration::from_micros(300));
        assert_eq!(rtt.loss_delay(), Duration::from_micros(500));
    }

    #[test]
    fn a_jittery_path_gets_a_longer_timeout() {
        let mut rtt = Rtt::default();
        for n in 0..100 {
            rtt.update(Duration::from_millis(if n % 2 == 0 { 50 } else { 100 }));
        }
        assert!(rtt.probe_timeout() >= Duration::from_millis(150), "{rtt:?}");
        assert_eq!(rtt.min(), Some(Duration::from_millis(50)));
    }
}
