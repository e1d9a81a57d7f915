//! What the node runs on.

use proto_core::{Instant, UnixTime};
use proto_rns::node::{Node, Tools};
use runtime_core::{Driver, DriverConfig, Handle};
use runtime_tokio::Tokio;
use std::time::{Duration, SystemTime};
use tokio::runtime::{Builder, Runtime};

use super::{desk::Desk, settings::Settings};
use crate::reticulum::Config;

/// A node, its driver and the thread that runs it.
#[derive(Debug)]
pub(super) struct Host {
    /// Dropped first, so that the driver closes the links while the thread still runs.
    handle: Option<Handle<Node, Desk>>,
    runtime: Option<Runtime>,
}

impl Host {
    pub(super) fn start(config: &Config, desk: Desk) -> Self {
        let Settings { node, interfaces } = Settings::of(config);
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a thread for the node");
        let entered = runtime.enter();
        let machine = Node::new(node, Tools::default(), None, random(), Instant::ZERO, wall_time());
        let machine = machine.expect("settings within their ranges");
        let (driver, handle) =
            Driver::<_, _, Tokio>::new(machine, desk, DriverConfig::default()).expect("a timer");
        handle.with(|node, _, now| {
            node.set_wall(now, wall_time());
            for interface in interfaces {
                node.add_interface(now, interface).expect("settings within their ranges");
            }
        });
        driver.spawn();
        drop(entered);
        Self { handle: Some(handle), runtime: Some(runtime) }
    }

    /// Gives the node a command.
    pub(super) fn with<T>(&self, command: impl FnOnce(&mut Node, &mut Desk, Instant) -> T) -> T {
        self.handle().with(command)
    }

    /// Asks the node something.
    pub(super) fn read<T>(&self, question: impl FnOnce(&Node) -> T) -> T {
        self.handle().read(|node, _| question(node))
    }

    fn handle(&self) -> &Handle<Node, Desk> {
        self.handle.as_ref().expect("it is only taken at the end")
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        if let (Some(handle), Some(runtime)) = (self.handle.take(), self.runtime.take()) {
            handle.with(|node, _, now| node.close_links(now));
            drop(handle);
            runtime.shutdown_timeout(LINGER);
        }
    }
}

/// Returns bytes that nobody can foretell.
pub(super) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("entropy");
    bytes
}

/// Reads the wall clock.
#[allow(clippy::disallowed_methods, reason = "real peers live in real time")]
fn wall_time() -> UnixTime {
    UnixTime::new(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO))
}

/// How long the end of a node may take.
const LINGER: Duration = Duration::from_millis(100);
