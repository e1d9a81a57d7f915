//! RakNet for applications: a listener, a stream, a client for many of them, a ping, a socket for messages outside
//! sessions.
//!
//! The types are generic over the [`Runtime`](crate::Runtime); `runtime-tokio` and `runtime-smol` re-export them with
//! it fixed.
//!
//! Everything that waits is cancel-safe: dropping a future before it is ready loses no message and leaves no session
//! half open. Each method says what that means for it.

mod client;
mod desk;
mod error;
mod halves;
mod hooks;
mod listener;
mod open;
mod options;
mod out_of_band;
mod ping;
mod progress;
mod receipt;
mod session;
mod socket;
mod stream;

pub use client::RaknetClient;
pub use error::{BindFailed, ConnectFailed, ListenerClosed, PingFailed, SendFailed};
pub use halves::{RaknetReadHalf, RaknetWriteHalf};
pub use hooks::Hooks;
pub use listener::RaknetListener;
pub use options::{ClientOptions, ListenOptions};
pub use out_of_band::OutOfBand;
pub use ping::{Pong, ping};
pub use progress::SplitProgress;
pub use receipt::{Delivery, Receipt};
pub use socket::RaknetSocket;
pub use stream::RaknetStream;

pub use proto_raknet::{
    Channel, CloseReason, Config, ConfigError, Congestion, ConnectError, ConnectFailure, ConnectOptions,
    Direction, EndpointStats, FlushPolicy, Guid, IncomingConfig, Message, Motd, MotdError, OfflineError,
    PeerInfo, PeerStats, Priority, ProtocolVersion, Received, Reliability, Role, SendError, SessionConfig,
    Verdict,
};
