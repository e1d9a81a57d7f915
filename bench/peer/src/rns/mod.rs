//! What the Reticulum peers share: the work they are given, the contents they carry, and how they account for them.
//!
//! A trial has up to three processes. They talk to the benchmark on their standard streams:
//!
//! ```text
//! responder, relay:  print "ready ADDRESS [DESTINATION]"; at the end of their input print a Tally, if they have one
//! initiator, driver: print one Report; end with their input
//! ```
//!
//! - [`Command`]: the command line, which carries all that defines the [`Work`].
//! - [`Content`]: the numbered contents of messages, responses and resources, and the check against them.
//! - [`Tally`]: which contents were settled, in few enough bytes to compare both ends.
//! - [`course`] (feature `tokio`): windows of operations over asynchronous links.
//! - [`Witness`]: what a responder received.
//! - [`Gauge`]: processor time and memory of both ends between two moments.

mod command;
mod content;
#[cfg(feature = "tokio")]
pub mod course;
mod gauge;
mod report;
mod tally;
mod witness;

pub use command::{Command, Kind, Mtu, Role, Work};
pub use content::{Content, Piece, Reading};
pub use gauge::Gauge;
pub use report::{Ready, Report};
pub use tally::Tally;
pub use witness::{Witness, wait_for_end_of_input};
