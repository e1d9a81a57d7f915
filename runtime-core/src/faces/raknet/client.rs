//! Many sessions from one place.

use proto_raknet::{Config, ConnectOptions, EndpointStats};
use std::{fmt, future::poll_fn, marker::PhantomData, net::SocketAddr};

use super::{
    desk::Desk,
    error::{BindFailed, ConnectFailed},
    hooks::Hooks,
    open::{Attempt, any_port_towards, new_endpoint},
    stream::RaknetStream,
};
use crate::{Driver, DriverConfig, Handle, Runtime, Stats};

/// Opens any number of sessions, each on a socket of its own, which one task drives together.
///
/// For many sessions it takes less time and memory than as many calls of
/// [`RaknetStream::connect`](super::RaknetStream::connect), which has a task for each. All sessions share one
/// configuration; towards their servers each is a client with an identifier of its own. On a runtime with several threads,
/// several clients share the work.
///
/// Clones are the same client. Dropped, it lets the sessions it opened live on.
pub struct RaknetClient<R> {
    handle: Handle<proto_raknet::Endpoint, Desk>,
    runtime: PhantomData<fn() -> R>,
}

impl<R: Runtime> RaknetClient<R> {
    /// Creates a client without sessions.
    ///
    /// # Errors
    /// The configuration cannot work, or the operating system refused.
    pub fn new(endpoint: Config) -> Result<Self, BindFailed> {
        let driver = DriverConfig {
            datagrams_per_round: ROUND,
            transmits_per_round: ROUND,
            ..DriverConfig::default()
        };
        Self::with(endpoint, driver, &Hooks::default())
    }

    /// Creates a client without sessions; `hooks` look at the datagrams of all.
    ///
    /// # Errors
    /// The configuration cannot work, or the operating system refused.
    pub fn with(endpoint: Config, driver: DriverConfig, hooks: &Hooks) -> Result<Self, BindFailed> {
        let mut endpoint = new_endpoint(endpoint)??;
        hooks.install(&mut endpoint);
        let (driver, handle) = Driver::<_, _, R>::new(endpoint, Desk::default(), driver)?;
        driver.spawn();
        Ok(Self { handle, runtime: PhantomData })
    }
}

impl<R> RaknetClient<R> {
    /// Opens a session with `server` with the default options.
    ///
    /// Cancel-safe: dropping the future gives the attempt up.
    ///
    /// # Errors
    /// There is no socket to be had, or the server refused or did not answer in time.
    pub async fn connect(&self, server: SocketAddr) -> Result<RaknetStream<R>, ConnectFailed> {
        self.connect_with(server, None, ConnectOptions::default()).await
    }

    /// Opens a session with `server` from the local address `bind`; by default from any port of the server's address
    /// family. Everything together takes at most [`ConnectOptions::timeout`].
    ///
    /// Cancel-safe: dropping the future gives the attempt up.
    ///
    /// # Errors
    /// The options cannot work, there is no socket to be had, or the server refused or did not answer in time.
    pub async fn connect_with(
        &self,
        server: SocketAddr,
        bind: Option<SocketAddr>,
        options: ConnectOptions,
    ) -> Result<RaknetStream<R>, ConnectFailed> {
        let bind = bind.unwrap_or_else(|| any_port_towards(server));
        let mut attempt = Attempt::new(self.handle.clone(), |machine, now| {
            machine.connect_apart(now, server, bind, options)
        })?;
        poll_fn(|cx| attempt.poll(cx)).await.map(RaknetStream::new)
    }

    /// Returns the protocol statistics of all sessions together.
    pub fn stats(&self) -> EndpointStats {
        self.handle.read(|machine, _| machine.stats())
    }

    /// Returns what the driver counted.
    pub fn driver_stats(&self) -> Stats {
        self.handle.stats()
    }
}

impl<R> Clone for RaknetClient<R> {
    fn clone(&self) -> Self {
        Self { handle: self.handle.clone(), runtime: PhantomData }
    }
}

impl<R> fmt::Debug for RaknetClient<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RaknetClient").field("sessions", &self.stats().peers).finish_non_exhaustive()
    }
}

/// Datagrams and transmits of one round. A round that goes through many sessions gives each more time to gather what it then
/// reads, acknowledges and answers at once.
const ROUND: usize = 1_024;
