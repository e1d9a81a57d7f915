//! What the contenders of `bench conn` share: the exchanges they are given, the peer they talk to, and the ruler.
//!
//! A contender is a program with the command line of [`Command`]. As a client it connects to the peer that the command
//! names, or to one that it runs in a thread of its own process, exchanges messages one at a time, and prints one
//! [`Report`]. What one trial's processes print:
//!
//! ```text
//! client: one Report
//! server: "ready ADDRESS"; at the end of its input one Cost
//! ```
//!
//! - [`Scheme`]: how a message and its echo travel.
//! - [`Arena`]: the peer, wherever it runs. In a client's own process it is the lean one ([`lean`]).
//! - [`Course`]: the exchanges, timed and checked.
//! - [`Identity`]: the certificate of secure peers.
//! - [`groups`]: where multicast datagrams go.
//! - [`Gauge`] and [`Cost`]: what answering costs a peer.

mod arena;
mod command;
mod cost;
mod course;
pub mod groups;
mod identity;
pub mod lean;
mod report;
mod scheme;

pub use arena::Arena;
pub use command::{Command, Role};
pub use cost::{Cost, Gauge};
pub use course::Course;
pub use identity::Identity;
pub use report::Report;
pub use scheme::Scheme;
