//! What commands answer when the caller asks for something that cannot be.

use thiserror::Error;

/// Why [`connect`](crate::Endpoint::connect) did not begin.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ConnectError {
    /// There is a session with that address, or an attempt to open one.
    #[error("there already is a session with this address, or an attempt to open one")]
    AlreadyConnected,
    /// No candidate lies between the smallest MTU (400) and the endpoint's maximum.
    #[error("no MTU candidate lies between 400 and the endpoint's maximum")]
    NoMtu,
    /// The endpoint is closing, or its socket is gone.
    #[error("the endpoint is closed")]
    Closed,
    /// Too many peers for the endpoint's numbers (2^20).
    #[error("the endpoint has too many peers")]
    TooManyPeers,
}

/// Why a message was not taken.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SendError {
    /// The peer is not there, or not any more.
    #[error("there is no such session")]
    UnknownPeer,
    /// The session is not established yet.
    #[error("the session is not established yet")]
    NotConnected,
    /// The session is being closed.
    #[error("the session is being closed")]
    Closing,
    /// The queue is full: try again after [`Event::Writable`](crate::Event::Writable).
    #[error("the send queue is full")]
    Full,
    /// A message must have at least one byte.
    #[error("a message must not be empty")]
    Empty,
    /// The first byte names a message by which RakNet runs the session; a peer would not pass it on.
    #[error("a message must not begin with {id:#04x}: RakNet keeps that byte for itself")]
    Reserved {
        /// The first byte.
        id: u8,
    },
    /// The message is longer than the configured maximum.
    #[error("the message has {len} bytes, more than the maximum of {max}")]
    TooLong {
        /// Its length.
        len: usize,
        /// The limit.
        max: usize,
    },
}

/// Why an offline message was not taken.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum OfflineError {
    /// The payload is too long.
    #[error("the payload has {len} bytes, more than the maximum of {max}")]
    TooLong {
        /// Its length.
        len: usize,
        /// The limit.
        max: usize,
    },
    /// Too many offline messages wait to be sent.
    #[error("too many offline messages wait to be sent")]
    Full,
}
