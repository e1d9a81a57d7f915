//! The keys by which the ends of a link prove what they received.

use super::{outbox::Outbox, step::Step};
use crate::{
    PacketHash,
    crypto::{Signature, Signer},
    identity::Identity,
    wire::{Context, PacketType, Proof},
};
use alloc::{boxed::Box, vec::Vec};

/// The Ed25519 keys of a link: this end's to sign, the peer's to verify (spec 1.9).
#[derive(Debug)]
pub(super) struct ProofKeys {
    own: SigningKey,
    peer: [u8; 32],
}

/// Who signs for this end.
#[derive(Debug)]
pub(super) enum SigningKey {
    /// The initiator's key, made for the link.
    Ephemeral(Box<dyn Signer>),
    /// The identity of the responder's destination.
    Owner(Identity),
}

impl ProofKeys {
    pub(super) const fn new(own: SigningKey, peer: [u8; 32]) -> Self {
        Self { own, peer }
    }

    /// Returns the peer's key.
    pub(super) const fn peer(&self) -> &[u8; 32] {
        &self.peer
    }

    /// Proves a packet of the peer.
    pub(super) fn prove(&self, outbox: &mut Outbox, step: &mut Step<'_, '_>, packet: PacketHash) {
        let mut data = Vec::with_capacity(PacketHash::LEN + 64);
        Proof { packet: Some(packet), signature: self.sign(packet.as_bytes()) }.emit(&mut data);
        outbox.send_plain(step, PacketType::Proof, Context::None, &data);
    }

    fn sign(&self, message: &[u8]) -> Signature {
        match &self.own {
            SigningKey::Ephemeral(signer) => signer.sign(message),
            SigningKey::Owner(identity) => identity.sign(message),
        }
    }
}
