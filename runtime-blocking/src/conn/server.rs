//! The other side, in the caller's thread.

use proto_conn::{
    Error, Phase,
    server::{self, Config, Event},
};
use std::time::{Duration, Instant};

use super::{connection::FIRST_READ, os_error, seed};
use crate::{Blocking, ReceiveMode, Waited, Waker};

/// A server of all six schemes, driven by the calls of its owner. Commands go to its
/// [`machine`](server::Server) by [`with`](Self::with).
#[derive(Debug)]
pub struct Server {
    driver: Blocking<server::Server>,
}

impl Server {
    /// Creates a server that listens nowhere yet.
    ///
    /// # Errors
    /// The configuration cannot be used, or the operating system has no more descriptors.
    pub fn new(config: Config) -> Result<Self, Error> {
        let machine = server::Server::new(config, seed()?)?;
        let driver =
            Blocking::new(machine, crate::Config { first_read: FIRST_READ, ..crate::Config::default() })
                .map_err(|error| os_error(Phase::Arguments, &error))?;
        Ok(Self { driver })
    }

    /// Gives the machine a command; what it causes has left when this returns.
    pub fn with<T>(&mut self, command: impl FnOnce(&mut server::Server, proto_core::Instant) -> T) -> T {
        self.driver.with(command)
    }

    /// Waits for the next event; `None` at the deadline, or when it was woken.
    ///
    /// # Errors
    /// The operating system's.
    #[allow(clippy::disallowed_methods, reason = "a driver reads the clock")]
    pub fn event(&mut self, timeout: Option<Duration>) -> Result<Option<Event>, Error> {
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        loop {
            if let Some(event) = self.driver.next_event() {
                return Ok(Some(event));
            }
            match self.driver.wait(deadline).map_err(|error| os_error(Phase::Receive, &error))? {
                Waited::Event => {}
                Waited::Deadline | Waited::Woken | Waited::Idle => return Ok(None),
            }
        }
    }

    /// Sets how [`event`](Self::event) waits.
    pub fn set_receive_mode(&mut self, mode: ReceiveMode) {
        self.driver.set_mode(mode);
    }

    /// Returns what wakes a call that waits, from any thread.
    ///
    /// # Errors
    /// The operating system has no more descriptors.
    pub fn waker(&mut self) -> Result<Waker, Error> {
        self.driver.waker().map_err(|error| os_error(Phase::Arguments, &error))
    }
}
