//! HTTP, WebSocket and datagrams on tokio: one client for six schemes.

use crate::Tokio;

pub use runtime_core::conn::*;

/// An HTTP client for one origin.
pub type Client = runtime_core::conn::Client<Tokio>;

/// A WebSocket: messages in both directions.
pub type WebSocket = runtime_core::conn::WebSocket<Tokio>;

/// A UDP socket that is connected to one peer.
pub type UdpChannel = runtime_core::conn::UdpChannel<Tokio>;

/// A member of a multicast group.
pub type Multicast = runtime_core::conn::Multicast<Tokio>;
