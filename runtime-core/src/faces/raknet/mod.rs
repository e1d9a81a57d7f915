//! RakNet for applications: a listener, a stream, a ping.
//!
//! The types are generic over the [`Runtime`](crate::Runtime); `runtime-tokio` and `runtime-smol` re-export them with
//! it fixed.
//!
//! Everything that waits is cancel-safe: dropping a future before it is ready loses no message and leaves no session
//! half open. Each method says what that means for it.

mod desk;
mod error;
mod halves;
mod listener;
mod open;
mod options;
mod ping;
mod receipt;
mod session;
mod stream;

pub use error::{BindFailed, ConnectFailed, ListenerClosed, PingFailed, SendFailed};
pub use halves::{RaknetReadHalf, RaknetWriteHalf};
pub use listener::RaknetListener;
pub use options::{ClientOptions, ListenOptions};
pub use ping::{Pong, ping};
pub use receipt::{Delivery, Receipt};
pub use stream::RaknetStream;

pub use proto_raknet::{
    Channel, CloseReason, Config, ConfigError, Congestion, ConnectError, ConnectFailure, ConnectOptions,
    EndpointStats, FlushPolicy, Guid, IncomingConfig, Message, Motd, MotdError, OfflineError, PeerInfo,
    PeerStats, Priority, ProtocolVersion, Received, Reliability, Role, SendError, SessionConfig,
};
