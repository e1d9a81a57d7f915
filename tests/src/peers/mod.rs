//! Real implementations, and what tests need to talk to those of RakNet; for Reticulum see [`crate::reticulum`], for
//! HTTP and WebSocket [`crate::conn`].
//!
//! ```text
//! a test --> Pairing --> Session  (ours: the blocking loop or tokio)
//!                  \---> Peer     (theirs: a process that speaks the line protocol)
//! ```
//!
//! The peers' own code is in `tests/peers`: small programs for Node.js, Python and Rust that take commands and tell
//! events as JSON lines. What they need is installed into `target/peers` on first use. A peer that cannot be had is
//! a failure; the environment variable `IOLITE_SKIP_PEERS` (`1`, or a list of names) leaves peers out instead.
//!
//! This is a harness of tests: it panics where a test would.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a harness of tests fails as tests do"
)]

mod bedrock;
mod implementation;
pub(crate) mod install;
mod lines;
mod output;
mod pairing;
pub(crate) mod patience;
pub(crate) mod peer;
pub(crate) mod process;
mod relay;
pub mod scenario;
mod scratch;
mod session;
pub(crate) mod wishes;

pub use bedrock::Bedrock;
pub use implementation::Implementation;
pub use lines::{End, Role};
pub use output::Output;
pub use pairing::Pairing;
pub use patience::until;
pub use peer::Peer;
pub use relay::Relay;
pub use scratch::Scratch;
pub use session::{Drive, Listening, Session};
