//! Announces: a destination makes itself known (spec 1.6).
//!
//! ```text
//! public keys 64 | name hash 10 | random hash 10 | [ratchet 32] | signature 64 | application's data
//! ```

use super::{Context, DestinationType, Malformed, Packet, PacketType};
use crate::{
    DestinationHash, NameHash,
    crypto::{CryptoProvider, Entropy, Signature, draw, sha256},
    identity::{Identity, PublicIdentity},
};
use alloc::vec::Vec;
use proto_core::Reader;

/// The contents of an announce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Announce<'a> {
    /// Whose destination it is.
    pub identity: PublicIdentity,
    /// The hash of the destination's name.
    pub name: NameHash,
    /// What tells this announce from others of the destination, and when it was made.
    pub random: RandomHash,
    /// The public key that senders shall encrypt for.
    pub ratchet: Option<[u8; 32]>,
    /// The identity's signature over all of it and the destination's hash.
    pub signature: Signature,
    /// What the application tells everybody.
    pub app_data: &'a [u8],
}

impl<'a> Announce<'a> {
    /// Makes an announce of the destination that `identity` has under the name with the hash `name`.
    pub fn sign(
        identity: &Identity,
        name: NameHash,
        random: RandomHash,
        ratchet: Option<[u8; 32]>,
        app_data: &'a [u8],
    ) -> Self {
        let mut announce =
            Self { identity: *identity.public(), name, random, ratchet, signature: [0; 64], app_data };
        announce.signature = identity.sign(&announce.signed_part(announce.destination()));
        announce
    }

    /// Parses the data of an announce packet, whose context flag tells whether there is a ratchet.
    ///
    /// # Errors
    /// The data are cut off, or the packet is addressed to another kind of destination than a single one.
    pub fn parse(packet: &Packet<'a>) -> Result<Self, Malformed> {
        if packet.packet_type != PacketType::Announce || packet.destination_type != DestinationType::Single {
            return Err(Malformed::Value);
        }
        let mut reader = Reader::new(packet.data);
        Ok(Self {
            identity: PublicIdentity::from_bytes(&reader.array()?),
            name: NameHash::new(reader.array()?),
            random: RandomHash::new(reader.array()?),
            ratchet: if packet.context_flag { Some(reader.array()?) } else { None },
            signature: reader.array()?,
            app_data: reader.rest(),
        })
    }

    /// Appends the data of the announce's packet.
    pub fn emit(&self, out: &mut Vec<u8>) {
        self.emit_head(out);
        out.extend_from_slice(&self.signature);
        out.extend_from_slice(self.app_data);
    }

    /// Returns the packet that carries the announce, whose data [`emit`](Self::emit) wrote.
    pub fn packet<'d>(&self, context: Context, data: &'d [u8]) -> Packet<'d> {
        let destination = self.destination();
        Packet {
            context_flag: self.ratchet.is_some(),
            ..Packet::new(PacketType::Announce, DestinationType::Single, destination, context, data)
        }
    }

    /// Returns the destination that is announced.
    pub fn destination(&self) -> DestinationHash {
        self.name.of(self.identity.hash())
    }

    /// Says whether the announce is for `destination` and by its identity.
    pub fn verify(&self, crypto: &dyn CryptoProvider, destination: DestinationHash) -> bool {
        self.destination() == destination
            && self.identity.verify(crypto, &self.signed_part(destination), &self.signature)
    }

    fn signed_part(&self, destination: DestinationHash) -> Vec<u8> {
        let mut out = Vec::with_capacity(DestinationHash::LEN + 116 + self.app_data.len());
        out.extend_from_slice(destination.as_bytes());
        self.emit_head(&mut out);
        out.extend_from_slice(self.app_data);
        out
    }

    /// Appends the fields before the signature, which are signed in this order.
    fn emit_head(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.identity.to_bytes());
        out.extend_from_slice(self.name.as_bytes());
        out.extend_from_slice(self.random.as_bytes());
        out.extend_from_slice(self.ratchet.as_ref().map_or(&[], |ratchet| &ratchet[..]));
    }
}

/// Five random bytes and the time of an announce, by which newer ones are told from older ones and from replays.
///
/// Some implementations fill all ten bytes at random, so the time may be anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RandomHash([u8; 10]);

impl RandomHash {
    /// Takes bytes as a random hash.
    pub const fn new(bytes: [u8; 10]) -> Self {
        Self(bytes)
    }

    /// Makes the random hash of an announce at `seconds` since 1970. Draws 16 bytes.
    pub fn generate(entropy: &mut dyn Entropy, seconds: u64) -> Self {
        let random = sha256(&[&draw::<16>(entropy)]);
        let time = seconds.to_be_bytes();
        let mut bytes = [0; 10];
        bytes
            .iter_mut()
            .zip(random.iter().take(5).chain(time.iter().skip(3)))
            .for_each(|(to, from)| *to = *from);
        Self(bytes)
    }

    /// Takes `bytes`; `None` when there are not exactly ten.
    pub fn from_slice(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// Returns the bytes.
    pub const fn as_bytes(&self) -> &[u8; 10] {
        &self.0
    }

    /// Returns when the announce says it was made, in seconds since 1970.
    pub fn emitted(&self) -> u64 {
        self.0.iter().skip(5).fold(0, |seconds, byte| seconds << 8 | u64::from(*byte))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crypto::Dalek;
    use proptest::prelude::*;
    use proto_core::Rng;

    fn announce<'a>(ratchet: Option<[u8; 32]>, app_data: &'a [u8]) -> Announce<'a> {
        let identity = Identity::from_bytes(&Dalek, &[7; 64]);
        let random = RandomHash::generate(&mut Rng::from_u64(1), 1_700_000_000);
        Announce::sign(&identity, NameHash::new([9; 10]), random, ratchet, app_data)
    }

    fn data(announce: &Announce<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        announce.emit(&mut out);
        out
    }

    proptest! {
        #[test]
        fn an_announce_is_parsed_as_it_was_emitted(ratchet: Option<[u8; 32]>, app_data: Vec<u8>) {
            let announce = announce(ratchet, &app_data);
            let data = data(&announce);
            let packet = announce.packet(Context::None, &data);
            prop_assert_eq!(Announce::parse(&packet), Ok(announce));
            prop_assert!(announce.verify(&Dalek, packet.destination));
        }
    }

    #[test]
    fn every_truncation_is_an_error() {
        for ratchet in [None, Some([1; 32])] {
            let announce = announce(ratchet, &[]);
            let data = data(&announce);
            for len in 0..data.len() {
                let packet = announce.packet(Context::None, &data[..len]);
                assert_eq!(Announce::parse(&packet), Err(Malformed::Truncated), "{len}");
            }
        }
    }

    #[test]
    fn a_change_anywhere_spoils_the_signature() {
        let announce = announce(Some([1; 32]), b"app");
        let whole = data(&announce);
        let destination = announce.destination();
        for place in 0..whole.len() {
            let mut changed = whole.clone();
            changed[place] ^= 1;
            let parsed = Announce::parse(&announce.packet(Context::None, &changed)).unwrap();
            assert!(!parsed.verify(&Dalek, destination), "{place}");
        }
        assert!(!announce.verify(&Dalek, DestinationHash::new([0; 16])));
    }

    #[test]
    fn the_time_of_an_announce_is_in_its_random_hash() {
        let random = RandomHash::generate(&mut Rng::from_u64(1), 0x01_0203_0405);
        assert_eq!(random.emitted(), 0x01_0203_0405);
        assert_eq!(RandomHash::new([0xff; 10]).emitted(), 0xff_ffff_ffff);
    }
}
