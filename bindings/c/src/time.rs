//! Nanoseconds, as C tells them.

use std::time::Duration;

/// Reads a deadline: less than nothing is the connection's own, nothing is not to wait.
pub(crate) fn timeout(ns: i64) -> Option<Duration> {
    u64::try_from(ns).ok().map(Duration::from_nanos)
}

/// Writes a duration; what is too long for the number is its largest.
pub(crate) fn nanoseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

/// Writes an instant of a connection's clock.
pub(crate) fn instant(at: proto_core::Instant) -> i64 {
    i64::try_from(at.as_nanos()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn less_than_nothing_is_the_default_and_nothing_is_not_to_wait() {
        assert_eq!(timeout(-1), None);
        assert_eq!(timeout(0), Some(Duration::ZERO));
        assert_eq!(timeout(i64::MAX).map(nanoseconds), Some(i64::MAX));
        assert_eq!(nanoseconds(Duration::MAX), i64::MAX);
    }
}
