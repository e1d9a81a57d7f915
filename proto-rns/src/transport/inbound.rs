//! The first look at a packet: was it seen, how far did it come, whose business is it (spec 1.6.1, 1.6.2)?

use super::{DropReason, Router, Step, Verdict};
use crate::{
    DestinationHash, LinkHash, PacketHash,
    iface::{InterfaceId, InterfaceKind},
    wire::{Context, DestinationType, Packet, PacketType, PathRequest, TunnelSynthesis},
};

/// A packet that passed the filter. Its hops count the way to this node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival<'p> {
    pub(super) packet: Packet<'p>,
    pub(super) from: InterfaceId,
    pub(super) kind: InterfaceKind,
    /// The packet's hash, where it was needed already.
    pub(super) hash: Option<PacketHash>,
}

impl Arrival<'_> {
    /// Says whether a program that this node serves sent the packet.
    pub(super) fn is_from_local_client(&self) -> bool {
        self.kind == InterfaceKind::LocalClient
    }

    /// Returns the packet's hash.
    pub(super) fn packet_hash(&self) -> PacketHash {
        self.hash.unwrap_or_else(|| self.packet.hash())
    }
}

impl Router {
    pub(super) fn route<'p>(
        &mut self,
        step: &mut Step<'_, '_>,
        from: InterfaceId,
        packet: &Packet<'p>,
    ) -> Verdict<'p> {
        let Some(kind) = step.out.properties(from).map(|properties| properties.kind) else {
            return Verdict::Dropped(DropReason::UnknownInterface);
        };
        let mut arrival = Arrival { packet: *packet, from, kind, hash: None };
        if let Err(reason) = self.filter(&mut arrival) {
            return Verdict::Dropped(reason);
        }
        // The hop between a program and the node that it shares does not count.
        if kind == InterfaceKind::Network {
            arrival.packet.hops = packet.hops.saturating_add(1);
        }
        self.dispatch(step, &arrival)
    }

    /// Drops what others shall forward and what was seen, and notes the rest as seen.
    fn filter(&mut self, arrival: &mut Arrival<'_>) -> Result<(), DropReason> {
        let packet = &arrival.packet;
        let is_announce = packet.packet_type == PacketType::Announce;
        // Whoever shares an instance trusts its filter.
        if arrival.kind == InterfaceKind::SharedInstance {
            return Ok(());
        }
        if !is_announce && packet.transport_id.is_some_and(|id| id != self.id) {
            return Err(DropReason::OtherTransport);
        }
        match packet.destination_type {
            DestinationType::Plain | DestinationType::Group if is_announce => {
                Err(DropReason::UnannounceableDestination)
            }
            DestinationType::Plain | DestinationType::Group if packet.hops > 1 => {
                Err(DropReason::TooManyHops)
            }
            DestinationType::Plain | DestinationType::Group => Ok(()),
            DestinationType::Single | DestinationType::Link if may_repeat(packet.context) => Ok(()),
            DestinationType::Single | DestinationType::Link => self.filter_seen(arrival),
        }
    }

    fn filter_seen(&mut self, arrival: &mut Arrival<'_>) -> Result<(), DropReason> {
        let packet = &arrival.packet;
        let is_proof_of_link = packet.context == Context::LinkRequestProof;
        // Links that pass are told by direction and hops; their ends look for duplicates.
        if !is_proof_of_link && self.links.get(&LinkHash::from(packet.destination)).is_some() {
            return Ok(());
        }
        let hash = *arrival.hash.insert(packet.hash());
        if packet.packet_type == PacketType::Announce {
            // Announces are noted once they are verified; those seen again tell who passes them on.
            return Ok(());
        }
        // Proofs of links are noted once they are believed.
        let is_new = if is_proof_of_link { !self.seen.contains(hash.as_bytes()) } else { self.see(hash) };
        if is_new { Ok(()) } else { Err(DropReason::Duplicate) }
    }

    fn dispatch<'p>(&mut self, step: &mut Step<'_, '_>, arrival: &Arrival<'p>) -> Verdict<'p> {
        let packet = &arrival.packet;
        if packet.packet_type == PacketType::Announce {
            return self.on_announce(step, arrival);
        }
        if matches!(packet.destination_type, DestinationType::Plain | DestinationType::Group) {
            return match packet.destination {
                PathRequest::DESTINATION => self.on_path_request(step, arrival),
                TunnelSynthesis::DESTINATION => self.on_tunnel_synthesis(step, arrival),
                _ => self.on_broadcast(step, arrival),
            };
        }
        let link = LinkHash::from(packet.destination);
        if packet.packet_type != PacketType::LinkRequest && self.links.get(&link).is_some() {
            return if packet.context == Context::LinkRequestProof {
                self.on_link_proof(step, arrival, link)
            } else {
                self.on_link_traffic(step, arrival, link)
            };
        }
        if self.is_to_forward(step, arrival) {
            return self.forward_by_path(step, arrival);
        }
        match packet.packet_type {
            PacketType::Proof if packet.destination_type != DestinationType::Link => {
                self.on_proof(step, arrival)
            }
            PacketType::Data if packet.context == Context::CacheRequest => {
                self.on_cache_request(step, arrival)
            }
            PacketType::Data | PacketType::LinkRequest | PacketType::Proof | PacketType::Announce => {
                local(step, packet)
            }
        }
    }

    /// Forgets that a packet was seen: it came over an interface that its link does not use, and may come again over
    /// the right one.
    pub fn forget_packet(&mut self, packet: &Packet<'_>) {
        self.seen.remove(packet.hash().as_bytes());
    }
}

/// Hands a packet to the node if it has its destination.
pub(super) fn local<'p>(step: &Step<'_, '_>, packet: &Packet<'p>) -> Verdict<'p> {
    if is_local(step, packet.destination_type, &packet.destination) {
        Verdict::Local(*packet)
    } else {
        Verdict::Dropped(DropReason::UnknownDestination)
    }
}

/// Says whether a destination, or a link's end, is here.
pub(super) fn is_local(step: &Step<'_, '_>, kind: DestinationType, destination: &DestinationHash) -> bool {
    match kind {
        DestinationType::Link => step.locals.has_link(&LinkHash::from(*destination)),
        DestinationType::Single | DestinationType::Group | DestinationType::Plain => {
            step.locals.has_destination(destination)
        }
    }
}

/// Says whether packets of a context come again with the same contents for a reason.
const fn may_repeat(context: Context) -> bool {
    matches!(
        context,
        Context::KeepAlive
            | Context::ResourceRequest
            | Context::ResourceProof
            | Context::Resource
            | Context::CacheRequest
            | Context::Channel
    )
}
