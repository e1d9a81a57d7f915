//! Connections of the six schemes, in the caller's thread: [`Connection`], and a [`Server`] for the other side.
//!
//! Every call has a deadline. `None` means the connection's own: that of the phase that it is in.

mod connection;
mod server;

pub use connection::Connection;
pub use proto_conn::{
    Code, Error, ExchangeId, Flags, HeaderError, Headers, Kind, Message, Method, Payload, Phase, Url,
    client::{Closed, Event, Options, Proxy, Reconnect, State, Timeouts},
    http, server as machine, tls, ws,
};
pub use server::Server;

use proto_conn::tls::{TlsClient, TlsConfig, WallClock};
use std::io;

/// Turns an error of the operating system into one of a connection.
fn os_error(phase: Phase, error: &io::Error) -> Error {
    Error { os: error.raw_os_error(), ..Error::new(Code::Io, phase).with_detail(error.to_string()) }
}

fn seed() -> Result<[u8; 32], Error> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(|error| {
        Error::new(Code::Io, Phase::Arguments).with_detail(format!("randomness: {error}"))
    })?;
    Ok(seed)
}

/// TLS as most clients want it: the roots that Mozilla trusts, and the system's clock.
fn default_tls() -> Result<TlsClient, Error> {
    TlsClient::new(TlsConfig::default(), &system_clock())
}

/// Returns a clock that is set to the system's time now.
pub fn system_clock() -> WallClock {
    runtime_core::conn::wall_clock()
}
