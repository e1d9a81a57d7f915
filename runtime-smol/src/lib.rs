//! Iolite's machines on async-io: smol, async-std's executor, any other.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

#[cfg(feature = "raknet")]
pub mod raknet;
mod timer;
mod udp;

use std::{future::Future, io, time::Instant};

pub use runtime_core::{DriverConfig, ErrorCounts, Stats, Traffic, UdpOptions};
pub use timer::SmolTimer;
pub use udp::SmolUdp;

/// The smol runtime: drivers run on smol's global executor, sockets and timers in async-io's reactor.
///
/// The tasks that use the faces may run on any executor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Smol;

impl runtime_core::Runtime for Smol {
    type Udp = SmolUdp;
    type Timer = SmolTimer;

    fn udp(socket: std::net::UdpSocket) -> io::Result<SmolUdp> {
        SmolUdp::new(socket)
    }

    fn timer() -> io::Result<SmolTimer> {
        Ok(SmolTimer::default())
    }

    fn spawn(task: impl Future<Output = ()> + Send + 'static) {
        smol::spawn(task).detach();
    }

    #[allow(clippy::disallowed_methods, reason = "the runtimes are where clocks are read")]
    fn now() -> Instant {
        Instant::now()
    }
}
