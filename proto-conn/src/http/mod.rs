//! HTTP/1.1 (RFC 9110, RFC 9112) in both roles.
//!
//! [`ClientSession`] and [`ServerSession`] each speak over one connection. They are [`Talk`](crate::Talk)s: fed with
//! the bytes that arrive, they leave what is to be sent in their [`Outgoing`](crate::Outgoing), and tell the rest as
//! [`Event`]s. Received messages are held to the letter of RFC 9112; what two readers could read differently is
//! refused.
//!
//! ```text
//! input ─▶ HeadReader (Lines, Section, Facts) ─▶ Framing ─▶ BodyReader ─▶ Collector ─▶ events
//! send  ─▶ encode ─▶ BodyWriter ─▶ output
//! ```

mod announce;
pub mod auth;
mod body;
mod body_writer;
mod chunked;
mod client;
mod collector;
mod config;
mod deadline;
#[cfg(feature = "deflate")]
mod decoding;
mod encode;
mod event;
mod exchange;
mod facts;
mod fault;
mod field;
mod framing;
mod head;
mod host;
mod line;
mod options;
mod receiver;
mod request_line;
mod section;
mod server;
pub mod sse;
mod status_line;
mod trailers;
mod version;

pub use client::ClientSession;
pub use config::{Config, ConfigError, Leniency, Limits, Timeouts};
pub use event::Event;
pub use options::{BodyKind, Progress, ResponseMode, SendOptions, TargetForm};
pub use server::ServerSession;
