//! What arrives: frames, packets, and who gets them.

use super::{
    Event, Node,
    deferred::{ProofsOf, Waits},
};
use crate::{
    DestinationHash, LinkHash,
    iface::{Deframer, InterfaceId},
    link::ProofStrategy,
    transport::{Locals, Verdict},
    wire::{DestinationType, Packet, PacketType, Proof},
};
use alloc::{collections::BTreeMap, vec::Vec};
use bytes::Bytes;

impl Node {
    pub(super) fn on_datagram(&mut self, id: InterfaceId, datagram: &mut [u8]) {
        if let Some(interface) = self.interfaces.get_mut(id) {
            interface.count_received(datagram.len());
            self.on_frame(id, datagram);
        }
    }

    pub(super) fn on_stream(&mut self, id: InterfaceId, data: &mut [u8]) {
        let Some(interface) = self.interfaces.get_mut(id) else { return };
        interface.count_received(data.len());
        // Out of the table while its frames are handled, which needs the whole node.
        let mut deframer = core::mem::replace(&mut interface.deframer, Deframer::new(Default::default(), 0));
        deframer.feed(data, |frame| self.on_frame(id, frame));
        if let Some(interface) = self.interfaces.get_mut(id) {
            interface.deframer = deframer;
        }
    }

    fn on_frame(&mut self, id: InterfaceId, frame: &mut [u8]) {
        let Some(interface) = self.interfaces.get_mut(id) else { return };
        let access = interface.shared_access();
        let Some(packet) = interface.open(access.as_deref(), frame) else { return };
        let Ok(packet) = Packet::parse(packet) else { return interface.count_malformed() };
        let waits = self.make_way(&packet);
        let locals = NodeLocals { destinations: &self.destinations, links: &self.links };
        let verdict = self.router.handle_packet(
            &mut self.core.env(),
            id,
            &packet,
            &locals,
            &mut self.known,
            &mut self.interfaces,
        );
        match verdict {
            Verdict::Local(packet) if waits == Waits::Whole => self.defer(id, &packet),
            Verdict::Local(packet) => self.deliver(id, &packet),
            Verdict::Announce(announced) => self.tell(Event::Announce(announced)),
            Verdict::PathRequestForLocal { destination, interface, .. } => {
                self.answer_path_request(destination, interface);
            }
            Verdict::Handled | Verdict::Dropped(_) => {}
        }
    }

    /// Has the router do what is due.
    pub(super) fn route_timeouts(&mut self) {
        let announced =
            self.router.handle_timeout(&mut self.core.env(), &mut self.known, &mut self.interfaces);
        self.events.extend(announced.into_iter().map(Event::Announce));
    }

    /// Hands a packet to whom it is for.
    pub(super) fn deliver(&mut self, id: InterfaceId, packet: &Packet<'_>) {
        match (packet.packet_type, packet.destination_type) {
            (PacketType::LinkRequest, _) => self.on_link_request(id, packet),
            (PacketType::Data | PacketType::Proof, DestinationType::Link) => self.on_link_packet(id, packet),
            (PacketType::Proof, _) => self.on_proof(packet),
            (PacketType::Data, _) => self.on_data(id, packet),
            // The router keeps announces to itself.
            (PacketType::Announce, _) => {}
        }
    }

    fn on_data(&mut self, id: InterfaceId, packet: &Packet<'_>) {
        // One that says it is of another kind was not made for this destination, and is not what its keys open.
        let destination = self.destinations.get_mut(&packet.destination);
        let Some(destination) = destination.filter(|own| own.kind() == packet.destination_type) else {
            self.stats.unknown_destination = self.stats.unknown_destination.wrapping_add(1);
            return;
        };
        let mut message = core::mem::take(&mut self.scratch);
        message.clear();
        message.extend_from_slice(packet.data);
        let hash = packet.hash();
        let opened = destination
            .decrypt(&mut self.core.env(), &mut message)
            .map(|(plaintext, ratchet)| (Bytes::copy_from_slice(plaintext), ratchet));
        let proves = destination.proofs == ProofStrategy::All;
        self.scratch = message;
        match opened {
            Ok((data, ratchet)) => {
                self.tell(Event::Packet {
                    destination: packet.destination,
                    data,
                    hash,
                    ratchet,
                    interface: id,
                });
                if proves {
                    self.send_proof(packet.destination, hash, id);
                }
            }
            Err(_) => self.stats.undecryptable = self.stats.undecryptable.wrapping_add(1),
        }
    }

    fn on_proof(&mut self, packet: &Packet<'_>) {
        let now = self.core.now();
        let known = Proof::parse(packet.data)
            .is_ok_and(|proof| self.receipts.handle_proof(packet.destination, &proof, now));
        if known {
            self.defer_proof(ProofsOf::Receipts);
        } else {
            self.stats.stray_proofs = self.stats.stray_proofs.wrapping_add(1);
        }
    }

    /// Sends what proves that a packet arrived, by the interface that it came over.
    pub(super) fn send_proof(
        &mut self,
        destination: DestinationHash,
        hash: crate::PacketHash,
        to: InterfaceId,
    ) {
        use crate::{iface::Interfaces, wire::Context};
        let Some(identity) =
            self.destinations.get(&destination).and_then(|destination| destination.identity())
        else {
            return;
        };
        let explicit = (!self.config.implicit_proofs).then_some(hash);
        let proof = Proof { packet: explicit, signature: identity.sign(hash.as_bytes()) };
        let mut data = Vec::with_capacity(96);
        proof.emit(&mut data);
        let packet =
            Packet::new(PacketType::Proof, DestinationType::Single, hash.truncated(), Context::None, &data);
        self.interfaces.send(to, &packet);
    }
}

/// What is on this node, as routing asks.
struct NodeLocals<'a> {
    destinations: &'a BTreeMap<DestinationHash, crate::dest::LocalDestination>,
    links: &'a super::LinkTable,
}

impl Locals for NodeLocals<'_> {
    fn has_destination(&self, destination: &DestinationHash) -> bool {
        self.destinations.contains_key(destination)
    }

    fn has_link(&self, link: &LinkHash) -> bool {
        self.links.contains(*link)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        dest::{DestinationName, LocalDestination},
        iface::{InterfaceConfig, Medium},
        node::{NodeConfig, Tools},
        wire::Context,
    };
    use core::num::NonZeroUsize;
    use core::time::Duration;
    use proto_core::{Datagram, Instant, LinkEvent, LinkRequest, Machine, UnixTime};

    #[test]
    fn a_packet_that_says_another_kind_of_destination_is_not_delivered() {
        let wall = UnixTime::new(Duration::from_secs(1_000));
        let mut node =
            Node::new(NodeConfig::default(), Tools::default(), None, [7; 32], Instant::ZERO, wall).unwrap();
        let here = "127.0.0.1:9".parse().unwrap();
        let medium = Medium::Udp { bind: here, forward: Some(here) };
        node.add_interface(Instant::ZERO, InterfaceConfig::new("udp", medium)).unwrap();
        let Some(LinkRequest::Open { link, .. }) = node.poll_link() else { panic!("a link is asked for") };
        node.handle_link(Instant::ZERO, link, LinkEvent::Up { local: None, peer: None });
        let name = DestinationName::parse("test.plain").unwrap();
        let hash = node.register(Instant::ZERO, LocalDestination::plain(name)).unwrap();
        let mut delivered = |kind| {
            let packet = Packet::new(PacketType::Data, kind, hash, Context::None, b"hello");
            let mut frame = packet.to_vec();
            node.handle_datagram(Instant::ZERO, Datagram::new(link, here, &mut frame));
            while node.poll_transmit(Instant::ZERO, NonZeroUsize::MIN, &mut Vec::new()).is_some() {}
            core::iter::from_fn(|| node.poll_event())
                .filter(|event| matches!(event, Event::Packet { .. }))
                .count()
        };
        assert_eq!(delivered(DestinationType::Single), 0);
        assert_eq!(delivered(DestinationType::Group), 0);
        assert_eq!(delivered(DestinationType::Plain), 1);
    }
}
