//! A link of a running node.

use super::{
    error::{IdentifyFailed, LinkClosed, RequestFailed, SendFailed, TransferFailed},
    link_seat::{IncomingRequest, LinkSeat, Response},
    node::RnsNode,
    receipt::Receipt,
    transfer::{LostResource, Progress, ReceivedResource, Transfer},
};
use crate::{Runtime, faces::promise::promise};
use bytes::Bytes;
use proto_rns::{
    Env, LinkHash, RequestId,
    identity::{Identity, PublicIdentity},
    link::{self, LinkStats, PacketSink, RequestError, ResourceError, SendError},
    resource::{Data, Offer, ResourceId},
};
use std::{
    future::poll_fn,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

/// A link: an encrypted connection to one destination, or from a peer to one of this node's.
///
/// Clones are handles on the same link; when the last is dropped it is closed. All methods that wait are cancel-safe,
/// and what arrives waits until it is taken: at most 4,096 packets, requests and resources each, beyond which they are
/// dropped and counted by [`lost`](Self::lost).
#[derive(Debug)]
pub struct Link<R: Runtime>(Arc<Seated<R>>);

#[derive(Debug)]
struct Seated<R: Runtime> {
    node: RnsNode<R>,
    hash: LinkHash,
}

impl<R: Runtime> Link<R> {
    pub(super) fn new(node: RnsNode<R>, hash: LinkHash) -> Self {
        Self(Arc::new(Seated { node, hash }))
    }

    /// Returns the link's number.
    pub fn hash(&self) -> LinkHash {
        self.0.hash
    }

    /// Waits until the link is established; returns the round-trip time that the handshake measured.
    ///
    /// # Errors
    /// The link is closed.
    pub async fn established(&self) -> Result<Duration, LinkClosed> {
        self.take(|seat| seat.established()).await
    }

    /// Waits until the link is closed.
    pub async fn closed(&self) -> LinkClosed {
        poll_fn(|cx| {
            let polled = self.poll(cx, |_| None::<()>);
            polled.map(|closed| closed.err().unwrap_or(LinkClosed { reason: None }))
        })
        .await
    }

    /// Closes the link and tells the peer.
    pub fn close(&self) {
        self.command((), |link, env, out| link.close(env, out));
    }

    /// Tells the destination who this end is.
    ///
    /// # Errors
    /// The link is closed, or this is not the end that opened it.
    pub fn identify(&self, identity: &Identity) -> Result<(), IdentifyFailed> {
        let done = self.command(None, |link, env, out| Some(link.identify(env, identity, out)));
        done.ok_or_else(|| self.why_closed())?.map_err(Into::into)
    }

    /// Returns who the peer is, if it identified itself.
    pub fn remote_identity(&self) -> Option<PublicIdentity> {
        self.0.node.handle().read(|_, desk| desk.link(self.0.hash)?.identity().copied())
    }

    /// Waits until the peer has identified itself.
    ///
    /// # Errors
    /// The link is closed.
    pub async fn identified(&self) -> Result<PublicIdentity, LinkClosed> {
        self.take(|seat| seat.identity().copied()).await
    }

    /// Sends data in one packet; the receipt tells whether it arrived.
    ///
    /// # Errors
    /// The link is closed, or the data do not fit into a packet.
    pub fn send(&self, data: &[u8]) -> Result<Receipt, SendFailed> {
        let (delivery, resolver) = promise();
        let hash = self.0.hash;
        let sent = self.0.node.handle().with(|node, desk, now| {
            let packet = node.with_link(now, hash, |link, env, out| link.send(env, data, out))?;
            if let Ok(packet) = packet {
                desk.await_receipt(packet, resolver);
            }
            Some(packet)
        });
        match sent {
            Some(Ok(packet)) => Ok(Receipt::new(packet, delivery)),
            Some(Err(SendError::NotEstablished)) | None => Err(self.why_closed().into()),
            Some(Err(error)) => Err(error.into()),
        }
    }

    /// Waits for the next packet of data.
    ///
    /// # Errors
    /// The link is closed and all that arrived was taken.
    pub async fn recv(&self) -> Result<Bytes, LinkClosed> {
        self.take(LinkSeat::next_data).await
    }

    /// Asks the destination for `path` with one MessagePack value, nil if `data` are empty.
    ///
    /// # Errors
    /// The link is closed, the data are not one value, or no response came in the time that a response may take.
    pub async fn request(&self, path: &str, data: &[u8]) -> Result<Response, RequestFailed> {
        self.request_with(path, data, None, None).await
    }

    /// Asks as [`request`](Self::request) does, with limits of its own on the time and on the response's length.
    ///
    /// # Errors
    /// As for [`request`](Self::request), or the response is too long.
    pub async fn request_with(
        &self,
        path: &str,
        data: &[u8],
        timeout: Option<Duration>,
        max_response: Option<usize>,
    ) -> Result<Response, RequestFailed> {
        let (response, resolver) = promise();
        let hash = self.0.hash;
        let asked = self.0.node.handle().with(|node, desk, now| {
            let id = node.with_link(now, hash, |link, env, out| {
                link.request(env, path, data, timeout, max_response, out)
            })?;
            if let (Ok(id), Some(seat)) = (&id, desk.link(hash)) {
                seat.await_response(*id, resolver);
            }
            Some(id.map(drop))
        });
        match asked {
            Some(Ok(())) => {}
            Some(Err(RequestError::NotEstablished)) | None => return Err(self.why_closed().into()),
            Some(Err(error)) => return Err(error.into()),
        }
        match response.await {
            Some(response) => response.map_err(RequestFailed::Failed),
            None => Err(self.why_closed().into()),
        }
    }

    /// Waits for the next request of the peer.
    ///
    /// # Errors
    /// The link is closed and all requests were taken.
    pub async fn next_request(&self) -> Result<IncomingRequest, LinkClosed> {
        self.take(LinkSeat::next_request).await
    }

    /// Answers a request with one MessagePack value, nil if `data` are empty.
    ///
    /// # Errors
    /// The link is closed, the data are not one value, or the request does not wait any more.
    pub fn respond(&self, request: RequestId, data: &[u8]) -> Result<(), RequestFailed> {
        self.answer(|link, env, out| link.respond(env, request, data, out))
    }

    /// Answers a request with a file; `metadata` are one MessagePack value.
    ///
    /// # Errors
    /// As for [`respond`](Self::respond), or the file is too long.
    pub fn respond_with_file(
        &self,
        request: RequestId,
        file: Bytes,
        metadata: Vec<u8>,
    ) -> Result<(), RequestFailed> {
        self.answer(|link, env, out| link.respond_with_file(env, request, file, metadata, out))
    }

    /// Returns how far the response to a request has come; `None` once it is over.
    pub fn response_progress(&self, request: RequestId) -> Option<Progress> {
        self.0.node.handle().read(|_, desk| desk.link(self.0.hash)?.response_progress(request))
    }

    /// Sends data of any size: bytes, or a [`FileSource`](super::FileSource) that is read while it is sent. The transfer
    /// is a future that is ready when the peer has them.
    ///
    /// # Errors
    /// The link is closed, or too much waits to be sent already.
    pub fn send_resource(
        &self,
        data: impl Into<Data>,
        metadata: Option<Vec<u8>>,
        compress: bool,
    ) -> Result<Transfer<R>, TransferFailed> {
        let (end, resolver) = promise();
        let hash = self.0.hash;
        let data = data.into();
        let sent = self.0.node.handle().with(|node, desk, now| {
            let id = node.with_link(now, hash, |link, env, out| {
                link.send_resource(env, data, metadata, compress, out)
            })?;
            if let (Ok(id), Some(seat)) = (&id, desk.link(hash)) {
                seat.await_transfer(*id, resolver);
            }
            Some(id)
        });
        match sent {
            Some(Ok(id)) => Ok(Transfer::new(self.clone(), id, end)),
            Some(Err(ResourceError::NotEstablished)) | None => Err(self.why_closed().into()),
            Some(Err(error)) => Err(error.into()),
        }
    }

    /// Waits for the next resource that arrived.
    ///
    /// # Errors
    /// The link is closed and all resources were taken.
    pub async fn next_resource(&self) -> Result<ReceivedResource, LinkClosed> {
        self.take(LinkSeat::next_resource).await
    }

    /// Waits for the next resource that was on its way to this end and came to nothing.
    ///
    /// # Errors
    /// The link is closed, which ends all resources, and those before were taken.
    pub async fn next_lost_resource(&self) -> Result<LostResource, LinkClosed> {
        self.take(LinkSeat::next_lost_resource).await
    }

    /// Waits for the next resource that the peer offers, where the link's settings leave it to the application which
    /// are taken.
    ///
    /// # Errors
    /// The link is closed and all offers were taken.
    pub async fn next_offer(&self) -> Result<Offer, LinkClosed> {
        self.take(LinkSeat::next_offer).await
    }

    /// Accepts an offered resource. False when the offer is gone.
    pub fn accept_resource(&self, id: ResourceId) -> bool {
        self.command(false, |link, env, out| link.accept_resource(env, id, out).is_ok())
    }

    /// Refuses an offered resource. False when the offer is gone.
    pub fn reject_resource(&self, id: ResourceId) -> bool {
        self.command(false, |link, env, out| link.reject_resource(env, id, out).is_ok())
    }

    /// Gives a resource up, in either direction. False when it is over.
    pub fn cancel_resource(&self, id: ResourceId) -> bool {
        self.command(false, |link, env, out| link.cancel_resource(env, id, out).is_ok())
    }

    /// Returns how far a resource has come, in either direction; `None` once it is over.
    pub fn resource_progress(&self, id: ResourceId) -> Option<Progress> {
        self.0.node.handle().read(|_, desk| desk.link(self.0.hash)?.resource_progress(id))
    }

    /// Returns the most data that one packet carries; 0 once the link is closed.
    pub fn mdu(&self) -> usize {
        self.0.node.handle().read(|node, _| node.link(self.0.hash).map_or(0, link::Link::mdu))
    }

    /// Returns what the link counted; `None` once it is closed.
    pub fn stats(&self) -> Option<LinkStats> {
        self.0.node.handle().read(|node, _| node.link(self.0.hash).map(|link| *link.stats()))
    }

    /// Returns how much was dropped because the application did not take it.
    pub fn lost(&self) -> u64 {
        self.0.node.handle().read(|_, desk| desk.link(self.0.hash).map_or(0, |seat| seat.lost()))
    }

    pub(super) async fn resource_progressed(&self, id: ResourceId, from: Progress) -> Option<Progress> {
        let further = |seat: &mut LinkSeat| match seat.resource_progress(id) {
            Some(progress) if progress == from => None,
            other => Some(other),
        };
        self.take(further).await.ok().flatten()
    }

    /// Takes something out of the seat, or waits until there is.
    pub(super) async fn take<T>(
        &self,
        mut from: impl FnMut(&mut LinkSeat) -> Option<T>,
    ) -> Result<T, LinkClosed> {
        poll_fn(|cx| self.poll(cx, &mut from)).await
    }

    pub(super) fn poll<T>(
        &self,
        cx: &Context<'_>,
        from: impl FnOnce(&mut LinkSeat) -> Option<T>,
    ) -> Poll<Result<T, LinkClosed>> {
        self.0.node.handle().read(|_, desk| {
            let Some(seat) = desk.link(self.0.hash) else {
                return Poll::Ready(Err(LinkClosed { reason: None }));
            };
            if let Some(item) = from(seat) {
                return Poll::Ready(Ok(item));
            }
            if let Some(closed) = seat.closed() {
                return Poll::Ready(Err(closed));
            }
            seat.wait(cx);
            Poll::Pending
        })
    }

    /// Gives the link a command, or returns `gone` when it is closed.
    pub(super) fn command<T>(
        &self,
        gone: T,
        command: impl FnOnce(&mut link::Link, &mut Env<'_>, &mut dyn PacketSink) -> T,
    ) -> T {
        self.0.node.handle().with(|node, _, now| node.with_link(now, self.0.hash, command)).unwrap_or(gone)
    }

    pub(super) fn why_closed(&self) -> LinkClosed {
        let closed = self.0.node.handle().read(|_, desk| desk.link(self.0.hash)?.closed());
        closed.unwrap_or(LinkClosed { reason: None })
    }

    fn answer(
        &self,
        command: impl FnOnce(&mut link::Link, &mut Env<'_>, &mut dyn PacketSink) -> Result<(), RequestError>,
    ) -> Result<(), RequestFailed> {
        match self.command(Err(RequestError::NotEstablished), command) {
            Err(RequestError::NotEstablished) => Err(self.why_closed().into()),
            answered => answered.map_err(Into::into),
        }
    }
}

impl<R: Runtime> Clone for Link<R> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<R: Runtime> Drop for Seated<R> {
    fn drop(&mut self) {
        self.node.handle().with(|node, desk, now| {
            node.with_link(now, self.hash, |link, env, out| link.close(env, out));
            desk.leave_link(self.hash);
        });
    }
}
