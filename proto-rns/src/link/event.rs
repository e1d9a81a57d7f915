//! What a link tells the application.

use crate::{
    PacketHash, PathHash, RequestId,
    identity::PublicIdentity,
    resource,
    wire::{MessageType, StreamId},
};
use alloc::{collections::VecDeque, string::String};
use bytes::Bytes;
use core::time::Duration;

/// Something that happened on a link.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Both ends have the key; data may be sent.
    Established {
        /// The round-trip time, as measured by the handshake.
        rtt: Duration,
    },
    /// The proof of the request came over another number of hops than the path has; the path should be corrected.
    HopsChanged {
        /// The number of hops.
        hops: u8,
    },
    /// The initiator said who it is.
    Identified {
        /// Its identity.
        identity: PublicIdentity,
    },
    /// A packet of data.
    Data {
        /// Its hash, for [`Link::prove`](super::Link::prove).
        hash: PacketHash,
        /// The data.
        data: Bytes,
    },
    /// The peer proved that it has a packet.
    Delivered {
        /// The packet, as [`Link::send`](super::Link::send) returned it.
        hash: PacketHash,
        /// How long the proof took.
        rtt: Duration,
    },
    /// No proof of a packet came in time, or the link closed before.
    Undelivered {
        /// The packet.
        hash: PacketHash,
    },
    /// The peer asks for something; answer with [`Link::respond`](super::Link::respond) or not at all.
    Request {
        /// Its id.
        id: RequestId,
        /// The hash of the path.
        path_hash: PathHash,
        /// The path.
        path: String,
        /// One MessagePack value.
        data: Bytes,
        /// When the peer made the request, in UNIX seconds by its own clock.
        requested_at: f64,
        /// The peer, if it identified itself.
        identity: Option<PublicIdentity>,
    },
    /// The response to a request.
    Response {
        /// The request.
        id: RequestId,
        /// One MessagePack value.
        data: Bytes,
    },
    /// A file in response to a request.
    ResponseFile {
        /// The request.
        id: RequestId,
        /// The file.
        data: Bytes,
        /// What goes with it: one MessagePack value.
        metadata: Bytes,
    },
    /// A long response arrives.
    ResponseProgress {
        /// The request.
        id: RequestId,
        /// Bytes so far.
        received: u64,
        /// All bytes.
        total: u64,
    },
    /// A request gets no response.
    RequestFailed {
        /// The request.
        id: RequestId,
        /// Why.
        reason: RequestFailure,
    },
    /// A message of the channel, in order.
    Message {
        /// Its type.
        message_type: MessageType,
        /// Its data.
        data: Bytes,
    },
    /// The channel's window, which was full, has room again.
    ChannelReady,
    /// A stream that had nothing to read has data or its end; see [`Link::stream_read`](super::Link::stream_read).
    StreamReadable {
        /// The stream.
        stream: StreamId,
    },
    /// Something happened to a resource that is neither a request nor a response.
    Resource(resource::Event),
    /// Nothing was heard of the peer for twice the keepalive time. The link closes soon unless something is.
    Stale,
    /// A stale link is alive again.
    Revived,
    /// The link is closed. Nothing follows.
    Closed {
        /// Why.
        reason: CloseReason,
    },
}

/// Why a link closed.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CloseReason {
    /// The handshake was not finished in time.
    NotEstablished,
    /// Nothing was heard of the peer for too long.
    Timeout,
    /// The initiator closed it.
    InitiatorClosed,
    /// The destination closed it.
    DestinationClosed,
    /// A channel message was not proved in five tries.
    ChannelTimeout,
    /// The peer sent a resource that is not what it says.
    CorruptResource,
}

/// Why a request gets no response.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RequestFailure {
    /// None came in time.
    Timeout,
    /// The request, a resource, did not arrive.
    NotSent,
    /// The response is longer than the request allows.
    TooLarge,
    /// The response is a resource that came to nothing, or not a response.
    Broken,
    /// The link closed.
    LinkClosed,
}

/// Events that wait to be fetched.
#[derive(Debug)]
pub(super) struct Events {
    queue: VecDeque<Event>,
    limit: usize,
}

impl Events {
    pub(super) const fn new(limit: usize) -> Self {
        Self { queue: VecDeque::new(), limit }
    }

    /// Says whether the application is so far behind that the peer's messages are not taken. The events of what this
    /// end did, each of which has a bounded cause of its own, are queued all the same.
    pub(super) fn is_full(&self) -> bool {
        self.queue.len() >= self.limit
    }

    pub(super) fn push(&mut self, event: Event) {
        self.queue.push_back(event);
    }

    pub(super) fn pop(&mut self) -> Option<Event> {
        self.queue.pop_front()
    }
}
