//! Runs any [`Machine`](proto_core::Machine) in the caller's thread, without an async runtime and without a thread of its
//! own.
//!
//! [`Blocking`] owns a machine and its links. The application gives commands with [`Blocking::with`], whose answers leave
//! before it returns, and takes events with [`Blocking::event`], which waits in the system call that receives. A program
//! that must not wait calls [`Blocking::poll`] once a frame; one with an event loop of its own watches
//! [`Blocking::fd`]. Only names are resolved by other threads, because the operating system makes their caller wait.
//!
//! ```text
//!           with                    event / wait / poll
//!            |                              |
//!            v                              v
//!   +------------------+      +-------------------------------+
//!   | command, pump    |      | receive, pump, until an event |
//!   +--------+---------+      +---------------+---------------+
//!            +------------ links -------------+      one: blocking recv or ppoll(2); several: epoll(7)
//! ```
//!
//! It needs `eventfd(2)` and `epoll(7)`, so on systems other than Linux the crate is empty.
//!
//! A dialogue over one stream costs one system call for each message that leaves and one for each that arrives, on each
//! side.

#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod blocking;
mod config;
#[cfg(feature = "conn")]
pub mod conn;
mod links;
mod mode;
#[cfg(feature = "raknet")]
pub mod raknet;
mod sink;
mod waker;

pub use blocking::{Blocking, Waited};
pub use config::Config;
pub use links::Wants;
pub use mode::ReceiveMode;
pub use runtime_core::{ErrorCounts, Stats, Traffic, UdpOptions, bind_udp};
pub use waker::Waker;
