//! What can go wrong, by who is to blame: the caller, the peer, or the operating system.

use proto_raknet::{CloseReason, ConfigError, ConnectError, ConnectFailure, SendError};
use std::io;
use thiserror::Error;

/// Why a listener could not be bound.
#[non_exhaustive]
#[derive(Debug, Error)]
pub enum BindFailed {
    /// The configuration cannot work.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The operating system refused.
    #[error("cannot bind: {0}")]
    Io(#[from] io::Error),
}

/// Why there is no session.
#[non_exhaustive]
#[derive(Debug, Error)]
pub enum ConnectFailed {
    /// The configuration cannot work.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The options cannot work.
    #[error(transparent)]
    Options(#[from] ConnectError),
    /// The server refused or did not answer.
    #[error(transparent)]
    Failed(#[from] ConnectFailure),
    /// The operating system refused.
    #[error("no socket: {0}")]
    Io(#[from] io::Error),
}

/// Why a message was not taken.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SendFailed {
    /// The session is over.
    #[error("the session is over: {0}")]
    Closed(CloseReason),
    /// The message cannot be sent. [`SendError::Full`] comes only from the methods that do not wait.
    #[error(transparent)]
    Refused(SendError),
}

/// There will be no more sessions: the listener was closed, or its runtime shut down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the listener is closed")]
pub struct ListenerClosed;

/// Why a ping has no answer.
#[non_exhaustive]
#[derive(Debug, Error)]
pub enum PingFailed {
    /// Nobody answered in time.
    #[error("no answer in time")]
    NoAnswer,
    /// The operating system refused.
    #[error("no socket: {0}")]
    Io(#[from] io::Error),
}
