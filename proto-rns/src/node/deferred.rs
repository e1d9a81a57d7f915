//! Packets whose handling is costly, kept until the node is drained.

use super::Node;
use crate::{
    iface::InterfaceId,
    wire::{Context, DestinationType, OwnedPacket, Packet, PacketType},
};
use alloc::collections::VecDeque;

/// Packets for this node that cost a signature or a key agreement.
///
/// A driver hands in many packets before it drains the node. Handled one group at a time between two transmits, they
/// have their first answers on the way while the last are still being worked on, and two nodes that talk to each other
/// keep each other busy instead of waiting in turns.
#[derive(Debug, Default)]
pub(super) struct Deferred {
    queue: VecDeque<(InterfaceId, OwnedPacket)>,
    bytes: usize,
}

impl Deferred {
    /// What is kept at most, in packets and in bytes of their data; with more, all are handled at once.
    const MOST: usize = 1_024;
    const MOST_BYTES: usize = 1024 * 1024;
    /// What one group may cost, in signatures.
    const GROUP: usize = 8;

    /// Says whether a packet waits: for its own sake, or behind others that came before it.
    fn takes(&self, packet: &Packet<'_>) -> bool {
        cost(packet) > 0 || (!self.queue.is_empty() && packet.context != Context::Resource)
    }

    fn has_room(&self, packet: &Packet<'_>) -> bool {
        self.queue.len() < Self::MOST && self.bytes.saturating_add(packet.data.len()) <= Self::MOST_BYTES
    }

    fn put(&mut self, from: InterfaceId, packet: &Packet<'_>) {
        self.bytes = self.bytes.saturating_add(packet.data.len());
        self.queue.push_back((from, OwnedPacket::new(packet)));
    }

    fn take(&mut self) -> Option<(InterfaceId, OwnedPacket)> {
        let (from, packet) = self.queue.pop_front()?;
        self.bytes = self.bytes.saturating_sub(packet.as_packet().data.len());
        Some((from, packet))
    }
}

impl Node {
    /// Handles a packet for this node now, or keeps it until the node is drained.
    pub(super) fn receive(&mut self, from: InterfaceId, packet: &Packet<'_>) {
        if !self.deferred.takes(packet) {
            return self.deliver(from, packet);
        }
        if !self.deferred.has_room(packet) {
            self.finish_deferred();
        }
        self.deferred.put(from, packet);
    }

    /// Handles a group of the packets that wait. Says whether there was one.
    pub(super) fn handle_deferred(&mut self) -> bool {
        let mut spent = 0;
        while spent < Deferred::GROUP
            && let Some((from, packet)) = self.deferred.take()
        {
            let packet = packet.as_packet();
            spent += cost(&packet).max(1);
            self.deliver(from, &packet);
        }
        spent > 0
    }

    /// Handles all packets that wait, for what must not overtake them.
    pub(super) fn finish_deferred(&mut self) {
        while self.handle_deferred() {}
    }
}

/// Returns about how many signatures handling a packet costs.
const fn cost(packet: &Packet<'_>) -> usize {
    match (packet.packet_type, packet.destination_type) {
        (PacketType::LinkRequest, _) => 6,
        (PacketType::Data, DestinationType::Single) => 3,
        (PacketType::Data, DestinationType::Link) => {
            matches!(packet.context, Context::None | Context::Channel) as usize
        }
        (PacketType::Data | PacketType::Proof | PacketType::Announce, _) => 0,
    }
}
