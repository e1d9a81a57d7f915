//! The peer of a client, wherever it runs.

use std::net::SocketAddr;

use super::{Command, Cost, Gauge, lean};
use crate::Fault;

/// A peer that echoes.
#[derive(Debug)]
pub struct Arena {
    address: SocketAddr,
    gauge: Gauge,
}

impl Arena {
    /// The peer that `command` names; a lean one in a thread of this process when it names none.
    ///
    /// # Errors
    ///
    /// When a peer cannot be started.
    pub fn open(command: &Command) -> Result<Self, Fault> {
        match command.peer {
            Some(address) => Ok(Self::with(address, Gauge::default())),
            None => lean::spawn(command),
        }
    }

    /// A peer at `address` that adds its costs to `gauge`.
    pub fn with(address: SocketAddr, gauge: Gauge) -> Self {
        Self { address, gauge }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What its answers have cost so far, as far as this process can know.
    pub fn cost(&self) -> Cost {
        self.gauge.read()
    }
}
