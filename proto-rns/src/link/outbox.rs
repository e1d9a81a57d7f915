//! Sealing and sending what a link has to say.

use super::step::Step;
use crate::{
    LinkHash, PacketHash,
    crypto::{TokenKey, draw},
    wire::{Context, DestinationType, Packet, PacketType},
};
use alloc::vec::Vec;
use proto_core::Instant;

/// The sending end of a link. Every packet is sealed in the same buffer and lent to the sink.
#[derive(Debug)]
pub(super) struct Outbox {
    link: LinkHash,
    key: TokenKey,
    sealed: Vec<u8>,
    last_sent: Instant,
}

impl Outbox {
    pub(super) const fn new(link: LinkHash, key: TokenKey, now: Instant) -> Self {
        Self { link, key, sealed: Vec::new(), last_sent: now }
    }

    pub(super) const fn key(&self) -> &TokenKey {
        &self.key
    }

    /// Returns when the link last sent anything.
    pub(super) const fn last_sent(&self) -> Instant {
        self.last_sent
    }

    /// Notes that something was sent past the outbox.
    pub(super) const fn on_sent(&mut self, now: Instant) {
        self.last_sent = now;
    }

    /// Encrypts `plaintext`, given in parts, and sends it. Draws the vector.
    pub(super) fn send(&mut self, step: &mut Step<'_, '_>, context: Context, plaintext: &[&[u8]]) {
        self.seal(step, plaintext);
        self.last_sent = step.env.now;
        transmit(step, &packet(self.link, PacketType::Data, context, &self.sealed));
    }

    /// As [`send`](Self::send), and returns the packet's hash.
    pub(super) fn send_hashed(
        &mut self,
        step: &mut Step<'_, '_>,
        context: Context,
        plaintext: &[&[u8]],
    ) -> PacketHash {
        self.seal(step, plaintext);
        self.last_sent = step.env.now;
        let packet = packet(self.link, PacketType::Data, context, &self.sealed);
        transmit(step, &packet);
        packet.hash()
    }

    /// Sends `data` as they are.
    pub(super) fn send_plain(
        &mut self,
        step: &mut Step<'_, '_>,
        packet_type: PacketType,
        context: Context,
        data: &[u8],
    ) {
        self.last_sent = step.env.now;
        transmit(step, &packet(self.link, packet_type, context, data));
    }

    fn seal(&mut self, step: &mut Step<'_, '_>, plaintext: &[&[u8]]) {
        self.sealed.clear();
        let vector = draw(step.env.entropy);
        step.env.crypto.seal(&self.key, vector, plaintext, &mut self.sealed);
    }
}

/// Returns a packet of a link, which carries the link's number as its destination and never a transport id.
pub(super) fn packet(link: LinkHash, packet_type: PacketType, context: Context, data: &[u8]) -> Packet<'_> {
    Packet::new(packet_type, DestinationType::Link, link.into(), context, data)
}

fn transmit(step: &mut Step<'_, '_>, packet: &Packet<'_>) {
    step.stats.count_sent(packet.data.len());
    step.out.send(packet);
}
