//! Waiting for the peer.

use core::time::Duration;
use proto_core::Instant;

/// When waiting ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Deadline {
    /// Nothing is waited for.
    #[default]
    None,
    /// Then.
    At(Instant),
    /// So long after the next time that the session learns what time it is.
    Anew(Duration),
}

impl Deadline {
    pub(super) fn after(now: Instant, duration: Duration) -> Self {
        Self::At(now + duration)
    }

    /// Returns when it needs attention.
    pub(super) const fn due(self) -> Option<Instant> {
        match self {
            Self::None => None,
            Self::At(at) => Some(at),
            Self::Anew(_) => Some(Instant::ZERO),
        }
    }

    /// Learns what time it is, and says whether the wait is over.
    pub(super) fn has_passed(&mut self, now: Instant) -> bool {
        match *self {
            Self::None => false,
            Self::At(at) => at <= now,
            Self::Anew(duration) => {
                *self = Self::after(now, duration);
                false
            }
        }
    }
}
