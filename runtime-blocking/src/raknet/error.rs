//! What can go wrong, by who is to blame: the caller, the peer, or the operating system.

use proto_raknet::{CloseReason, ConfigError, ConnectError, ConnectFailure, SendError};
use std::io;
use thiserror::Error;

/// Why a call failed.
#[non_exhaustive]
#[derive(Debug, Error)]
pub enum RaknetError {
    /// The configuration cannot work.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The options cannot work.
    #[error(transparent)]
    Options(#[from] ConnectError),
    /// The server refused or did not answer.
    #[error(transparent)]
    Failed(#[from] ConnectFailure),
    /// The session is over.
    #[error("the session is over: {0}")]
    Closed(CloseReason),
    /// The message cannot be sent. [`SendError::Full`] comes only from the methods that do not wait.
    #[error(transparent)]
    Refused(#[from] SendError),
    /// The deadline came first.
    #[error("the deadline came first")]
    TimedOut,
    /// The operating system refused.
    #[error("the operating system refused: {0}")]
    Io(#[from] io::Error),
}
