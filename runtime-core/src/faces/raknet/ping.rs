//! Asking a server for its description, without a session.

use bytes::Bytes;
use proto_raknet::{Config, Guid, Motd, MotdParseError};
use std::{
    future::poll_fn,
    io,
    net::SocketAddr,
    task::{Context, Poll},
    time::{Duration, Instant},
};

use super::{
    desk::Desk,
    error::PingFailed,
    open::{any_port_towards, new_endpoint, run},
};
use crate::{DriverConfig, Runtime, Timer, UdpOptions, bind_udp};

/// A server's answer to a ping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pong {
    /// Who answered.
    pub from: SocketAddr,
    /// Its identifier.
    pub guid: Guid,
    /// The time from ping to pong.
    pub rtt: Duration,
    /// What it says about itself; Bedrock servers send what [`motd`](Self::motd) reads.
    pub data: Bytes,
}

impl Pong {
    /// Reads the description of a Bedrock server.
    ///
    /// # Errors
    /// The data is something else.
    pub fn motd(&self) -> Result<Motd, MotdParseError> {
        Motd::parse(&self.data)
    }
}

/// Pings `server` until it answers, every half second and for `timeout` at most.
///
/// Cancel-safe: dropping the future ends the pinging.
///
/// # Errors
/// There is no socket to be had, or nobody answered.
pub async fn ping<R: Runtime>(server: SocketAddr, timeout: Duration) -> Result<Pong, PingFailed> {
    let endpoint = new_endpoint(Config::client())?.map_err(io::Error::other)?;
    let socket = bind_udp(any_port_towards(server), UdpOptions::default())?;
    let handle = run::<R>(endpoint, Desk::default(), socket, DriverConfig::default())?;
    let end = R::now() + timeout;
    let mut tick = Tick { timer: R::timer()?, at: R::now() };
    poll_fn(|cx| {
        loop {
            if let Some(pong) = handle.read(|_, desk| desk.pong(cx)) {
                return Poll::Ready(Ok(pong));
            }
            if tick.poll::<R>(cx).is_pending() {
                return Poll::Pending;
            }
            let now = R::now();
            if now >= end {
                return Poll::Ready(Err(PingFailed::NoAnswer));
            }
            // A full queue is like a lost ping: the next one may get through.
            let _ = handle.with(|machine, _, now| machine.ping(now, server, false));
            tick.set((now + INTERVAL).min(end));
        }
    })
    .await
}

/// A timer with the instant it stands at.
struct Tick<T> {
    timer: T,
    at: Instant,
}

impl<T: Timer> Tick<T> {
    fn set(&mut self, at: Instant) {
        self.at = at;
        self.timer.arm(at, Duration::ZERO);
    }

    fn poll<R: Runtime>(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while R::now() < self.at {
            if self.timer.poll_expired(cx).is_pending() {
                return Poll::Pending;
            }
            // It fired early.
            self.timer.arm(self.at, Duration::ZERO);
        }
        Poll::Ready(())
    }
}

/// The time between two pings.
const INTERVAL: Duration = Duration::from_millis(500);
