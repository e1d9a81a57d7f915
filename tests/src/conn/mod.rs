//! Real servers and clients of HTTP and WebSocket, and what tests need to talk to them.
//!
//! ```text
//! a test --> Client (ours)          --> Site (theirs: a daemon or a script, in a scratch folder, on a free port)
//!       \--> Visitor (their client) --> Echo (ours, in a thread of its own)
//!        \-> autobahn               --> its own testee of either role
//! ```
//!
//! What is missing installs itself: programs from Debian's packages, the rest into `target/peers`. As for all peers,
//! `IOLITE_SKIP_PEERS` leaves some out.
//!
//! This is a harness of tests: it panics where a test would.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "a harness of tests fails as tests do"
)]

pub mod autobahn;
mod certificates;
mod client;
mod echo;
mod installed;
mod ports;
mod site;
mod visitor;

pub use certificates::Certificates;
pub use client::Client;
pub use echo::Echo;
pub use installed::is_skipped;
pub use site::{Kind, Site};
pub use visitor::Visitor;
