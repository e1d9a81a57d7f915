//! Work that is put off until the node is drained, without changing what comes of it.

use super::Node;
use crate::{
    LinkHash,
    iface::InterfaceId,
    wire::{Context, DestinationType, OwnedPacket, Packet, PacketType},
};
use alloc::collections::VecDeque;

/// What waits at present: costly packets, or proofs to verify. Never both: whatever arrives first makes the node finish
/// what it must not overtake, so that the order of effects is that of arrival, however the stream was cut.
///
/// A driver hands in many packets before it drains the node. Packets that cost a signature or a key agreement are handled
/// in groups between two transmits: the first answers are on their way while the last are still being worked on, and two
/// nodes that talk to each other keep each other busy instead of waiting in turns. Proofs for one receiver that follow
/// each other are verified together.
#[derive(Debug, Default)]
pub(super) struct Deferred {
    packets: VecDeque<(InterfaceId, OwnedPacket)>,
    bytes: usize,
    /// Whose proofs wait.
    proofs: Option<ProofsOf>,
}

/// Who verifies a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProofsOf {
    /// The node's receipts for single packets.
    Receipts,
    /// A link.
    Link(LinkHash),
}

/// How a packet may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waits {
    /// Not at all.
    Never,
    /// As a whole.
    Whole,
    /// As a proof, whose verification waits.
    Proof(ProofsOf),
}

impl Deferred {
    /// What is kept at most, in packets and in bytes of their data; with more, all are handled at once.
    const MOST: usize = 1_024;
    const MOST_BYTES: usize = 1024 * 1024;
    /// What one group may cost, in signatures.
    const GROUP: usize = 8;

    fn has_room(&self, packet: &Packet<'_>) -> bool {
        self.packets.len() < Self::MOST && self.bytes.saturating_add(packet.data.len()) <= Self::MOST_BYTES
    }

    fn put(&mut self, from: InterfaceId, packet: &Packet<'_>) {
        self.bytes = self.bytes.saturating_add(packet.data.len());
        self.packets.push_back((from, OwnedPacket::new(packet)));
    }

    fn take(&mut self) -> Option<(InterfaceId, OwnedPacket)> {
        let (from, packet) = self.packets.pop_front()?;
        self.bytes = self.bytes.saturating_sub(packet.as_packet().data.len());
        Some((from, packet))
    }
}

impl Node {
    /// Finishes what `packet` must not overtake, and says how the packet itself may wait.
    pub(super) fn make_way(&mut self, packet: &Packet<'_>) -> Waits {
        let waits = self.waits(packet);
        if waits != Waits::Whole {
            self.finish_packets();
        }
        if self.deferred.proofs.is_some_and(|of| waits != Waits::Proof(of)) {
            self.finish_proofs();
        }
        waits
    }

    /// Keeps a packet until the node is drained.
    pub(super) fn defer(&mut self, from: InterfaceId, packet: &Packet<'_>) {
        if !self.deferred.has_room(packet) {
            self.finish_packets();
        }
        self.deferred.put(from, packet);
    }

    /// Notes that a proof waits to be verified.
    pub(super) const fn defer_proof(&mut self, of: ProofsOf) {
        self.deferred.proofs = Some(of);
    }

    /// Handles a group of the packets that wait. Says whether there was one.
    pub(super) fn handle_deferred(&mut self) -> bool {
        let mut spent = 0;
        while spent < Deferred::GROUP
            && let Some((from, packet)) = self.deferred.take()
        {
            let packet = packet.as_packet();
            spent += if packet.destination_type == DestinationType::Single { SINGLE_COST } else { 1 };
            self.deliver(from, &packet);
        }
        spent > 0
    }

    /// Finishes everything that waits, before something that is no packet.
    pub(super) fn catch_up(&mut self) {
        self.finish_packets();
        self.finish_proofs();
    }

    /// Verifies the proofs that wait, and tells what they prove.
    pub(super) fn finish_proofs(&mut self) {
        match self.deferred.proofs.take() {
            Some(ProofsOf::Receipts) => self.settle_receipts(),
            Some(ProofsOf::Link(link)) => self.settle_link(link),
            None => {}
        }
    }

    fn finish_packets(&mut self) {
        while self.handle_deferred() {}
    }

    /// Says how a packet may wait if the router finds it to be for this node.
    fn waits(&self, packet: &Packet<'_>) -> Waits {
        let is_plain_context = matches!(packet.context, Context::None | Context::Channel);
        match (packet.packet_type, packet.destination_type) {
            (PacketType::Data, DestinationType::Single)
                if self.destinations.contains_key(&packet.destination) =>
            {
                Waits::Whole
            }
            (PacketType::Data, DestinationType::Link)
                if is_plain_context && self.links.contains(packet.destination.into()) =>
            {
                Waits::Whole
            }
            (PacketType::Proof, DestinationType::Link)
                if packet.context == Context::None && self.links.contains(packet.destination.into()) =>
            {
                Waits::Proof(ProofsOf::Link(packet.destination.into()))
            }
            (PacketType::Proof, DestinationType::Single) if self.receipts.awaits(packet.destination) => {
                Waits::Proof(ProofsOf::Receipts)
            }
            (PacketType::Data | PacketType::Proof | PacketType::LinkRequest | PacketType::Announce, _) => {
                Waits::Never
            }
        }
    }
}

/// What a packet to a single destination costs, in signatures: a key agreement, and its proof.
const SINGLE_COST: usize = 3;
