//! Iolite's machines on tokio.
//!
//! With the feature `raknet`, which is on by default, [`raknet`] has servers, clients and pings:
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use runtime_tokio::raknet::{Config, RaknetListener, RaknetStream, ping};
//!
//! let listener = RaknetListener::bind("127.0.0.1:0".parse()?, Config::default())?;
//! listener.set_pong_data("an echo server")?;
//! let address = listener.local_addr();
//! tokio::spawn(async move {
//!     while let Ok(stream) = listener.accept().await {
//!         tokio::spawn(async move {
//!             while let Ok(message) = stream.recv().await {
//!                 if stream.send(message.payload).await.is_err() {
//!                     break;
//!                 }
//!             }
//!         });
//!     }
//! });
//!
//! let pong = ping(address, std::time::Duration::from_secs(2)).await?;
//! assert_eq!(pong.data, "an echo server");
//!
//! let client = RaknetStream::connect(address).await?;
//! client.send("\u{fe}hello").await?;
//! assert_eq!(client.recv().await?.payload, "\u{fe}hello");
//! client.close().await?;
//! # Ok(())
//! # }
//! ```
//!
//! With the feature `rns`, which is on by default too, [`rns`] has Reticulum nodes, destinations and links.
//!
//! Any flavour of the runtime will do; one thread is the fastest for one socket, and
//! [`ListenOptions::shards`](raknet::ListenOptions::shards) spreads a server over more. For machines of your own there is
//! [`Tokio`], to be used with `runtime_core::Driver`.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

#[cfg(feature = "conn")]
pub mod conn;
#[cfg(not(unix))]
mod portable;
#[cfg(feature = "raknet")]
pub mod raknet;
#[cfg(unix)]
mod readiness;
#[cfg(feature = "rns")]
pub mod rns;
mod stream;
mod timer;
mod udp;

use std::{future::Future, io, time::Instant};

#[cfg(not(unix))]
pub use portable::TokioSocket;
pub use runtime_core::{DriverConfig, ErrorCounts, Stats, Traffic, UdpOptions};
pub use stream::TokioStream;
pub use timer::TokioTimer;
pub use udp::TokioUdp;

/// The tokio runtime. Everything must be called inside one whose I/O and time drivers are enabled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tokio;

impl runtime_core::Runtime for Tokio {
    type Udp = TokioUdp;
    type Stream = TokioStream;
    type Timer = TokioTimer;

    fn udp(socket: std::net::UdpSocket) -> io::Result<TokioUdp> {
        TokioUdp::new(socket)
    }

    fn stream(socket: socket2::Socket) -> io::Result<TokioStream> {
        TokioStream::new(socket)
    }

    fn timer() -> io::Result<TokioTimer> {
        Ok(TokioTimer::default())
    }

    fn spawn(task: impl Future<Output = ()> + Send + 'static) {
        drop(tokio::spawn(task));
    }

    #[allow(clippy::disallowed_methods, reason = "the runtimes are where clocks are read")]
    fn now() -> Instant {
        Instant::now()
    }
}
