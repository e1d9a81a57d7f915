//! WebSocket (RFC 6455) with permessage-deflate (RFC 7692) in both roles.
//!
//! [`handshake`] makes and checks the HTTP messages that open a connection; a [`Session`] speaks from then on:
//!
//! ```text
//!          close()                       close frame
//!  Open ────────────► Closing ─────────────────────────────► Closed
//!   │                    │ no close frame in time: 1006        ▲
//!   │                    └─────────────────────────────────────┤
//!   ├─ close frame: answered ──────────────────────────────────┤
//!   ├─ a rule is broken: close frame with 1002, 1007 or 1009 ──┤
//!   └─ the stream ends, or no sign of life: 1006 ──────────────┘
//! ```
//!
//! Then the server closes the stream, and the client waits for that as long as closing may take.
//!
//! # A run loop
//!
//! ```
//! use proto_conn::{Message, Talk as _};
//! use proto_conn::ws::{Config, Event, Role, Session, handshake::Agreed};
//! use proto_core::{Instant, Rng};
//!
//! let now = Instant::ZERO;
//! let (config, agreed) = (Config::default(), Agreed::default());
//! let mut client = Session::new(Role::Client, &config, &agreed, Rng::from_u64(1))?;
//! let mut server = Session::new(Role::Server, &config, &agreed, Rng::from_u64(2))?;
//!
//! client.send(now, &Message::text("hello"))?;
//! let mut wire = Vec::new();
//! while client.outgoing().copy(usize::MAX, &mut wire) > 0 {} // a driver hands the bytes to a socket
//! client.handle_sent(now);
//! let taken = server.handle_input(now, &wire);
//! assert_eq!(taken, wire.len());
//! let Some(Event::Message(message)) = server.poll_event() else { panic!() };
//! assert_eq!(message.body.as_str(), Some("hello"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod assembly;
mod close;
mod config;
mod courtesy;
mod failure;
mod frame;
pub mod handshake;
mod keepalive;
mod mask;
#[cfg(not(feature = "deflate"))]
mod no_deflate;
#[cfg(feature = "deflate")]
mod permessage_deflate;
mod receive;
mod send;
mod session;
mod utf8;

#[cfg(not(feature = "deflate"))]
use no_deflate as packing;
#[cfg(feature = "deflate")]
use permessage_deflate as packing;

pub use close::{ABNORMAL, NO_STATUS};
pub use config::{Config, ConfigError, Deflate, Keepalive, Origins, Receive};
pub(crate) use courtesy::Courtesy;
pub use session::{Event, Session, State};

/// The side of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The side that connected. Its frames are masked.
    Client,
    /// The side that was connected to.
    Server,
}

impl Role {
    #[cfg(feature = "deflate")]
    const fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }
}
