//! Iolite's machines on tokio.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

#[cfg(feature = "raknet")]
pub mod raknet;
mod timer;
mod udp;

use std::{future::Future, io, time::Instant};

pub use runtime_core::{DriverConfig, ErrorCounts, Stats, Traffic, UdpOptions};
pub use timer::TokioTimer;
pub use udp::TokioUdp;

/// The tokio runtime. Everything must be called inside one whose I/O driver is enabled; outside Linux its time
/// driver too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tokio;

impl runtime_core::Runtime for Tokio {
    type Udp = TokioUdp;
    type Timer = TokioTimer;

    fn udp(socket: std::net::UdpSocket) -> io::Result<TokioUdp> {
        TokioUdp::new(socket)
    }

    fn timer() -> io::Result<TokioTimer> {
        TokioTimer::new()
    }

    fn spawn(task: impl Future<Output = ()> + Send + 'static) {
        drop(tokio::spawn(task));
    }

    #[allow(clippy::disallowed_methods, reason = "the runtimes are where clocks are read")]
    fn now() -> Instant {
        Instant::now()
    }
}
