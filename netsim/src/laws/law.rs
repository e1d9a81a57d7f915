//! The laws by name, and their violations.

use std::fmt;

/// A law of [`Machine`](proto_core::Machine), in the order of its documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Law {
    /// 1: a drain ends in bounded steps.
    Drains = 1,
    /// 2: transmits are as long as they say, and batches hold equal segments, not too many.
    TellsLengths,
    /// 3: after `handle_timeout(now)` and a drain nothing is due.
    DoesNotSpin,
    /// 4: early and repeated timeouts do nothing, and time does not go back.
    KeepsTime,
    /// 5: no input panics or needs unbounded memory.
    TakesAnything,
    /// 6: a blocked link is silent and the others are not.
    RespectsBlocked,
    /// 7: the chunks in which stream bytes come do not matter.
    IgnoresChunks,
    /// 8: the same seed and inputs give the same outputs.
    Repeats,
    /// 9: event queues are bounded.
    BoundsEvents,
    /// 10: a closed link is silent, and its number is not reused before.
    RespectsDown,
}

impl Law {
    /// Every law, in order.
    pub const ALL: [Self; 10] = [
        Self::Drains,
        Self::TellsLengths,
        Self::DoesNotSpin,
        Self::KeepsTime,
        Self::TakesAnything,
        Self::RespectsBlocked,
        Self::IgnoresChunks,
        Self::Repeats,
        Self::BoundsEvents,
        Self::RespectsDown,
    ];

    /// Returns the law's number.
    pub const fn number(self) -> u8 {
        self as u8
    }
}

/// A law that a machine broke, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which law.
    pub law: Law,
    /// What was seen.
    pub what: String,
}

impl Violation {
    pub(crate) const fn new(law: Law, what: String) -> Self {
        Self { law, what }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "law {} ({:?}): {}", self.law.number(), self.law, self.what)
    }
}

impl std::error::Error for Violation {}
