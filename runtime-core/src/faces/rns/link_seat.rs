//! What has arrived on one link, and who waits for it.

use super::{
    error::{LinkClosed, TransferFailed},
    transfer::{LostResource, Progress, ReceivedResource},
};
use crate::faces::{promise::Resolver, waiters::Waiters};
use bytes::Bytes;
use proto_rns::{
    DestinationHash, PathHash, RequestId,
    identity::PublicIdentity,
    link::{Event, RequestFailure},
    resource::{self, Offer, ResourceId},
    wire::MessageType,
};
use std::{
    collections::{BTreeMap, VecDeque},
    mem,
    task::Context,
    time::Duration,
};

/// A request of the peer.
#[derive(Clone, Debug, PartialEq)]
pub struct IncomingRequest {
    /// Its id, for the answer.
    pub id: RequestId,
    /// The path.
    pub path: String,
    /// The hash of the path.
    pub path_hash: PathHash,
    /// One MessagePack value.
    pub data: Bytes,
    /// When the peer made the request, in UNIX seconds by its own clock.
    pub requested_at: f64,
    /// The peer, if it identified itself.
    pub identity: Option<PublicIdentity>,
}

/// The response to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// One MessagePack value, or a file.
    pub data: Bytes,
    /// For a file, what goes with it: one MessagePack value.
    pub metadata: Option<Bytes>,
}

/// The state of one link as its handles see it.
#[derive(Debug, Default)]
pub(super) struct LinkSeat {
    /// The destination of this node that the peer opened it to, until it is handed out.
    unaccepted: Option<DestinationHash>,
    established: Option<Duration>,
    closed: Option<LinkClosed>,
    identity: Option<PublicIdentity>,
    data: VecDeque<Bytes>,
    messages: VecDeque<(MessageType, Bytes)>,
    requests: VecDeque<IncomingRequest>,
    responses: BTreeMap<RequestId, Awaited<Result<Response, RequestFailure>>>,
    outgoing: BTreeMap<ResourceId, Awaited<Result<(), TransferFailed>>>,
    /// How far what comes in has come.
    incoming: BTreeMap<ResourceId, Progress>,
    offers: VecDeque<Offer>,
    resources: VecDeque<ReceivedResource>,
    /// The last of the peer's resources that came to nothing; where nobody asks for them, the oldest make place.
    lost_resources: VecDeque<LostResource>,
    lost: u64,
    waiters: Waiters,
}

/// Something whose end is awaited and whose progress can be watched.
#[derive(Debug)]
struct Awaited<T> {
    resolver: Resolver<T>,
    progress: Progress,
}

impl LinkSeat {
    /// What of each kind waits for the application; further packets, requests and offers are dropped and counted.
    const MOST: usize = 4_096;

    /// Resources that came to nothing and that are remembered.
    const MOST_LOST_RESOURCES: usize = 64;

    /// Creates the seat of a link that a peer opened to `destination`.
    pub(super) fn accepted_for(destination: DestinationHash) -> Self {
        Self { unaccepted: Some(destination), ..Self::default() }
    }

    /// Takes in an event. Returns the destination to whose arrivals the link belongs, once it is established.
    #[allow(
        clippy::wildcard_enum_match_arm,
        reason = "the rest only wakes those who look at the link itself"
    )]
    pub(super) fn take_in(&mut self, event: Event) -> Option<DestinationHash> {
        let mut arrived = None;
        match event {
            Event::Established { rtt } => {
                self.established = Some(rtt);
                arrived = self.unaccepted.take();
            }
            Event::Identified { identity } => self.identity = Some(identity),
            Event::Data { data, .. } => put(&mut self.data, data, &mut self.lost),
            Event::Message { message_type, data } => {
                put(&mut self.messages, (message_type, data), &mut self.lost);
            }
            Event::Request { id, path_hash, path, data, requested_at, identity } => {
                let request = IncomingRequest { id, path, path_hash, data, requested_at, identity };
                put(&mut self.requests, request, &mut self.lost);
            }
            Event::Response { id, data } => self.respond(id, Ok(Response { data, metadata: None })),
            Event::ResponseFile { id, data, metadata } => {
                self.respond(id, Ok(Response { data, metadata: Some(metadata) }));
            }
            Event::ResponseProgress { id, received, total } => {
                if let Some(awaited) = self.responses.get_mut(&id) {
                    awaited.progress = Progress { done: received, total };
                }
            }
            Event::RequestFailed { id, reason } => self.respond(id, Err(reason)),
            Event::Resource(event) => self.take_in_resource(event),
            Event::Closed { reason } => self.close(LinkClosed { reason: Some(reason) }),
            // The node keeps receipts; the rest wakes those who wait for it below.
            _ => {}
        }
        self.waiters.wake();
        arrived
    }

    fn take_in_resource(&mut self, event: resource::Event) {
        match event {
            resource::Event::Offered(offer) => put(&mut self.offers, offer, &mut self.lost),
            resource::Event::Started { .. } => {}
            resource::Event::Progress { id, done, total } => {
                let progress = Progress { done, total };
                match self.outgoing.get_mut(&id) {
                    Some(awaited) => awaited.progress = progress,
                    None => _ = self.incoming.insert(id, progress),
                }
            }
            resource::Event::Received { id, kind: _, data, metadata } => {
                self.incoming.remove(&id);
                let resource = ReceivedResource { id, data, metadata, segment: 1, segments: 1 };
                put(&mut self.resources, resource, &mut self.lost);
            }
            resource::Event::SegmentReceived { id, segment, segments, data, metadata } => {
                if segment == segments {
                    self.incoming.remove(&id);
                }
                let resource = ReceivedResource { id, data, metadata, segment, segments };
                put(&mut self.resources, resource, &mut self.lost);
            }
            resource::Event::Sent { id, .. } => self.conclude(id, Ok(())),
            resource::Event::Failed { id, reason, .. } => {
                self.incoming.remove(&id);
                if self.outgoing.contains_key(&id) {
                    self.conclude(id, Err(TransferFailed::Failed(reason)));
                } else {
                    self.lose(LostResource { id, reason });
                }
            }
        }
    }

    /// Takes note that the node ended.
    pub(super) fn stop(&mut self) {
        self.close(LinkClosed { reason: None });
        self.waiters.wake();
    }

    pub(super) fn wait(&mut self, cx: &Context<'_>) {
        self.waiters.add(cx);
    }

    pub(super) const fn established(&self) -> Option<Duration> {
        self.established
    }

    pub(super) const fn closed(&self) -> Option<LinkClosed> {
        self.closed
    }

    pub(super) const fn identity(&self) -> Option<&PublicIdentity> {
        self.identity.as_ref()
    }

    pub(super) const fn lost(&self) -> u64 {
        self.lost
    }

    pub(super) fn next_data(&mut self) -> Option<Bytes> {
        self.data.pop_front()
    }

    pub(super) fn next_message(&mut self) -> Option<(MessageType, Bytes)> {
        self.messages.pop_front()
    }

    pub(super) fn next_request(&mut self) -> Option<IncomingRequest> {
        self.requests.pop_front()
    }

    pub(super) fn next_offer(&mut self) -> Option<Offer> {
        self.offers.pop_front()
    }

    pub(super) fn next_resource(&mut self) -> Option<ReceivedResource> {
        self.resources.pop_front()
    }

    pub(super) fn next_lost_resource(&mut self) -> Option<LostResource> {
        self.lost_resources.pop_front()
    }

    pub(super) fn await_response(
        &mut self,
        id: RequestId,
        resolver: Resolver<Result<Response, RequestFailure>>,
    ) {
        self.responses.insert(id, Awaited { resolver, progress: Progress::default() });
    }

    pub(super) fn await_transfer(&mut self, id: ResourceId, resolver: Resolver<Result<(), TransferFailed>>) {
        self.outgoing.insert(id, Awaited { resolver, progress: Progress::default() });
    }

    /// Returns how far a resource has come, in either direction.
    pub(super) fn resource_progress(&self, id: ResourceId) -> Option<Progress> {
        let outgoing = self.outgoing.get(&id).map(|awaited| awaited.progress);
        outgoing.or_else(|| self.incoming.get(&id).copied())
    }

    /// Returns how far the response to a request has come.
    pub(super) fn response_progress(&self, id: RequestId) -> Option<Progress> {
        self.responses.get(&id).map(|awaited| awaited.progress)
    }

    fn respond(&mut self, id: RequestId, response: Result<Response, RequestFailure>) {
        if let Some(awaited) = self.responses.remove(&id) {
            awaited.resolver.resolve(response);
        }
    }

    fn conclude(&mut self, id: ResourceId, end: Result<(), TransferFailed>) {
        if let Some(awaited) = self.outgoing.remove(&id) {
            awaited.resolver.resolve(end);
        }
    }

    fn lose(&mut self, resource: LostResource) {
        if self.lost_resources.len() >= Self::MOST_LOST_RESOURCES {
            self.lost_resources.pop_front();
        }
        self.lost_resources.push_back(resource);
    }

    /// Ends everything that is awaited; what has arrived can still be taken.
    fn close(&mut self, closed: LinkClosed) {
        self.closed.get_or_insert(closed);
        for awaited in mem::take(&mut self.responses).into_values() {
            awaited.resolver.resolve(Err(RequestFailure::LinkClosed));
        }
        for awaited in mem::take(&mut self.outgoing).into_values() {
            awaited.resolver.resolve(Err(TransferFailed::Closed(closed)));
        }
        self.incoming.clear();
    }
}

fn put<T>(queue: &mut VecDeque<T>, item: T, lost: &mut u64) {
    if queue.len() < LinkSeat::MOST {
        queue.push_back(item);
    } else {
        *lost = lost.wrapping_add(1);
    }
}
