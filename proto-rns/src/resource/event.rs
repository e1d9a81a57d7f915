//! What resources tell the application, and what it tells them.

use super::Data;
use crate::{RequestId, ResourceHash};
use alloc::vec::Vec;
use bytes::Bytes;

/// The number of a resource on its link, in either direction; never on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceId(u64);

impl ResourceId {
    /// The number before any was given.
    pub(super) const FIRST: Self = Self(0);

    /// Returns the number after this one.
    pub(super) const fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }
}

/// What a resource is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Whatever the application wants.
    #[default]
    Plain,
    /// A request too long for a packet.
    Request(RequestId),
    /// A response too long for a packet, or a file that answers a request.
    Response(RequestId),
}

/// Something to send.
#[derive(Clone, Debug, Default)]
pub struct Outgoing {
    /// The data, or where they come from. They are not copied before their segment is sealed.
    pub data: Data,
    /// MessagePack that goes before the data. It must fit into the first segment.
    pub metadata: Option<Vec<u8>>,
    /// What it is for.
    pub kind: Kind,
    /// Whether to try bz2.
    pub compress: bool,
}

/// What happened to a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The peer offers a resource and waits for [`accept`](super::Resources::accept) or
    /// [`reject`](super::Resources::reject).
    Offered(Offer),
    /// The first parts of a resource were asked for, by either side.
    Started {
        /// The resource.
        id: ResourceId,
    },
    /// A resource moved on. Of several steps in a row only the last is told.
    Progress {
        /// The resource.
        id: ResourceId,
        /// How many bytes of its streams went over the link.
        done: u64,
        /// About how many there are.
        total: u64,
    },
    /// A resource arrived whole.
    Received {
        /// The resource.
        id: ResourceId,
        /// What it is for.
        kind: Kind,
        /// The data of all segments.
        data: Bytes,
        /// The MessagePack before them.
        metadata: Option<Bytes>,
    },
    /// A segment arrived, with [`Deliver::Segments`](super::Deliver::Segments). The last one ends the resource.
    SegmentReceived {
        /// The resource.
        id: ResourceId,
        /// Its number, from 1.
        segment: u32,
        /// How many there are.
        segments: u32,
        /// Its data.
        data: Bytes,
        /// The MessagePack before the first segment's data.
        metadata: Option<Bytes>,
    },
    /// The peer proved that a resource arrived whole.
    Sent {
        /// The resource.
        id: ResourceId,
        /// What it is for.
        kind: Kind,
    },
    /// A resource is given up, by either side.
    Failed {
        /// The resource.
        id: ResourceId,
        /// What it is for.
        kind: Kind,
        /// Why.
        reason: FailReason,
    },
}

impl Event {
    /// Returns the memory that its data take.
    pub(super) fn held_bytes(&self) -> usize {
        match self {
            Self::Received { data, metadata, .. } | Self::SegmentReceived { data, metadata, .. } => {
                data.len() + metadata.as_ref().map_or(0, Bytes::len)
            }
            Self::Offered(_)
            | Self::Started { .. }
            | Self::Progress { .. }
            | Self::Sent { .. }
            | Self::Failed { .. } => 0,
        }
    }
}

/// A resource that the peer would like to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// The resource.
    pub id: ResourceId,
    /// The hash of its first segment, which both sides know it by.
    pub hash: ResourceHash,
    /// What it is for.
    pub kind: Kind,
    /// The length of its data in bytes, metadata included, as the peer says.
    pub total_size: u64,
    /// Whether metadata go before the data.
    pub has_metadata: bool,
    /// How many segments it has.
    pub segments: u32,
}

/// Why a resource was given up.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailReason {
    /// The application cancelled it, or the link closed.
    Cancelled,
    /// The other side cancelled it.
    CancelledByPeer,
    /// The receiver refused it.
    Rejected,
    /// Nobody answered the offer.
    Unanswered,
    /// The other side fell silent, or the parts asked for did not come however often.
    TimedOut,
    /// All parts were sent and asked for, but no proof came.
    Unproved,
    /// The receiver asked for a hash map's continuation at an impossible place.
    OutOfSequence,
    /// The parts are not what was advertised: the tag, the bz2 stream, the hash or the metadata's length is wrong. The
    /// reference closes the link on this.
    Corrupt,
    /// A segment is larger than was advertised, or the segments together are.
    TooLarge,
    /// The data could not be read where they come from.
    Unreadable,
}

/// A resource that cannot be sent.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// Neither data nor metadata.
    #[error("there is nothing to send")]
    Empty,
    /// The metadata do not fit into the first segment.
    #[error("the metadata do not fit into the first segment")]
    MetadataTooLong,
    /// Too many resources, or bytes, wait already.
    #[error("too much waits to be sent")]
    QueueFull,
    /// More than `u32::MAX` segments.
    #[error("the data have too many segments")]
    TooLong,
}

/// A resource that is not there (any more), or not in a state for the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no such resource, or it does not wait for this")]
pub struct UnknownResource;
