//! Iolite's machines on async-io: smol, async-std's executor, any other.
//!
//! With the feature `raknet`, which is on by default, [`raknet`] has servers, clients and pings:
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # smol::block_on(async {
//! use runtime_smol::raknet::{Config, RaknetListener, RaknetStream, ping};
//!
//! let listener = RaknetListener::bind("127.0.0.1:0".parse()?, Config::default())?;
//! listener.set_pong_data("an echo server")?;
//! let address = listener.local_addr();
//! smol::spawn(async move {
//!     while let Ok(stream) = listener.accept().await {
//!         smol::spawn(async move {
//!             while let Ok(message) = stream.recv().await {
//!                 if stream.send(message.payload).await.is_err() {
//!                     break;
//!                 }
//!             }
//!         }).detach();
//!     }
//! }).detach();
//!
//! let pong = ping(address, std::time::Duration::from_secs(2)).await?;
//! assert_eq!(pong.data, "an echo server");
//!
//! let client = RaknetStream::connect(address).await?;
//! client.send("\u{fe}hello").await?;
//! assert_eq!(client.recv().await?.payload, "\u{fe}hello");
//! client.close().await?;
//! # Ok(())
//! # })
//! # }
//! ```
//!
//! With the feature `rns`, which is on by default too, [`rns`] has Reticulum nodes, destinations and links.
//!
//! Drivers run on smol's global executor; the tasks that use the streams may run on any. For another executor, or for
//! machines of your own, there is `runtime_core::Runtime` to implement in a few lines with the sockets and timers of
//! [`Smol`].

#![forbid(unsafe_code)]
#![deny(missing_docs)]

#[cfg(feature = "conn")]
pub mod conn;
#[cfg(feature = "raknet")]
pub mod raknet;
#[cfg(feature = "rns")]
pub mod rns;
mod socket;
mod timer;

use std::{future::Future, io, time::Instant};

pub use runtime_core::{DriverConfig, ErrorCounts, Stats, Traffic, UdpOptions};
pub use socket::SmolSocket;
pub use timer::SmolTimer;

/// The smol runtime: drivers run on smol's global executor, sockets and timers in async-io's reactor.
///
/// The tasks that use the faces may run on any executor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Smol;

impl runtime_core::Runtime for Smol {
    type Udp = SmolSocket;
    type Stream = SmolSocket;
    type Timer = SmolTimer;

    fn udp(socket: std::net::UdpSocket) -> io::Result<SmolSocket> {
        SmolSocket::new(socket.into())
    }

    fn stream(socket: socket2::Socket) -> io::Result<SmolSocket> {
        SmolSocket::new(socket)
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
