//! What has arrived for one destination.

use crate::faces::waiters::Waiters;
use bytes::Bytes;
use proto_rns::{LinkHash, PacketHash, RatchetId, iface::InterfaceId};
use std::{collections::VecDeque, task::Context};

/// A packet that came for a destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedPacket {
    /// The plaintext.
    pub data: Bytes,
    /// The packet's hash, for [`Destination::prove`](super::Destination::prove).
    pub hash: PacketHash,
    /// The ratchet that it was encrypted for.
    pub ratchet: Option<RatchetId>,
    /// The interface it came over.
    pub interface: InterfaceId,
}

/// The packets and links of one destination that the application has not taken.
#[derive(Debug, Default)]
pub(super) struct DestinationSeat {
    packets: VecDeque<ReceivedPacket>,
    /// Packets that were dropped because so many wait.
    lost: u64,
    arrivals: VecDeque<LinkHash>,
    waiters: Waiters,
    stopped: bool,
}

impl DestinationSeat {
    /// Packets that wait for the application; further ones are dropped and counted. At most 2 MiB.
    const MOST_PACKETS: usize = 4_096;

    pub(super) fn receive(&mut self, packet: ReceivedPacket) {
        if self.packets.len() < Self::MOST_PACKETS {
            self.packets.push_back(packet);
            self.waiters.wake();
        } else {
            self.lost = self.lost.wrapping_add(1);
        }
    }

    /// Takes note of a link that is established. The node's limit on links bounds them.
    pub(super) fn arrive(&mut self, link: LinkHash) {
        self.arrivals.push_back(link);
        self.waiters.wake();
    }

    pub(super) fn next_packet(&mut self) -> Option<ReceivedPacket> {
        self.packets.pop_front()
    }

    pub(super) fn next_arrival(&mut self) -> Option<LinkHash> {
        self.arrivals.pop_front()
    }

    pub(super) const fn lost(&self) -> u64 {
        self.lost
    }

    pub(super) const fn has_stopped(&self) -> bool {
        self.stopped
    }

    pub(super) fn wait(&mut self, cx: &Context<'_>) {
        self.waiters.add(cx);
    }

    pub(super) fn stop(&mut self) {
        self.stopped = true;
        self.waiters.wake();
    }

    pub(super) fn into_arrivals(self) -> Vec<LinkHash> {
        self.arrivals.into()
    }
}
