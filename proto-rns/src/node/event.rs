//! What a node tells the application.

use crate::{
    DestinationHash, LinkHash, PacketHash, RatchetId, iface::InterfaceId, link, transport::Announced,
};
use bytes::Bytes;
use core::time::Duration;

/// Something that happened at a node.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// An interface works.
    InterfaceUp {
        /// Which.
        interface: InterfaceId,
    },
    /// An interface stopped working. It is tried again, unless it was accepted by a listener or removed.
    InterfaceDown {
        /// Which.
        interface: InterfaceId,
    },
    /// A destination of another node made itself known, by a better way than was known before.
    Announce(Announced),
    /// A packet for one of this node's destinations.
    Packet {
        /// The destination.
        destination: DestinationHash,
        /// The plaintext.
        data: Bytes,
        /// The packet's hash, for [`Node::prove`](super::Node::prove).
        hash: PacketHash,
        /// The ratchet that it was encrypted for.
        ratchet: Option<RatchetId>,
        /// The interface it came over.
        interface: InterfaceId,
    },
    /// The destination of a packet proved that it arrived.
    Delivered {
        /// The packet, as [`Node::send`](super::Node::send) returned it.
        hash: PacketHash,
        /// How long the proof took.
        rtt: Duration,
    },
    /// No proof of a packet came in time.
    Undelivered {
        /// The packet.
        hash: PacketHash,
    },
    /// Another node opened a link to one of this node's destinations.
    LinkAccepted {
        /// The link; it can be used once it is established.
        link: LinkHash,
        /// The destination.
        destination: DestinationHash,
    },
    /// Something happened on a link.
    Link {
        /// Which.
        link: LinkHash,
        /// What.
        event: link::Event,
    },
}
