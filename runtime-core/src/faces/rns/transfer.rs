//! Resources on their way.

use super::{
    error::{LinkClosed, TransferFailed},
    link::Link,
};
use crate::{Runtime, faces::promise::Promise};
use bytes::Bytes;
use proto_rns::resource::{FailReason, ResourceId};
use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

/// How far something has come, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes so far.
    pub done: u64,
    /// All bytes; 0 as long as that is not known.
    pub total: u64,
}

/// A resource that arrived, or a segment of one where the link's settings have them handed out one by one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedResource {
    /// Its number on the link.
    pub id: ResourceId,
    /// Its data.
    pub data: Bytes,
    /// What goes with them: one MessagePack value.
    pub metadata: Option<Bytes>,
    /// The segment's number, from 1; 1 for a whole resource.
    pub segment: u32,
    /// How many segments there are; 1 for a whole resource.
    pub segments: u32,
}

/// A resource of the peer, accepted before, of which no more will arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostResource {
    /// Its number on the link.
    pub id: ResourceId,
    /// Why.
    pub reason: FailReason,
}

/// A resource that is being sent: a future that is ready when the peer has it.
///
/// Dropping it leaves the resource on its way; [`cancel`](Self::cancel) gives it up.
#[derive(Debug)]
pub struct Transfer<R: Runtime> {
    link: Link<R>,
    id: ResourceId,
    end: Promise<Result<(), TransferFailed>>,
}

impl<R: Runtime> Transfer<R> {
    pub(super) const fn new(link: Link<R>, id: ResourceId, end: Promise<Result<(), TransferFailed>>) -> Self {
        Self { link, id, end }
    }

    /// Returns the resource's number on the link.
    pub const fn id(&self) -> ResourceId {
        self.id
    }

    /// Returns how far it has come; `None` once it is over.
    pub fn progress(&self) -> Option<Progress> {
        self.link.resource_progress(self.id)
    }

    /// Waits until it has come further than `from`, and returns how far; `None` once it is over. Cancel-safe.
    pub async fn progressed(&self, from: Progress) -> Option<Progress> {
        self.link.resource_progressed(self.id, from).await
    }

    /// Gives the resource up and tells the peer.
    pub fn cancel(self) {
        self.link.cancel_resource(self.id);
    }
}

impl<R: Runtime> Future for Transfer<R> {
    type Output = Result<(), TransferFailed>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let end = ready!(Pin::new(&mut self.end).poll(cx));
        Poll::Ready(end.unwrap_or(Err(TransferFailed::Closed(LinkClosed { reason: None }))))
    }
}
