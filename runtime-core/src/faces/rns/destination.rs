//! A destination of a running node.

use super::{
    destination_seat::{DestinationSeat, ReceivedPacket},
    error::NodeEnded,
    link::Link,
    node::RnsNode,
};
use crate::Runtime;
use proto_rns::{
    DestinationHash, PacketHash, dest::LocalDestination, iface::InterfaceId, node::AnnounceError,
};
use std::{
    future::poll_fn,
    task::{Context, Poll},
};

/// A destination that this node receives for. Dropped, it receives no longer; its links stay.
#[derive(Debug)]
pub struct Destination<R: Runtime> {
    node: RnsNode<R>,
    hash: DestinationHash,
}

impl<R: Runtime> Destination<R> {
    pub(super) const fn new(node: RnsNode<R>, hash: DestinationHash) -> Self {
        Self { node, hash }
    }

    /// Returns its address.
    pub const fn hash(&self) -> DestinationHash {
        self.hash
    }

    /// Makes it known to everybody, with `app_data` or its own.
    ///
    /// # Errors
    /// It is not of a single identity, or the announce would not fit into a packet.
    pub fn announce(&self, app_data: Option<&[u8]>) -> Result<(), AnnounceError> {
        self.node.handle().with(|node, _, now| node.announce(now, self.hash, app_data))
    }

    /// Waits for the next packet. Cancel-safe.
    ///
    /// Packets beyond 4,096 that wait are dropped and counted by [`lost`](Self::lost).
    ///
    /// # Errors
    /// The node has ended.
    pub async fn recv(&self) -> Result<ReceivedPacket, NodeEnded> {
        poll_fn(|cx| self.poll(cx, DestinationSeat::next_packet)).await
    }

    /// Waits for the next link that a peer opens. Cancel-safe.
    ///
    /// # Errors
    /// The node has ended.
    pub async fn accept(&self) -> Result<Link<R>, NodeEnded> {
        let link = poll_fn(|cx| self.poll(cx, DestinationSeat::next_arrival)).await?;
        Ok(Link::new(self.node.clone(), link))
    }

    /// Proves a packet, where the destination's strategy leaves that to the application. False when it cannot be any
    /// more.
    pub fn prove(&self, packet: PacketHash, interface: InterfaceId) -> bool {
        self.node.handle().with(|node, _, now| node.prove(now, self.hash, packet, interface))
    }

    /// Lets its settings be changed: proofs, ratchets, what announces carry.
    pub fn configure<T>(&self, change: impl FnOnce(&mut LocalDestination) -> T) -> Option<T> {
        self.node.handle().read(|node, _| node.destination_mut(self.hash).map(change))
    }

    /// Returns how many packets were dropped because the application did not take them.
    pub fn lost(&self) -> u64 {
        self.node.handle().read(|_, desk| desk.destination(self.hash).map_or(0, |seat| seat.lost()))
    }

    fn poll<T>(
        &self,
        cx: &Context<'_>,
        take: impl FnOnce(&mut DestinationSeat) -> Option<T>,
    ) -> Poll<Result<T, NodeEnded>> {
        self.node.handle().read(|_, desk| {
            let Some(seat) = desk.destination(self.hash) else { return Poll::Ready(Err(NodeEnded)) };
            match take(seat) {
                Some(item) => Poll::Ready(Ok(item)),
                None if seat.has_stopped() => Poll::Ready(Err(NodeEnded)),
                None => {
                    seat.wait(cx);
                    Poll::Pending
                }
            }
        })
    }
}

impl<R: Runtime> Drop for Destination<R> {
    fn drop(&mut self) {
        self.node.handle().with(|node, desk, now| {
            node.deregister(self.hash);
            for link in desk.leave_destination(self.hash) {
                desk.leave_link(link);
                node.with_link(now, link, |link, env, out| link.close(env, out));
            }
        });
    }
}
