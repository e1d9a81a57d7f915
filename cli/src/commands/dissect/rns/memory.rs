//! What earlier packets told: who is behind a destination, which links go where, what is to be proved.

use proto_rns::{
    DestinationHash, LinkHash, PacketHash,
    crypto::{CryptoProvider as _, Dalek},
    identity::PublicIdentity,
    wire::{Announce, LinkProof, LinkRequest, Packet, Proof},
};
use std::collections::BTreeMap;

/// The memory. Each table forgets nothing and takes no more than 65,536 entries.
#[derive(Debug, Default)]
pub(super) struct Memory {
    identities: BTreeMap<DestinationHash, PublicIdentity>,
    links: BTreeMap<LinkHash, DestinationHash>,
    packets: BTreeMap<DestinationHash, (PacketHash, DestinationHash)>,
}

/// What is known of a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is right.
    Valid,
    /// It is wrong.
    Invalid,
    /// The capture does not hold the key, or what was signed.
    Unknown,
}

impl Memory {
    /// Takes note of an announce and judges its signature.
    pub(super) fn announced(&mut self, packet: &Packet<'_>, announce: &Announce<'_>) -> Verdict {
        if !announce.verify(&Dalek, packet.destination) {
            return Verdict::Invalid;
        }
        put(&mut self.identities, packet.destination, announce.identity);
        Verdict::Valid
    }

    /// Takes note of a link's request; returns the link.
    pub(super) fn requested(&mut self, packet: &Packet<'_>) -> LinkHash {
        let link = LinkRequest::link_of(packet);
        put(&mut self.links, link, packet.destination);
        link
    }

    /// Takes note of a packet that may be proved.
    pub(super) fn sent(&mut self, packet: &Packet<'_>) {
        let hash = packet.hash();
        put(&mut self.packets, hash.truncated(), (hash, packet.destination));
    }

    /// Returns where a link goes.
    pub(super) fn destination(&self, link: LinkHash) -> Option<DestinationHash> {
        self.links.get(&link).copied()
    }

    /// Judges the signature of a link's proof.
    pub(super) fn judge_link_proof(&self, link: LinkHash, proof: &LinkProof) -> Verdict {
        let known = self.destination(link).and_then(|destination| self.identities.get(&destination));
        known.map_or(Verdict::Unknown, |identity| {
            let key = identity.verifying_key();
            let signed = LinkProof::signed(link, &proof.agreement_key, key, proof.signalling);
            verdict(Dalek.verify(key, &signed, &proof.signature))
        })
    }

    /// Judges the signature of a packet's proof, which went to `to`.
    pub(super) fn judge_proof(&self, to: DestinationHash, proof: &Proof) -> Verdict {
        let known = self.packets.get(&to);
        known.map_or(Verdict::Unknown, |(packet, destination)| {
            let Some(identity) = self.identities.get(destination) else { return Verdict::Unknown };
            let of_it = proof.packet.is_none_or(|proved| proved == *packet);
            verdict(of_it && identity.verify(&Dalek, packet.as_bytes(), &proof.signature))
        })
    }
}

impl Verdict {
    /// Returns the verdict in a word.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Invalid => "INVALID",
            Self::Unknown => "not checked",
        }
    }
}

const fn verdict(valid: bool) -> Verdict {
    if valid { Verdict::Valid } else { Verdict::Invalid }
}

fn put<K: Ord, V>(table: &mut BTreeMap<K, V>, key: K, value: V) {
    const MOST: usize = 65_536;
    if table.len() < MOST || table.contains_key(&key) {
        table.insert(key, value);
    }
}
