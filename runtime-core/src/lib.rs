//! One driver for every Iolite machine, generic over the async runtime, and the typed faces on it.
//!
//! A protocol is a [`Machine`](proto_core::Machine) without sockets or clocks. The [`Driver`] is the future that gives
//! it both; a [`Handle`] runs commands on the machine from any thread; a [`Face`] turns the machine's events into
//! wake-ups of the application's tasks. What a driver needs from tokio, async-io or another runtime is the small trait
//! [`Runtime`].
//!
//! Applications use `runtime-tokio` or `runtime-smol`, which fix the runtime.
//!
//! ```text
//!  application task --with/read--> Mutex{machine, face} <--send, receive, deliver-- Driver (one task)
//!        ^                                  |                                          |
//!        +------------- wakers -------------+                              sockets and timer of the Runtime
//! ```

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod config;
mod driver;
mod face;
#[cfg(any(feature = "conn", feature = "raknet", feature = "rns"))]
mod faces;
mod handle;
mod ports;
mod runtime;
mod shared;
pub mod sockets;
mod stats;
mod trust;

pub use config::DriverConfig;
pub use driver::Driver;
pub use face::Face;
#[cfg(feature = "conn")]
pub use faces::conn;
#[cfg(feature = "raknet")]
pub use faces::raknet;
#[cfg(feature = "rns")]
pub use faces::rns;
pub use handle::Handle;
pub use runtime::{Interest, Progress, Runtime, SocketIo, Timer};
pub use sockets::{UdpOptions, bind_udp};
pub use stats::{ErrorCounts, Stats, Traffic};
pub use trust::Trust;
