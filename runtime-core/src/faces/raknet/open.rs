//! From a socket to an endpoint with a driver, and from there to an open session.

use proto_core::Instant;
use proto_raknet::{
    CloseReason, Config, ConfigError, ConnectError, ConnectFailure, Endpoint, PeerId, SOCKET,
};
use std::{
    future::poll_fn,
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket},
    sync::Arc,
    task::{Context, Poll},
};

use super::{
    desk::{Departure, Desk, Occasion},
    error::ConnectFailed,
    options::ClientOptions,
    session::Session,
};
use crate::{Driver, DriverConfig, Handle, Runtime, bind_udp};

/// Creates an endpoint with a seed from the operating system.
pub(super) fn new_endpoint(config: Config) -> io::Result<Result<Endpoint, ConfigError>> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(Endpoint::new(config, seed))
}

/// Runs an endpoint on a bound socket.
pub(super) fn run<R: Runtime>(
    endpoint: Endpoint,
    desk: Desk,
    socket: UdpSocket,
    config: DriverConfig,
) -> io::Result<Handle<Endpoint, Desk>> {
    let (mut driver, handle) = Driver::<_, _, R>::new(endpoint, desk, config)?;
    driver.add_udp(SOCKET, socket)?;
    driver.spawn();
    Ok(handle)
}

/// Opens a session on an endpoint of its own.
pub(super) async fn connect<R: Runtime>(
    server: SocketAddr,
    options: ClientOptions,
) -> Result<Arc<Session>, ConnectFailed> {
    let ClientOptions { endpoint, connect, bind, udp, driver, hooks } = options;
    let mut endpoint = new_endpoint(endpoint)??;
    hooks.install(&mut endpoint);
    let socket = bind_udp(bind.unwrap_or_else(|| any_port_towards(server)), udp)?;
    let handle = run::<R>(endpoint, Desk::default(), socket, driver)?;
    let mut attempt = Attempt::new(handle, |machine, now| machine.connect(now, server, connect))?;
    poll_fn(|cx| attempt.poll(cx)).await
}

/// Returns the unspecified address of the same family as `peer`.
pub(super) const fn any_port_towards(peer: SocketAddr) -> SocketAddr {
    match peer {
        SocketAddr::V4(_) => SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0),
        SocketAddr::V6(_) => SocketAddr::new(IpAddr::V6(Ipv6Addr::UNSPECIFIED), 0),
    }
}

/// A session that is being opened. Dropped, it gives up.
pub(super) struct Attempt {
    handle: Handle<Endpoint, Desk>,
    peer: PeerId,
    /// A session has taken over.
    opened: bool,
}

impl Attempt {
    /// Begins to open a session as `connect` says.
    pub(super) fn new(
        handle: Handle<Endpoint, Desk>,
        connect: impl FnOnce(&mut Endpoint, Instant) -> Result<PeerId, ConnectError>,
    ) -> Result<Self, ConnectFailed> {
        let peer = handle.with(|machine, desk, now| {
            let peer = connect(machine, now)?;
            desk.expect(peer);
            Ok::<_, ConnectFailed>(peer)
        })?;
        Ok(Self { handle, peer, opened: false })
    }

    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<Arc<Session>, ConnectFailed>> {
        let polled = self.handle.read(|_, desk| {
            if let Some(departed) = desk.departed(self.peer) {
                let failure = match departed.why {
                    Departure::NeverCame(failure) => failure,
                    // It opened and ended before anybody looked, or the driver is gone.
                    Departure::Left(CloseReason::LinkDown) => ConnectFailure::LinkDown,
                    Departure::Left(_) => ConnectFailure::Refused,
                };
                return Poll::Ready(Err(failure.into()));
            }
            let info = desk.info(self.peer);
            if info.is_none() {
                desk.wait(self.peer, Occasion::Change, cx);
            }
            info.map_or(Poll::Pending, |info| Poll::Ready(Ok(info)))
        });
        polled.map_ok(|info| {
            self.opened = true;
            Arc::new(Session::new(self.handle.clone(), self.peer, info))
        })
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        if !self.opened {
            self.handle.with(|machine, desk, now| {
                machine.disconnect(now, self.peer);
                desk.leave(self.peer);
            });
        }
    }
}
