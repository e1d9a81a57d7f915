//! RakNet on smol: listeners, streams, pings.

use crate::Smol;
use std::{net::SocketAddr, time::Duration};

pub use runtime_core::raknet::*;

/// A RakNet server: one address, any number of sessions.
pub type RaknetListener = runtime_core::raknet::RaknetListener<Smol>;

/// A RakNet session: messages in both directions.
pub type RaknetStream = runtime_core::raknet::RaknetStream<Smol>;

/// Opens many RakNet sessions, which one task drives together.
pub type RaknetClient = runtime_core::raknet::RaknetClient<Smol>;

/// A socket for RakNet's messages outside sessions.
pub type RaknetSocket = runtime_core::raknet::RaknetSocket<Smol>;

/// Pings `server` until it answers, every half second and for `timeout` at most. Cancel-safe.
///
/// # Errors
/// There is no socket to be had, or nobody answered.
pub async fn ping(server: SocketAddr, timeout: Duration) -> Result<Pong, PingFailed> {
    runtime_core::raknet::ping::<Smol>(server, timeout).await
}
