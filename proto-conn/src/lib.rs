//! One handle, one message type, six schemes: `http`, `https`, `ws`, `wss`, `udp` and `udp_multicast`, in both roles,
//! as pure state machines.
//!
//! [`client::Connection`] is the handle; [`server::Server`] is the other side. Both are [`Machine`](proto_core::Machine)s.
//! What they are made of can be used alone: [`http`] and [`ws`] speak their protocols over bytes that come from
//! anywhere.

#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![warn(clippy::std_instead_of_core, clippy::std_instead_of_alloc, clippy::alloc_instead_of_core)]

extern crate alloc;
#[cfg(any(feature = "std", test))]
extern crate std;

mod base64;
mod buffer;
mod carrier;
pub mod client;
#[cfg(feature = "deflate")]
mod deflate;
mod earliest;
mod error;
mod headers;
pub mod http;
mod message;
mod outgoing;
mod secrets;
pub mod server;
mod talk;
pub mod tls;
mod url;
pub mod ws;

pub use buffer::{Filling, Payload, Pool};
pub use error::{Code, Error, Phase};
pub use headers::{HeaderError, Headers};
pub use message::{ExchangeId, Flags, Kind, Message, Method};
pub use outgoing::Outgoing;
pub use talk::{StreamEnd, Talk};
pub use url::{Host, Scheme, Url, UrlError, UrlProblem, UserInfo};
