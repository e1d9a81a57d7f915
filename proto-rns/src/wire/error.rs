//! Why bytes are not the message they should be.

use super::msgpack::ShapeError;
use proto_core::Truncated;

/// Bytes from a peer that are not the message they claim to be.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// The message ends before its last field.
    #[error("the message is cut off")]
    Truncated,
    /// The message goes on after its last field, or is too long for its kind.
    #[error("the message is too long")]
    TooLong,
    /// A received hop count of 128 or more (spec 1.1, PATHFINDER_M).
    #[error("the packet has gone further than packets may")]
    TooManyHops,
    /// A packet without data.
    #[error("the packet has no data")]
    Empty,
    /// A field has a value that the message does not allow.
    #[error("a field has a value that the message does not allow")]
    Value,
    /// The MessagePack inside is not of the message's shape.
    #[error("its MessagePack: {0}")]
    Shape(#[from] ShapeError),
}

impl From<Truncated> for Malformed {
    fn from(_: Truncated) -> Self {
        Self::Truncated
    }
}
