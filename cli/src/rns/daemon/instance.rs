//! The running daemon, as its parts see it.

use proto_rns::{DestinationHash, IdentityHash, identity::Identity};
use rns_host::{config::HostConfig, rpc::RpcKey, store::DirectoryStore};
use runtime_tokio::rns::RnsNode;
use serde_json::json;
use std::{
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, OnceLock, PoisonError},
    time::{Duration, Instant},
};

use super::{
    log::{Level, Log},
    management::Services,
    watch::Speeds,
};

/// A node, its settings and its files.
#[derive(Debug)]
pub(super) struct Instance {
    node: RnsNode,
    directory: PathBuf,
    config: HostConfig,
    /// The identity whose file gives the RPC key.
    kept: Identity,
    store: Mutex<DirectoryStore>,
    speeds: Mutex<Speeds>,
    probe: OnceLock<DestinationHash>,
    started: Instant,
    log: std::sync::Arc<Log>,
}

impl Instance {
    pub(super) fn new(
        node: RnsNode,
        directory: PathBuf,
        config: HostConfig,
        kept: Identity,
        store: DirectoryStore,
        log: std::sync::Arc<Log>,
    ) -> Self {
        Self {
            node,
            directory,
            config,
            kept,
            store: Mutex::new(store),
            speeds: Mutex::default(),
            probe: OnceLock::new(),
            started: Instant::now(),
            log,
        }
    }

    /// Returns the node.
    pub(super) const fn node(&self) -> &RnsNode {
        &self.node
    }

    /// Returns the directory with the config file.
    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns what the config file said at the start.
    pub(super) const fn config(&self) -> &HostConfig {
        &self.config
    }

    /// Returns the log.
    pub(super) fn log(&self) -> &Log {
        &self.log
    }

    /// Returns the node's files.
    pub(super) fn store(&self) -> MutexGuard<'_, DirectoryStore> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns how fast traffic flows.
    pub(super) fn speeds(&self) -> MutexGuard<'_, Speeds> {
        self.speeds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns who the node is to other transport nodes.
    pub(super) fn transport_id(&self) -> IdentityHash {
        self.node.with_node(|node, _| node.transport_id())
    }

    /// Returns what programs must know to ask something.
    pub(super) fn rpc_key(&self) -> RpcKey {
        let derived = || RpcKey::of_transport_identity(&self.kept.secret_bytes());
        self.config.shared.rpc_key.clone().unwrap_or_else(derived)
    }

    /// Takes note of where probes are answered.
    pub(super) fn answers_probes_at(&self, probe: DestinationHash) {
        // There is one such destination.
        let _ = self.probe.set(probe);
    }

    /// Returns where probes are answered.
    pub(super) fn probe(&self) -> Option<DestinationHash> {
        self.probe.get().copied()
    }

    /// Returns how long the daemon has run.
    pub(super) fn uptime(&self) -> Duration {
        self.started.elapsed()
    }

    /// Tells that everything is set up, and where what is found.
    pub(super) fn announce_start(&self, services: &Services) {
        for (what, destination) in services.addresses() {
            self.log.tell(Level::Notice, format_args!("{what} <{destination}>"));
        }
        let shared =
            self.config.shared.enabled.then(|| super::start::shown_address(&self.config.shared.address()));
        let id = self.transport_id();
        let role = if self.config.node.transport { "a transport node" } else { "no transport node" };
        let text = match &shared {
            Some(at) => format!("Started <{id}>, {role}, for the programs of this host on {at}"),
            None => format!("Started <{id}>, {role}, for no other program"),
        };
        let event = json!({
            "event": "started",
            "transport_id": id.to_string(),
            "transport": self.config.node.transport,
            "shared_instance": shared,
            "probe": self.probe().map(|probe| probe.to_string()),
            "config": self.directory.display().to_string(),
        });
        self.log.tell_event(Level::Notice, text, event);
    }
}
