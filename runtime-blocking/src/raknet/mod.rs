//! RakNet sessions in the caller's thread.
//!
//! A [`RaknetClient`] is one session, a [`RaknetListener`] any number of them. Every call that waits has a deadline;
//! `None` waits for as long as it takes, and a deadline that is past does not wait at all. A program that runs frame by
//! frame calls `poll` once a frame and then the methods that begin with `try`.
//!
//! ```no_run
//! use runtime_blocking::raknet::{Config, RaknetListener};
//!
//! let mut server = RaknetListener::bind("0.0.0.0:19132".parse()?, Config::default())?;
//! loop {
//!     if let Some((peer, received)) = server.recv_any(None)? {
//!         server.send(peer, received.payload, None)?;
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod client;
mod error;
mod listener;
mod sessions;

pub use client::{ClientOptions, RaknetClient};
pub use error::RaknetError;
pub use listener::{ListenOptions, RaknetListener};
pub use proto_raknet::{
    Channel, CloseReason, Config, ConfigError, ConnectError, ConnectFailure, ConnectOptions, EndpointStats,
    Guid, Message, Motd, OfflineError, PeerId, PeerInfo, PeerStats, ReceiptId, Received, Reliability,
    SendError, SessionConfig,
};
