//! Time as an input: a monotonic instant, wall time, and the adapter from the standard clock.

use core::{
    fmt,
    ops::{Add, AddAssign, Sub},
    time::Duration,
};

/// A point on the monotonic clock of whoever drives a machine.
///
/// The value counts nanoseconds since an epoch of the caller's choice; only differences mean anything. It spans
/// 584 years. All arithmetic saturates, so no input can make it overflow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Instant(u64);

impl Instant {
    /// The caller's epoch.
    pub const ZERO: Self = Self(0);

    /// Creates an instant `nanos` nanoseconds after the epoch.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Creates an instant `micros` microseconds after the epoch.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros.saturating_mul(1_000))
    }

    /// Creates an instant `millis` milliseconds after the epoch.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// Returns the nanoseconds since the epoch.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Returns the whole microseconds since the epoch.
    pub const fn as_micros(self) -> u64 {
        self.0 / 1_000
    }

    /// Returns the whole milliseconds since the epoch, as several protocols write them on the wire.
    pub const fn as_millis(self) -> u64 {
        self.0 / 1_000_000
    }

    /// Returns the time since `earlier`, or zero when `earlier` is later than `self`.
    pub const fn saturating_since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "t+{:?}", Duration::from_nanos(self.0))
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(saturating_nanos(duration)))
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, duration: Duration) {
        *self = *self + duration;
    }
}

impl Sub<Duration> for Instant {
    type Output = Self;

    fn sub(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(saturating_nanos(duration)))
    }
}

/// Wall time, for the protocols that put it on the wire: a duration since the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct UnixTime(Duration);

impl UnixTime {
    /// Creates the wall time `since_epoch` after 1970-01-01T00:00:00Z.
    pub const fn new(since_epoch: Duration) -> Self {
        Self(since_epoch)
    }

    /// Returns the duration since 1970-01-01T00:00:00Z.
    pub const fn since_epoch(self) -> Duration {
        self.0
    }
}

/// Translates between [`std::time::Instant`] and [`Instant`] with an explicit base.
///
/// The base is an hour before the clock's creation, so that instants shortly before it stay representable.
#[cfg(feature = "std")]
#[derive(Clone, Copy, Debug)]
pub struct StdClock {
    created: std::time::Instant,
}

#[cfg(feature = "std")]
impl StdClock {
    const LEAD: Duration = Duration::from_secs(3600);

    /// Creates a clock; `created` is usually the current instant.
    pub const fn new(created: std::time::Instant) -> Self {
        Self { created }
    }

    /// Converts an instant of the standard clock.
    pub fn to_machine(&self, at: std::time::Instant) -> Instant {
        let lead = Instant::ZERO + Self::LEAD;
        match at.checked_duration_since(self.created) {
            Some(after) => lead + after,
            None => lead - self.created.saturating_duration_since(at),
        }
    }

    /// Converts a machine's deadline back; one too far away for the standard clock becomes a day from the base.
    pub fn to_std(&self, at: Instant) -> std::time::Instant {
        let lead = Instant::ZERO + Self::LEAD;
        if at >= lead {
            let after = at.saturating_since(lead);
            self.created.checked_add(after).unwrap_or_else(|| self.created + Duration::from_secs(86_400))
        } else {
            self.created.checked_sub(lead.saturating_since(at)).unwrap_or(self.created)
        }
    }
}

fn saturating_nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_saturates_at_both_ends() {
        let late = Instant::from_nanos(u64::MAX);
        assert_eq!(late + Duration::from_secs(1), late);
        assert_eq!(late + Duration::MAX, late);
        assert_eq!(Instant::ZERO - Duration::from_secs(1), Instant::ZERO);
        assert_eq!(Instant::ZERO.saturating_since(late), Duration::ZERO);
    }

    #[cfg(feature = "std")]
    #[test]
    #[allow(clippy::disallowed_methods, reason = "the adapter is about the standard clock")]
    fn the_standard_clock_maps_both_ways() {
        let base = std::time::Instant::now();
        let clock = StdClock::new(base);
        for offset in [0, 1, 999, 1_000_000_000, 90_000_000_000_000] {
            let at = base + Duration::from_nanos(offset);
            assert_eq!(clock.to_std(clock.to_machine(at)), at);
        }
        let earlier = base - Duration::from_secs(1);
        assert!(clock.to_machine(earlier) < clock.to_machine(base));
    }
}
