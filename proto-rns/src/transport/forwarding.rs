//! Packets of others: by path, along links, and back as proofs (spec 1.14).

use super::{
    BASE_MTU, DropReason, PER_HOP_TIMEOUT, PathState, Router, Step, Verdict,
    inbound::{Arrival, is_local, local},
    link_table::{RelayedLink, WrongWay},
    path::Path,
    queries::transmission_time,
};
use crate::{
    DestinationHash, LinkHash,
    identity::PublicIdentity,
    iface::{InterfaceId, InterfaceKind, InterfaceProperties},
    wire::{Announce, Context, LinkProof, LinkRequest, Packet, PacketType, Signalling, TransportType},
};

impl Router {
    /// Says whether a packet shall go on along a path from here.
    pub(super) fn is_to_forward(&self, step: &Step<'_, '_>, arrival: &Arrival<'_>) -> bool {
        let packet = &arrival.packet;
        if arrival.kind == InterfaceKind::SharedInstance
            || is_local(step, packet.destination_type, &packet.destination)
        {
            return false;
        }
        let is_for_client = self.paths.get(&packet.destination).is_some_and(|path| path.hops == 0);
        match packet.transport_id {
            Some(_) => self.transport || arrival.is_from_local_client() || is_for_client,
            None => is_for_client,
        }
    }

    /// Sends a packet on to the next node of its path.
    pub(super) fn forward_by_path<'p>(
        &mut self,
        step: &mut Step<'_, '_>,
        arrival: &Arrival<'p>,
    ) -> Verdict<'p> {
        let now = step.env.now;
        let destination = arrival.packet.destination;
        let Some(path) = self.paths.get(&destination) else {
            return Verdict::Dropped(DropReason::NoPath);
        };
        let outbound = path.interface;
        if !step.out.properties(outbound).is_some_and(|to| to.online) {
            return Verdict::Dropped(DropReason::InterfaceDown);
        }
        let mut forwarded = along(path, &arrival.packet);
        let mut clamped = [0; LinkRequest::KEYS_LEN + Signalling::LEN];
        if arrival.packet.packet_type == PacketType::LinkRequest {
            if LinkRequest::parse(arrival.packet.data).is_err() {
                return Verdict::Dropped(DropReason::Malformed);
            }
            if let Err(reason) = self.take_link_on(step, arrival, outbound) {
                return Verdict::Dropped(reason);
            }
            let (previous, next) = (step.out.properties(arrival.from), step.out.properties(outbound));
            forwarded.data = clamp(arrival.packet.data, previous, next, &mut clamped);
            step.out.send(outbound, &forwarded);
        } else {
            self.reverse.insert(now, &arrival.packet_hash(), arrival.from, outbound);
            step.out.send(outbound, &forwarded);
        }
        self.paths.touch(now, &destination);
        self.stats.forwarded += 1;
        Verdict::Handled
    }

    /// Remembers the link that a request asks for.
    fn take_link_on(
        &mut self,
        step: &Step<'_, '_>,
        arrival: &Arrival<'_>,
        outbound: InterfaceId,
    ) -> Result<(), DropReason> {
        let now = step.env.now;
        let packet = &arrival.packet;
        let path = self.paths.get(&packet.destination).ok_or(DropReason::NoPath)?;
        let relayed = RelayedLink {
            destination: packet.destination,
            outbound,
            received: arrival.from,
            remaining_hops: path.hops,
            taken_hops: packet.hops,
            validated: false,
            rebalanced: false,
            refreshed: now,
        };
        let bitrate = step.out.properties(outbound).map_or(0, |to| to.bitrate);
        let deadline = now + transmission_time(bitrate) + PER_HOP_TIMEOUT * u32::from(path.hops.max(1));
        self.links.insert(LinkRequest::link_of(packet), relayed, deadline).map_err(|_| DropReason::TableFull)
    }

    /// Sends a packet of a link that passes on in its direction.
    pub(super) fn on_link_traffic<'p>(
        &mut self,
        step: &mut Step<'_, '_>,
        arrival: &Arrival<'p>,
        link: LinkHash,
    ) -> Verdict<'p> {
        match self.links.forward(step.env.now, &link, arrival.from, arrival.packet.hops) {
            Ok(to) => {
                step.out.send(to, &arrival.packet);
                self.stats.forwarded += 1;
                Verdict::Handled
            }
            Err(WrongWay::Direction) => Verdict::Dropped(DropReason::WrongWay),
            Err(WrongWay::Unvalidated) => Verdict::Dropped(DropReason::LinkUnvalidated),
        }
    }

    /// Checks a destination's proof of a link that passes and sends it on to the initiator.
    pub(super) fn on_link_proof<'p>(
        &mut self,
        step: &mut Step<'_, '_>,
        arrival: &Arrival<'p>,
        link: LinkHash,
    ) -> Verdict<'p> {
        let packet = &arrival.packet;
        let Some(relayed) = self.links.get(&link) else {
            return Verdict::Dropped(DropReason::UnknownDestination);
        };
        let (destination, received) = (relayed.destination, relayed.received);
        // The path may have become longer or shorter since the request; that is believed once.
        let has_moved = packet.hops != relayed.remaining_hops;
        if arrival.from != relayed.outbound || (has_moved && relayed.rebalanced) {
            return Verdict::Dropped(DropReason::WrongWay);
        }
        let Ok(proof) = LinkProof::parse(packet.data) else {
            return Verdict::Dropped(DropReason::Malformed);
        };
        let Some(identity) = self.identity_of(step, &destination) else {
            return Verdict::Dropped(DropReason::UnknownDestination);
        };
        let signed =
            LinkProof::signed(link, &proof.agreement_key, identity.verifying_key(), proof.signalling);
        if !identity.verify(step.env.crypto, &signed, &proof.signature) {
            return Verdict::Dropped(DropReason::BadSignature);
        }
        self.see(arrival.packet_hash());
        self.links.validate(step.env.now, &link, packet.hops);
        if has_moved {
            self.paths.set_hops(&destination, packet.hops);
        }
        self.paths.set_state(&destination, PathState::Responsive);
        step.out.send(received, packet);
        self.stats.forwarded += 1;
        Verdict::Handled
    }

    /// Returns the keys of a destination: those remembered, or those of the announce that its path came from.
    fn identity_of(&self, step: &Step<'_, '_>, destination: &DestinationHash) -> Option<PublicIdentity> {
        if let Some(identity) = step.known.identity(*destination) {
            return Some(*identity);
        }
        let announce = self.paths.get(destination)?.announce.as_ref()?;
        Announce::parse(&announce.as_packet()).ok().map(|announce| announce.identity)
    }

    /// Sends the proof of a packet that passed back the way that the packet came, or hands it to the node.
    pub(super) fn on_proof<'p>(&mut self, step: &mut Step<'_, '_>, arrival: &Arrival<'p>) -> Verdict<'p> {
        let packet = &arrival.packet;
        let Some(way) = self.reverse.get(packet.destination) else { return Verdict::Local(*packet) };
        if way.outbound != arrival.from {
            return Verdict::Dropped(DropReason::WrongWay);
        }
        self.reverse.remove(packet.destination);
        step.out.send(way.received, packet);
        self.stats.forwarded += 1;
        Verdict::Handled
    }

    /// Relays a packet for everybody between local clients and the network, and hands it to the node.
    pub(super) fn on_broadcast<'p>(&mut self, step: &mut Step<'_, '_>, arrival: &Arrival<'p>) -> Verdict<'p> {
        let packet = &arrival.packet;
        let is_from_client = arrival.is_from_local_client();
        // A shared instance is no node on the way: its programs get what it got.
        let from_network = u8::from(arrival.kind == InterfaceKind::Network);
        let as_received = Packet { hops: packet.hops.saturating_sub(from_network), ..*packet };
        let mut relayed = false;
        for id in step.out.ids() {
            let wanted = step.out.properties(id).is_some_and(|to| {
                to.online && to.outgoing && (is_from_client || to.kind == InterfaceKind::LocalClient)
            });
            if wanted && id != arrival.from {
                step.out.send(id, &as_received);
                relayed = true;
            }
        }
        let verdict = local(step, packet);
        if relayed && matches!(verdict, Verdict::Dropped(_)) { Verdict::Handled } else { verdict }
    }

    /// Sends an announce again that somebody missed.
    pub(super) fn on_cache_request<'p>(
        &mut self,
        step: &mut Step<'_, '_>,
        arrival: &Arrival<'p>,
    ) -> Verdict<'p> {
        let packet = &arrival.packet;
        let cached = self
            .paths
            .get(&packet.destination)
            .filter(|path| packet.data == path.packet.as_bytes())
            .and_then(|path| path.announce.as_ref());
        let Some(announce) = cached else { return local(step, packet) };
        step.out.send(arrival.from, &self.as_forwarded(&announce.as_packet(), Context::None));
        Verdict::Handled
    }
}

/// Returns a packet with the header for the next node of a path.
fn along<'p>(path: &Path, packet: &Packet<'p>) -> Packet<'p> {
    match path.hops {
        0 => *packet,
        1 => Packet {
            transport_id: None,
            transport_type: TransportType::Broadcast,
            context_flag: false,
            ..*packet
        },
        _ => Packet { transport_id: Some(path.next_hop_id(packet.destination)), ..*packet },
    }
}

/// Returns a link request's data with no more MTU than the interfaces on both sides carry.
///
/// Where the next one says nothing of its MTU, neither does the request any more: then the link uses the common one.
fn clamp<'d>(
    data: &'d [u8],
    previous: Option<&InterfaceProperties>,
    next: Option<&InterfaceProperties>,
    clamped: &'d mut [u8; LinkRequest::KEYS_LEN + Signalling::LEN],
) -> &'d [u8] {
    let Some((keys, signalling)) = data.split_at_checked(LinkRequest::KEYS_LEN) else { return data };
    let Ok(signalling) = Signalling::parse(signalling) else { return data };
    let Some(next_mtu) = next.filter(|next| next.negotiates_mtu).and_then(|next| next.hardware_mtu) else {
        return keys;
    };
    let previous_mtu = previous.and_then(|previous| previous.hardware_mtu).unwrap_or(BASE_MTU);
    let mtu = previous_mtu.min(next_mtu);
    if mtu >= signalling.mtu {
        return data;
    }
    let bytes = keys.iter().copied().chain(Signalling { mtu, ..signalling }.to_bytes());
    clamped.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
    clamped
}
