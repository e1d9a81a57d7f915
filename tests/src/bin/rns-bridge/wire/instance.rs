//! One node on the tokio driver.

use super::watcher::{Owed, Watcher};
use crate::{
    call::{Failure, Params},
    tools::{seed, wall},
};
use proto_core::Instant;
use proto_rns::{
    DestinationHash, Env, LinkHash,
    dest::LocalDestination,
    iface::{InterfaceConfig, InterfaceId},
    link::{Link, PacketSink},
    node::{Node, NodeConfig, Tools},
};
use runtime_core::{Driver, DriverConfig, Handle};
use runtime_tokio::Tokio;
use std::{
    thread::sleep,
    time::{Duration, Instant as Clock},
};
use tokio::{
    runtime::{Builder, Runtime},
    sync::mpsc::{UnboundedReceiver, unbounded_channel},
};

/// A running node, and the thread that its driver runs on.
#[derive(Debug)]
pub(super) struct Instance {
    handle: Handle<Node, Watcher>,
    /// What the suite configured.
    pub(super) interfaces: Vec<InterfaceId>,
    runtime: Runtime,
}

impl Instance {
    pub(super) fn start(config: NodeConfig, interfaces: Vec<InterfaceConfig>) -> Result<Self, Failure> {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let entered = runtime.enter();
        let tools = Tools { crypto: host_crypto::provider(), ..Tools::default() };
        let machine = Node::new(config, tools, None, seed(), Instant::ZERO, wall())?;
        let (owes, owed) = unbounded_channel();
        let (wakes, woken) = unbounded_channel();
        let (driver, handle) =
            Driver::<_, _, Tokio>::new(machine, Watcher::new(owes, wakes), DriverConfig::default())?;
        let added = handle.with(|node, _, now| {
            node.set_wall(now, wall());
            interfaces
                .into_iter()
                .map(|config| node.add_interface(now, config))
                .collect::<Result<Vec<_>, _>>()
        })?;
        driver.spawn();
        runtime.spawn(respond(handle.clone(), owed));
        runtime.spawn(catch_up(handle.clone(), woken));
        drop(entered);
        let instance = Self { handle, interfaces: added, runtime };
        instance.until(Duration::from_secs(5), |node, _, _| {
            node.interfaces().all(|(_, interface)| interface.properties().online).then_some(())
        });
        Ok(instance)
    }

    /// Gives the node a command.
    pub(super) fn with<T>(&self, command: impl FnOnce(&mut Node, &mut Watcher, Instant) -> T) -> T {
        self.handle.with(|node, watcher, now| {
            watcher.catch_up(node, now);
            command(node, watcher, now)
        })
    }

    /// Asks the node something.
    pub(super) fn read<T>(&self, question: impl FnOnce(&Node, &Watcher) -> T) -> T {
        self.with(|node, watcher, _| question(node, watcher))
    }

    /// Asks again and again until there is an answer, or the time is over.
    #[allow(clippy::disallowed_methods, reason = "the suite waits in real time")]
    pub(super) fn until<T>(
        &self,
        patience: Duration,
        mut question: impl FnMut(&mut Node, &mut Watcher, Instant) -> Option<T>,
    ) -> Option<T> {
        let started = Clock::now();
        loop {
            match self.with(&mut question) {
                Some(answer) => return Some(answer),
                None if started.elapsed() >= patience => return None,
                None => sleep(PAUSE),
            }
        }
    }

    /// Gives a link a command.
    pub(super) fn with_link<T>(
        &self,
        link: LinkHash,
        command: impl FnOnce(&mut Link, &mut Env<'_>, &mut dyn PacketSink) -> T,
    ) -> Result<T, Failure> {
        self.handle
            .with(|node, _, now| node.with_link(now, link, command))
            .ok_or_else(|| Failure::new(format!("ValueError: the link {link} is closed")))
    }

    /// Changes a destination of the node.
    pub(super) fn with_destination<T>(
        &self,
        destination: DestinationHash,
        change: impl FnOnce(&mut LocalDestination) -> T,
    ) -> Result<T, Failure> {
        self.handle
            .with(|node, _, _| node.destination_mut(destination).map(change))
            .ok_or_else(|| Failure::new(format!("ValueError: No registered destination {destination}")))
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.handle.with(|node, watcher, now| watcher.leave(node, now));
        self.handle.end_within(Duration::from_millis(100));
        self.runtime.block_on(self.handle.ended());
    }
}

/// Has the face heed what arrives as soon as it does.
async fn catch_up(handle: Handle<Node, Watcher>, mut woken: UnboundedReceiver<()>) {
    while woken.recv().await.is_some() {
        handle.with(|node, watcher, now| watcher.catch_up(node, now));
    }
}

/// Sends answers to requests a moment after they came: the reference first sends a request and then notes that it waits
/// for the answer.
async fn respond(handle: Handle<Node, Watcher>, mut owed: UnboundedReceiver<Owed>) {
    while let Some(owed) = owed.recv().await {
        tokio::time::sleep(Duration::from_millis(5)).await;
        handle.with(|node, _, now| owed.send(node, now));
    }
}

pub(super) fn destination(params: Params<'_>) -> Result<DestinationHash, Failure> {
    Ok(DestinationHash::new(params.array("destination_hash")?))
}

pub(super) fn link(params: Params<'_>) -> Result<LinkHash, Failure> {
    Ok(LinkHash::new(params.array("link_id")?))
}

/// Returns how long a command may wait.
pub(super) fn patience(params: Params<'_>, default_millis: u64) -> Result<Duration, Failure> {
    Ok(Duration::from_millis(params.some_number("timeout_ms")?.unwrap_or(default_millis)))
}

/// How often a waiting command looks again.
const PAUSE: Duration = Duration::from_millis(10);
