//! Tunnels: an interface that reconnects says which one it was (spec 1.14).
//!
//! ```text
//! public keys 64 | interface hash 32 | random 16 | signature over all before it 64
//! ```

use super::{Context, DestinationType, Malformed, Packet, PacketType};
use crate::{
    DestinationHash, InterfaceHash,
    crypto::{CryptoProvider, Entropy, Signature, draw, sha256},
    identity::{Identity, PublicIdentity},
};
use alloc::vec::Vec;
use core::fmt;
use proto_core::Reader;

/// Asks the peer to attach the interface to a tunnel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TunnelSynthesis {
    /// The transport identity of the node that connected.
    pub identity: PublicIdentity,
    /// The hash of that node's name for the interface.
    pub interface: InterfaceHash,
    /// What makes each request different.
    pub random: [u8; 16],
    /// The identity's signature.
    pub signature: Signature,
}

impl TunnelSynthesis {
    /// The plain destination `rnstransport.tunnel.synthesize`.
    pub const DESTINATION: DestinationHash = DestinationHash::new([
        0x91, 0xbf, 0x09, 0x10, 0x26, 0x7b, 0x59, 0xb0, 0xe8, 0x64, 0xe0, 0xd4, 0xc9, 0x16, 0x02, 0xca,
    ]);

    /// Makes a request. Draws 16 bytes.
    pub fn sign(identity: &Identity, interface: InterfaceHash, entropy: &mut dyn Entropy) -> Self {
        let mut synthesis =
            Self { identity: *identity.public(), interface, random: draw(entropy), signature: [0; 64] };
        synthesis.signature = identity.sign(&synthesis.signed_part());
        synthesis
    }

    /// Parses the data of a packet to [`DESTINATION`](Self::DESTINATION).
    ///
    /// # Errors
    /// The data are too short or too long.
    pub fn parse(data: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(data);
        let synthesis = Self {
            identity: PublicIdentity::from_bytes(&reader.array()?),
            interface: InterfaceHash::new(reader.array()?),
            random: reader.array()?,
            signature: reader.array()?,
        };
        if reader.is_empty() { Ok(synthesis) } else { Err(Malformed::TooLong) }
    }

    /// Appends the data of the packet.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.signed_part());
        out.extend_from_slice(&self.signature);
    }

    /// Returns the packet that carries the request, whose data [`emit`](Self::emit) wrote.
    pub const fn packet(data: &[u8]) -> Packet<'_> {
        Packet::new(PacketType::Data, DestinationType::Plain, Self::DESTINATION, Context::None, data)
    }

    /// Returns the number of the tunnel, the same for every request of one interface.
    pub fn tunnel(&self) -> TunnelId {
        TunnelId(sha256(&[&self.identity.to_bytes(), self.interface.as_bytes()]))
    }

    /// Says whether the identity signed the request.
    pub fn verify(&self, crypto: &dyn CryptoProvider) -> bool {
        self.identity.verify(crypto, &self.signed_part(), &self.signature)
    }

    fn signed_part(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(176);
        out.extend_from_slice(&self.identity.to_bytes());
        out.extend_from_slice(self.interface.as_bytes());
        out.extend_from_slice(&self.random);
        out
    }
}

/// The number of a tunnel.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TunnelId([u8; 32]);

impl TunnelId {
    /// Takes `bytes`; `None` when there are not exactly 32.
    pub fn from_slice(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// Returns the bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for TunnelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for TunnelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TunnelId({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{crypto::Dalek, dest::DestinationName};
    use proptest::prelude::*;
    use proto_core::Rng;

    proptest! {
        #[test]
        fn a_request_is_parsed_as_it_was_emitted(interface: [u8; 32], seed: u64) {
            let identity = Identity::from_bytes(&Dalek, &[7; 64]);
            let synthesis =
                TunnelSynthesis::sign(&identity, InterfaceHash::new(interface), &mut Rng::from_u64(seed));
            let mut data = Vec::new();
            synthesis.emit(&mut data);
            prop_assert_eq!(TunnelSynthesis::parse(&data), Ok(synthesis));
            prop_assert!(synthesis.verify(&Dalek));
            for len in 0..data.len() {
                prop_assert_eq!(TunnelSynthesis::parse(&data[..len]), Err(Malformed::Truncated));
            }
            data.push(0);
            prop_assert_eq!(TunnelSynthesis::parse(&data), Err(Malformed::TooLong));
        }
    }

    #[test]
    fn requests_go_to_the_well_known_destination() {
        let name = DestinationName::parse("rnstransport.tunnel.synthesize").unwrap();
        assert_eq!(name.of_nobody(), TunnelSynthesis::DESTINATION);
    }
}
