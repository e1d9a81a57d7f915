//! Why received bytes are not the message they claim to be.

use proto_core::Truncated;
use thiserror::Error;

/// Why a parser refused its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum ParseError {
    /// The bytes ended before the message did.
    #[error("the message ends before its fields do")]
    Truncated,
    /// The 16 bytes that mark an offline message are not where they belong.
    #[error("the offline marker is missing")]
    Magic,
    /// The message id is not one that is valid in this place.
    #[error("message id {0:#04x} does not belong here")]
    Id(u8),
    /// An address is neither IPv4 nor IPv6.
    #[error("address family {0} is neither 4 nor 6")]
    Address(u8),
    /// A length field contradicts what is there, or is outside its range.
    #[error("a length field is out of range")]
    Length,
    /// The reliability is none of the eight.
    #[error("the reliability is none of the eight")]
    Reliability,
    /// The ordering channel does not exist.
    #[error("the ordering channel does not exist")]
    Channel,
    /// The part of a split message does not lie within the message.
    #[error("a split part lies outside its message")]
    Split,
    /// A range of numbers runs backwards.
    #[error("a range of numbers runs backwards")]
    Range,
    /// The peer insists on libcat encryption, which this crate does not speak.
    #[error("the peer asks for libcat encryption")]
    Encrypted,
}

impl From<Truncated> for ParseError {
    fn from(Truncated: Truncated) -> Self {
        Self::Truncated
    }
}
