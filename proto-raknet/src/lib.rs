//! RakNet as a pure state machine.
//!
//! RakNet is the reliable UDP protocol of Minecraft Bedrock and many games. [`Endpoint`] implements it in both roles: it
//! answers pings, accepts and opens sessions, and moves messages with eight kinds of reliability over 32 channels. It
//! opens no socket and reads no clock: a driver feeds it datagrams and time through
//! [`Machine`](proto_core::Machine), and sends what it emits.
//!
//! # A session in one loop
//!
//! ```
//! use std::{collections::VecDeque, net::SocketAddr, num::NonZeroUsize, time::Duration};
//! use proto_core::{Datagram, Instant, Machine};
//! use proto_raknet::{Config, ConnectOptions, Endpoint, Event, SOCKET};
//!
//! let addresses: [SocketAddr; 2] = ["10.0.0.1:19132".parse()?, "10.0.0.2:50000".parse()?];
//! let mut server = Endpoint::new(Config::default(), [1; 32])?;
//! let mut client = Endpoint::new(Config::client(), [2; 32])?;
//! let mut now = Instant::from_millis(1);
//! client.connect(now, addresses[0], ConnectOptions::default())?;
//!
//! let mut answer = None;
//! while answer.is_none() {
//!     // What a driver does with sockets and timers: carry datagrams, report time.
//!     for (from, to) in [(1, 0), (0, 1)] {
//!         let ends = [&mut server, &mut client];
//!         let mut wire = VecDeque::new();
//!         let mut buf = Vec::new();
//!         while let Some(transmit) = ends[from].poll_transmit(now, NonZeroUsize::MIN, &mut buf) {
//!             wire.push_back(buf.split_off(buf.len() - transmit.len));
//!         }
//!         for mut data in wire {
//!             ends[to].handle_datagram(now, Datagram::new(SOCKET, addresses[from], &mut data));
//!         }
//!     }
//!     now += Duration::from_millis(10);
//!     // What an application does with events.
//!     while let Some(event) = server.poll_event() {
//!         if let Event::Readable { peer } = event {
//!             while let Some(message) = server.recv(peer) {
//!                 server.send(now, peer, message.payload)?; // echo, reliable and ordered
//!             }
//!         }
//!     }
//!     while let Some(event) = client.poll_event() {
//!         match event {
//!             Event::Connected { peer, .. } => { client.send(now, peer, &b"\xfehello"[..])?; }
//!             Event::Readable { peer } => answer = client.recv(peer),
//!             _ => {}
//!         }
//!     }
//! }
//! assert_eq!(&answer.unwrap().payload[..], b"\xfehello");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `proto_core::pump` does the draining for drivers; the `runtime-tokio` and `runtime-smol` crates are such drivers with
//! sockets.
//!
//! # Security
//!
//! RakNet is neither encrypted nor authenticated. Whoever can read the path can forge anything; who cannot must guess
//! numbers. With cookies on, no state is kept for an address before it proved that it receives our answers. Nothing a
//! peer sends makes the machine panic or grow beyond the bounds in [`Config`] and [`limits`], and a datagram that
//! breaks the rules is counted and dropped; it never ends a session by itself.

#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![warn(clippy::std_instead_of_core, clippy::std_instead_of_alloc, clippy::alloc_instead_of_core)]

extern crate alloc;
#[cfg(any(feature = "std", test))]
extern crate std;

mod config;
mod congestion;
mod endpoint;
mod error;
mod event;
mod guid;
pub mod limits;
mod message;
mod motd;
mod peer;
mod stats;
pub mod wire;

pub use config::{
    Config, ConfigError, Congestion, ConnectOptions, FlushPolicy, IncomingConfig, SessionConfig,
};
pub use endpoint::{DatagramFilter, Direction, Endpoint, PacketLog, SOCKET, Verdict};
pub use error::{ConnectError, OfflineError, SendError};
pub use event::{CloseReason, ConnectFailure, Event, PeerId, PeerInfo, Role};
pub use guid::Guid;
pub use message::{Channel, Message, Priority, ReceiptId, Received, Reliability};
pub use motd::{Edition, Motd, MotdError, MotdParseError};
pub use stats::{Drops, EndpointStats, PeerStats, PeerTotals};
pub use wire::ProtocolVersion;
