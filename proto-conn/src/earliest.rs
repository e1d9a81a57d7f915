//! The first of several deadlines.

use proto_core::Instant;

/// Returns the first of those that there are.
#[inline]
pub(crate) fn earliest<const N: usize>(deadlines: [Option<Instant>; N]) -> Option<Instant> {
    let mut first: Option<Instant> = None;
    for deadline in deadlines {
        first = match (first, deadline) {
            (Some(first), Some(deadline)) => Some(first.min(deadline)),
            (one, None) | (None, one) => one,
        };
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_does_not_count() {
        let [one, two] = [1, 2].map(|millis| Some(Instant::from_millis(millis)));
        assert_eq!(earliest([None, two, one, None]), one);
        assert_eq!(earliest([None, None]), None);
    }
}
