//! `iolite raknet`.

mod bench;
mod connect;
mod one_of;
mod ping;
mod proxy;
mod send;
mod serve;

use clap::Subcommand;

pub(crate) use bench::Bench;
pub(crate) use connect::{Connect, Family};
pub(crate) use ping::Ping;
pub(crate) use proxy::Proxy;
pub(crate) use send::Send;
pub(crate) use serve::{Serve, Switch};

/// The commands of RakNet.
#[derive(Debug, Subcommand)]
pub(crate) enum Raknet {
    /// Ask a server who it is, repeatedly, and measure the round trip.
    Ping(Ping),
    /// Run an echo server: every message goes back as it came.
    Serve(Serve),
    /// Open a session, send messages, and wait until they arrived.
    Send(Send),
    /// Relay Bedrock players to another server and show what goes through.
    Proxy(Proxy),
    /// Measure throughput and latency against an echo server.
    Bench(Bench),
}
