//! What the router's tables hold, for those who watch over a node.

use super::Router;
use crate::{
    DestinationHash, LinkHash, PacketHash,
    iface::InterfaceId,
    wire::{RandomHash, TunnelId},
};
use alloc::vec::Vec;
use proto_core::Instant;

/// An announce that is being passed on, or is to answer a path request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingAnnounce {
    /// The hash of its packet.
    pub packet: PacketHash,
    /// How many nodes it passed, this one included.
    pub hops: u8,
    /// How often it was sent.
    pub sent: u8,
    /// How many neighbours were heard to pass it on.
    pub heard: u8,
    /// When it is sent next.
    pub due: Instant,
    /// Where it came from.
    pub source: InterfaceId,
    /// The only interface to send it on, where it answers a path request.
    pub response_to: Option<InterfaceId>,
}

/// The way back of the proof of a packet that was forwarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProofWay {
    /// Where the proof is addressed to.
    pub packet: DestinationHash,
    /// Where the packet came from.
    pub received: InterfaceId,
    /// Where it went, and the proof must come from.
    pub outbound: InterfaceId,
    /// When it was forwarded.
    pub since: Instant,
}

/// A link that passes through this node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassingLink {
    /// Its number.
    pub link: LinkHash,
    /// Where it leads.
    pub destination: DestinationHash,
    /// The interface towards the destination.
    pub outbound: InterfaceId,
    /// The interface towards the initiator.
    pub received: InterfaceId,
    /// How many nodes there are to the destination.
    pub remaining_hops: u8,
    /// How many nodes there were from the initiator.
    pub taken_hops: u8,
    /// Whether the destination's proof passed.
    pub validated: bool,
    /// When it was last used, within seconds.
    pub refreshed: Instant,
}

/// A tunnel, whose paths survive a reconnection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TunnelInfo {
    /// Its number.
    pub tunnel: TunnelId,
    /// The interface that it is attached to.
    pub interface: Option<InterfaceId>,
    /// How many paths lead through it.
    pub paths: usize,
    /// When it is forgotten, while it has no interface.
    pub expires: Option<Instant>,
}

impl Router {
    /// Returns the announce of a destination that is being passed on.
    pub fn waiting_announce(&self, destination: DestinationHash) -> Option<WaitingAnnounce> {
        self.announces.get(&destination)
    }

    /// Returns the ways back of proofs, in no order.
    pub fn proof_ways(&self) -> impl Iterator<Item = ProofWay> {
        self.reverse.iter().map(|(packet, way)| ProofWay {
            packet: *packet,
            received: way.received,
            outbound: way.outbound,
            since: way.since,
        })
    }

    /// Returns the links that pass, in no order.
    pub fn passing_links(&self) -> impl Iterator<Item = PassingLink> {
        self.links.iter().map(|(link, relayed)| PassingLink {
            link: *link,
            destination: relayed.destination,
            outbound: relayed.outbound,
            received: relayed.received,
            remaining_hops: relayed.remaining_hops,
            taken_hops: relayed.taken_hops,
            validated: relayed.validated,
            refreshed: relayed.refreshed,
        })
    }

    /// Returns the tunnels, in no order.
    pub fn tunnels(&self) -> impl Iterator<Item = TunnelInfo> {
        self.tunnels.iter().map(|(tunnel, state)| TunnelInfo {
            tunnel: *tunnel,
            interface: state.interface,
            paths: state.interface.map_or(state.paths.len(), |over| {
                self.paths.iter().filter(|(_, path)| path.interface == over).count()
            }),
            expires: state.expires,
        })
    }

    /// Returns the random hashes of the announces that a path was learned from, the newest last.
    pub fn path_random_hashes(&self, destination: DestinationHash) -> Vec<RandomHash> {
        self.paths.get(&destination).map(|path| path.blobs.iter().collect()).unwrap_or_default()
    }

    /// Says whether a packet was seen before, so that it would be dropped if it came again.
    pub fn has_seen(&self, packet: &PacketHash) -> bool {
        self.seen.contains(packet.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{IdentityHash, transport::RouterConfig};

    #[test]
    fn the_tables_of_a_new_router_are_empty() {
        let id = IdentityHash::new([1; 16]);
        let mut router = Router::new(RouterConfig::default(), id, true, [2; 16]).unwrap();
        let (packet, destination) = (PacketHash::new([3; 32]), DestinationHash::new([4; 16]));
        assert_eq!(router.waiting_announce(destination), None);
        assert_eq!(
            router.proof_ways().count() + router.passing_links().count() + router.tunnels().count(),
            0
        );
        assert!(router.path_random_hashes(destination).is_empty());
        assert!(!router.has_seen(&packet));
        router.see(packet);
        assert!(router.has_seen(&packet));
    }

    #[test]
    fn a_way_back_tells_both_interfaces_until_its_proof_passed() {
        let id = IdentityHash::new([1; 16]);
        let mut router = Router::new(RouterConfig::default(), id, true, [2; 16]).unwrap();
        let (packet, since) = (PacketHash::new([3; 32]), Instant::from_millis(5));
        router.reverse.insert(since, &packet, InterfaceId(6), InterfaceId(7));
        let (received, outbound) = (InterfaceId(6), InterfaceId(7));
        let way = ProofWay { packet: packet.truncated(), received, outbound, since };
        assert_eq!(router.proof_ways().collect::<Vec<_>>(), [way]);
        router.reverse.remove(packet.truncated());
        assert_eq!(router.proof_ways().count(), 0);
    }
}
