//! What the node runs on.

use proto_core::{Instant, UnixTime};
use proto_rns::node::{Node, Tools};
use runtime_core::{Driver, DriverConfig, Face as _, Handle};
use runtime_tokio::Tokio;
use std::{
    sync::mpsc::Receiver,
    time::{Duration, SystemTime},
};
use tokio::{
    runtime::{Builder, Runtime},
    sync::mpsc::unbounded_channel,
};

use super::{
    attendant::attend,
    desk::Desk,
    settings::{self, Settings},
};
use crate::{
    peers::until,
    reticulum::{Config, Event},
};

/// A node, and the thread that its driver runs on.
#[derive(Debug)]
pub(super) struct Host {
    handle: Handle<Node, Desk>,
    runtime: Runtime,
}

impl Host {
    /// Starts a node, waits until it listens where it is to, and returns what it will tell.
    pub(super) fn start(config: &Config) -> (Self, Receiver<Event>) {
        let Settings { node, interfaces } = Settings::of(config);
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a thread for the node");
        let entered = runtime.enter();
        let tools = Tools { crypto: host_crypto::provider(), ..Tools::default() };
        let machine = Node::new(node, tools, None, random(), Instant::ZERO, wall_time());
        let machine = machine.expect("settings within their ranges");
        let (happens, happened) = unbounded_channel();
        let (desk, events) = Desk::new(happens);
        let (driver, handle) =
            Driver::<_, _, Tokio>::new(machine, desk, DriverConfig::default()).expect("a timer");
        handle.with(|node, _, now| {
            node.set_wall(now, wall_time());
            for interface in interfaces {
                node.add_interface(now, interface).expect("settings within their ranges");
            }
        });
        driver.spawn();
        drop(runtime.spawn(attend(handle.clone(), happened)));
        until(|| handle.read(|node, _| settings::listens(node)).then_some(())).expect("free addresses");
        drop(entered);
        (Self { handle, runtime }, events)
    }

    /// Gives the node a command.
    pub(super) fn with<T>(&self, command: impl FnOnce(&mut Node, &mut Desk, Instant) -> T) -> T {
        self.handle.with(command)
    }

    /// Asks the node something.
    pub(super) fn read<T>(&self, question: impl FnOnce(&Node) -> T) -> T {
        self.handle.read(|node, _| question(node))
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.handle.with(|node, desk, now| desk.abandon(node, now));
        self.handle.end_within(LINGER);
        self.runtime.block_on(self.handle.ended());
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
