//! A handle on a running node.

use super::{
    announces::Announces,
    builder::NodeBuilder,
    desk::Desk,
    destination::Destination,
    error::{ConnectFailed, NodeEnded, PathFailed, SendFailed},
    link::Link,
    receipt::Receipt,
};
use crate::{Handle, Runtime, Stats, Timer, faces::promise::promise};
use proto_rns::{
    DestinationHash, PacketHash,
    dest::{GroupKey, LocalDestination},
    iface::{InterfaceConfig, InterfaceId},
    link::LinkConfig,
    node::{AddInterfaceError, Node, RegisterError, SendError},
    storage::Storage,
};
use std::{
    fmt,
    future::poll_fn,
    marker::PhantomData,
    task::{Context, Poll},
    time::Duration,
};

/// A Reticulum node that runs in the background.
///
/// Clones are handles on the same node. It ends when the last of them and of its links and destinations is dropped, or
/// with [`shutdown`](Self::shutdown).
pub struct RnsNode<R> {
    handle: Handle<Node, Desk>,
    runtime: PhantomData<fn() -> R>,
}

impl<R: Runtime> RnsNode<R> {
    /// Begins to describe a node.
    pub fn builder() -> NodeBuilder<R> {
        NodeBuilder::new()
    }

    pub(super) const fn new(handle: Handle<Node, Desk>) -> Self {
        Self { handle, runtime: PhantomData }
    }

    pub(super) const fn handle(&self) -> &Handle<Node, Desk> {
        &self.handle
    }

    /// Adds an interface and opens it.
    ///
    /// # Errors
    /// A setting is outside its range, or there are too many interfaces.
    pub fn add_interface(&self, config: InterfaceConfig) -> Result<InterfaceId, AddInterfaceError> {
        self.handle.with(|node, _, now| node.add_interface(now, config))
    }

    /// Removes an interface and closes it. False when there is none.
    pub fn remove_interface(&self, interface: InterfaceId) -> bool {
        self.handle.with(|node, _, now| node.remove_interface(now, interface))
    }

    /// Waits until an interface works. Cancel-safe.
    ///
    /// # Errors
    /// The node has ended.
    pub async fn interface_up(&self, interface: InterfaceId) -> Result<(), NodeEnded> {
        self.watch(|_, desk| desk.is_online(interface).then_some(())).await
    }

    /// Adds a destination that this node receives for.
    ///
    /// # Errors
    /// There are too many.
    pub fn register(&self, destination: LocalDestination) -> Result<Destination<R>, RegisterError> {
        let hash = self.handle.with(|node, desk, now| {
            let hash = node.register(now, destination)?;
            desk.seat_destination(hash);
            Ok(hash)
        })?;
        Ok(Destination::new(self.clone(), hash))
    }

    /// Returns the announces that are heard from now on.
    pub fn announces(&self) -> Announces<R> {
        Announces::new(self.clone())
    }

    /// Sends a packet to a destination whose announce was heard, and tells whether it arrived.
    ///
    /// # Errors
    /// Nothing is known of the destination, or the data are too long for a packet.
    pub fn send(&self, destination: DestinationHash, data: &[u8]) -> Result<Receipt, SendError> {
        let (delivery, resolver) = promise();
        let packet = self.handle.with(|node, desk, now| {
            let packet = node.send(now, destination, data)?;
            desk.await_receipt(packet, resolver);
            Ok::<_, SendError>(packet)
        })?;
        Ok(Receipt::new(packet, delivery))
    }

    /// Sends a packet as [`send`](Self::send) does and waits until it arrived; returns how long that took.
    ///
    /// # Errors
    /// As for [`send`](Self::send), or no proof came.
    pub async fn deliver(&self, destination: DestinationHash, data: &[u8]) -> Result<Duration, SendFailed> {
        Ok(self.send(destination, data)?.await?)
    }

    /// Sends a packet to a group.
    ///
    /// # Errors
    /// The data are too long for a packet.
    pub fn send_to_group(
        &self,
        destination: DestinationHash,
        key: &GroupKey,
        data: &[u8],
    ) -> Result<PacketHash, SendError> {
        self.handle.with(|node, _, now| node.send_to_group(now, destination, key, data))
    }

    /// Sends a packet in the clear to everybody in reach.
    ///
    /// # Errors
    /// The data are too long for a packet.
    pub fn send_plain(&self, destination: DestinationHash, data: &[u8]) -> Result<PacketHash, SendError> {
        self.handle.with(|node, _, now| node.send_plain(now, destination, data))
    }

    /// Waits until a path to a destination and its identity are known, and asks the network where they are not. Returns
    /// the number of hops. Cancel-safe.
    ///
    /// # Errors
    /// Nobody answered within `timeout`, or the node has ended.
    pub async fn find_path(&self, destination: DestinationHash, timeout: Duration) -> Result<u8, PathFailed> {
        let known = |node: &Node| {
            node.known().identity(destination)?;
            node.router().hops_to(destination)
        };
        let at_once = self.handle.with(|node, _, now| {
            let hops = known(node);
            if hops.is_none() {
                node.request_path(now, destination);
            }
            hops
        });
        if let Some(hops) = at_once {
            return Ok(hops);
        }
        let mut timer = R::timer().map_err(|_| PathFailed::TimedOut)?;
        timer.arm(R::now() + timeout, Duration::ZERO);
        let until = R::now() + timeout;
        poll_fn(|cx| {
            if let Poll::Ready(found) = self.poll_watch(cx, |node, _| known(node)) {
                return Poll::Ready(found.map_err(|NodeEnded| PathFailed::NodeEnded));
            }
            if timer.poll_expired(cx).is_ready() {
                if R::now() >= until {
                    return Poll::Ready(Err(PathFailed::TimedOut));
                }
                timer.arm(until, Duration::ZERO);
                cx.waker().wake_by_ref();
            }
            Poll::Pending
        })
        .await
    }

    /// Opens a link to a destination whose announce was heard. Dropping the future closes the link.
    ///
    /// # Errors
    /// Nothing is known of the destination, there are too many links, or nobody answers.
    pub async fn connect(&self, destination: DestinationHash) -> Result<Link<R>, ConnectFailed> {
        self.connect_with(destination, None).await
    }

    /// Opens a link with settings of its own.
    ///
    /// # Errors
    /// As for [`connect`](Self::connect).
    pub async fn connect_with(
        &self,
        destination: DestinationHash,
        config: Option<&LinkConfig>,
    ) -> Result<Link<R>, ConnectFailed> {
        let hash = self.handle.with(|node, desk, now| {
            let hash = node.open_link(now, destination, config)?;
            desk.seat_link(hash);
            Ok::<_, ConnectFailed>(hash)
        })?;
        let link = Link::new(self.clone(), hash);
        link.established().await.map_err(ConnectFailed::NoAnswer)?;
        Ok(link)
    }

    /// Asks or tells the node something that this handle has no method for. `command` runs under the node's lock.
    pub fn with_node<T>(&self, command: impl FnOnce(&mut Node, proto_core::Instant) -> T) -> T {
        self.handle.with(|node, _, now| command(node, now))
    }

    /// Writes what the node wants to keep for the next time.
    pub fn save(&self, storage: &mut dyn Storage) {
        self.handle.with(|node, _, now| node.save(now, storage));
    }

    /// Closes all links and ends the node, within two seconds at most.
    pub async fn shutdown(&self) {
        self.handle.with(|node, desk, now| {
            node.close_links(now);
            desk.close();
        });
        self.handle.end_within(Duration::from_secs(2));
        self.handle.ended().await;
    }

    /// Returns what the driver counted: datagrams, bytes, errors of the operating system.
    pub fn driver_stats(&self) -> Stats {
        self.handle.stats()
    }

    async fn watch<T>(&self, look: impl Fn(&Node, &Desk) -> Option<T>) -> Result<T, NodeEnded> {
        poll_fn(|cx| self.poll_watch(cx, &look)).await
    }

    fn poll_watch<T>(
        &self,
        cx: &Context<'_>,
        look: impl Fn(&Node, &Desk) -> Option<T>,
    ) -> Poll<Result<T, NodeEnded>> {
        self.handle.read(|node, desk| match look(node, desk) {
            Some(seen) => Poll::Ready(Ok(seen)),
            None if desk.has_stopped() => Poll::Ready(Err(NodeEnded)),
            None => {
                desk.watch(cx);
                Poll::Pending
            }
        })
    }
}

impl<R> Clone for RnsNode<R> {
    fn clone(&self) -> Self {
        Self { handle: self.handle.clone(), runtime: PhantomData }
    }
}

impl<R> fmt::Debug for RnsNode<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RnsNode").finish_non_exhaustive()
    }
}
