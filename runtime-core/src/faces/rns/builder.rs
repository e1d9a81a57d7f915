//! Starting a node.

use super::{desk::Desk, error::SpawnFailed, node::RnsNode};
use crate::{Driver, DriverConfig, Runtime};
use proto_core::UnixTime;
use proto_rns::{
    bz2::Bz2,
    identity::Identity,
    iface::InterfaceConfig,
    node::{Node, NodeConfig, Tools},
    storage::Storage,
};
use std::{
    io,
    marker::PhantomData,
    sync::Arc,
    time::{Duration, SystemTime},
};

/// What a node starts with. [`spawn`](Self::spawn) starts it.
#[derive(Debug)]
pub struct NodeBuilder<R> {
    config: NodeConfig,
    driver: DriverConfig,
    identity: Option<Identity>,
    tools: Tools,
    interfaces: Vec<InterfaceConfig>,
    runtime: PhantomData<R>,
}

impl<R: Runtime> NodeBuilder<R> {
    pub(super) fn new() -> Self {
        Self {
            config: NodeConfig::default(),
            driver: DriverConfig::default(),
            identity: None,
            tools: Tools { crypto: host_crypto::provider(), compression: Arc::new(Bz2::default()) },
            interfaces: Vec::new(),
            runtime: PhantomData,
        }
    }

    /// Replaces the node's settings.
    #[must_use]
    pub fn config(mut self, config: NodeConfig) -> Self {
        self.config = config;
        self
    }

    /// Makes it pass on packets, announces and path requests of others, or not.
    #[must_use]
    pub const fn transport(mut self, enabled: bool) -> Self {
        self.config.transport = enabled;
        self
    }

    /// Replaces the driver's settings.
    #[must_use]
    pub const fn driver(mut self, driver: DriverConfig) -> Self {
        self.driver = driver;
        self
    }

    /// Sets who it is to other transport nodes; without, it is somebody new each time.
    #[must_use]
    pub fn identity(mut self, identity: Identity) -> Self {
        self.identity = Some(identity);
        self
    }

    /// Replaces cryptography and compression, which are the fastest that the host offers.
    #[must_use]
    pub fn tools(mut self, tools: Tools) -> Self {
        self.tools = tools;
        self
    }

    /// Adds an interface.
    #[must_use]
    pub fn interface(mut self, interface: InterfaceConfig) -> Self {
        self.interfaces.push(interface);
        self
    }

    /// Starts the node.
    ///
    /// # Errors
    /// Settings are out of their range, or the operating system does not give what is needed.
    pub fn spawn(self) -> Result<RnsNode<R>, SpawnFailed> {
        self.spawn_with(None)
    }

    /// Starts the node with what it kept the last time.
    ///
    /// # Errors
    /// As for [`spawn`](Self::spawn).
    pub fn spawn_from(self, storage: &mut dyn Storage) -> Result<RnsNode<R>, SpawnFailed> {
        self.spawn_with(Some(storage))
    }

    fn spawn_with(self, storage: Option<&mut dyn Storage>) -> Result<RnsNode<R>, SpawnFailed> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(|error| io::Error::other(error.to_string()))?;
        let Self { config, driver, identity, tools, interfaces, runtime: _ } = self;
        // The driver's clock starts with the driver; the node learns of it with the first command.
        let machine = Node::new(config, tools, identity, seed, proto_core::Instant::ZERO, wall_time())?;
        let (driver, handle) = Driver::<_, _, R>::new(machine, Desk::default(), driver)?;
        handle.with(|node, _, now| {
            node.set_wall(now, wall_time());
            for interface in interfaces {
                let name = interface.name.clone();
                node.add_interface(now, interface).map_err(|error| SpawnFailed::Interface { name, error })?;
            }
            // Paths that were kept belong to interfaces.
            if let Some(storage) = storage {
                node.load(now, storage);
            }
            Ok::<_, SpawnFailed>(())
        })?;
        driver.spawn();
        Ok(RnsNode::new(handle))
    }
}

/// Reads the wall clock.
#[allow(clippy::disallowed_methods, reason = "the runtimes are where clocks are read")]
pub(super) fn wall_time() -> UnixTime {
    let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    UnixTime::new(since_epoch.unwrap_or(Duration::ZERO))
}
