//! What every benchmarked peer shares, so that no peer is measured with another ruler.
//!
//! A peer is one small binary with two roles. `server` echoes every message; `client` opens connections,
//! sends messages through a bounded window, checks every echo in full and prints one [`Report`] as JSON.
//! Each peer is its own process and binary, so that its memory is its own; the code here allocates little.
//!
//! - [`Command`]: the command line of a peer.
//! - [`Payload`]: the messages, and the check of an echo against them.
//! - [`Exchange`]: the window of one connection: what may be sent next and which echo must come next.
//! - [`course`] (feature `tokio`): the client's phases over many asynchronous connections.
//! - [`rns`]: the same for peers that speak Reticulum, which do more than echo.
//! - [`conn`] (feature `conn`): the same for clients of the six schemes of a robot's feed, one exchange at a time.
//! - [`Stopwatch`], [`Histogram`], [`Usage`], [`Report`]: what is measured and how it is told.

#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![allow(clippy::disallowed_methods, reason = "reading the clock is this crate's purpose")]

mod command;
#[cfg(feature = "conn")]
pub mod conn;
#[cfg(feature = "tokio")]
pub mod course;
mod exchange;
mod histogram;
mod payload;
mod report;
pub mod rns;
mod stopwatch;
mod usage;

pub use command::{Command, Load, Role};
pub use exchange::Exchange;
pub use histogram::{Histogram, SharedHistogram};
pub use payload::{MAX_SIZE, MIN_SIZE, Mismatch, Payload};
pub use report::{Report, Rtt, announce, announced};
pub use stopwatch::Stopwatch;
pub use usage::Usage;

/// Anything that ends a peer's run early; its text is what the benchmark's table shows.
pub type Fault = Box<dyn std::error::Error + Send + Sync>;
