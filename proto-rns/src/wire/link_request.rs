//! The request for a link (spec 1.10).
//!
//! ```text
//! X25519 key 32 | Ed25519 key 32 | [signalling 3]
//! ```

use super::{Malformed, Packet, Signalling};
use crate::LinkHash;
use alloc::vec::Vec;
use proto_core::Reader;

/// The data of a link request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkRequest {
    /// The initiator's X25519 key, made for this link.
    pub agreement_key: [u8; 32],
    /// The initiator's Ed25519 key, made for this link.
    pub verifying_key: [u8; 32],
    /// What the initiator proposes; old nodes propose nothing, and so may a transport node on their behalf.
    pub signalling: Option<Signalling>,
}

impl LinkRequest {
    /// The length of the two keys, which the link's number covers.
    pub const KEYS_LEN: usize = 64;

    /// Parses a request's data.
    ///
    /// # Errors
    /// They are neither two keys nor two keys and signalling.
    pub fn parse(data: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(data);
        let (agreement_key, verifying_key) = (reader.array()?, reader.array()?);
        let signalling = match reader.rest() {
            [] => None,
            bytes => Some(Signalling::parse(bytes)?),
        };
        Ok(Self { agreement_key, verifying_key, signalling })
    }

    /// Appends the data.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.agreement_key);
        out.extend_from_slice(&self.verifying_key);
        if let Some(signalling) = self.signalling {
            signalling.emit(out);
        }
    }

    /// Returns the length of the data.
    pub const fn encoded_len(&self) -> usize {
        Self::KEYS_LEN + if self.signalling.is_some() { Signalling::LEN } else { 0 }
    }

    /// Returns the number of the link that `packet` asks for. Nodes on the way may change the signalling, so the
    /// number does not depend on it.
    pub fn link_of(packet: &Packet<'_>) -> LinkHash {
        let keys = packet.data.get(..Self::KEYS_LEN).unwrap_or(packet.data);
        LinkHash::from(Packet { data: keys, ..*packet }.hash().truncated())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        DestinationHash,
        wire::{Context, DestinationType, LinkMode, PacketType},
    };
    use alloc::string::ToString;
    use proptest::prelude::*;

    /// `link.mtu500_request` of the vectors.
    const FRAME: [&str; 3] = [
        "0200e1887775ced5edaf8858bdd9da2d5b6400",
        "45723b1d1cd4206cf111d355f0939358c333c56ad7ee8bbf9af5a799e640f168",
        "2be9ae323ad111995c2f28a3dff54e2ff4e1296ba0fb9ad09f8e31191de90efa",
    ];

    fn key(digits: &str) -> [u8; 32] {
        *digits.parse::<crate::PacketHash>().unwrap().as_bytes()
    }

    proptest! {
        #[test]
        fn a_request_is_parsed_as_it_was_emitted(agreement_key: [u8; 32], verifying_key: [u8; 32], mtu in prop::option::of(0..=Signalling::MAX_MTU)) {
            let signalling = mtu.map(|mtu| Signalling { mode: LinkMode::Aes256Cbc, mtu });
            let request = LinkRequest { agreement_key, verifying_key, signalling };
            let mut data = Vec::new();
            request.emit(&mut data);
            prop_assert_eq!(data.len(), request.encoded_len());
            prop_assert_eq!(LinkRequest::parse(&data), Ok(request));
            for len in (0..data.len()).filter(|len| *len != LinkRequest::KEYS_LEN) {
                prop_assert!(LinkRequest::parse(&data[..len]).is_err());
            }
            data.resize(68, 0);
            prop_assert_eq!(LinkRequest::parse(&data), Err(Malformed::TooLong));
        }
    }

    #[test]
    fn the_number_of_a_link_does_not_depend_on_the_signalling() {
        let destination = "e1887775ced5edaf8858bdd9da2d5b64".parse::<DestinationHash>().unwrap();
        assert!(FRAME[0].contains(&destination.to_string()));
        for mtu in [None, Some(500), Some(262_144)] {
            let request = LinkRequest {
                agreement_key: key(FRAME[1]),
                verifying_key: key(FRAME[2]),
                signalling: mtu.map(|mtu| Signalling { mode: LinkMode::Aes256Cbc, mtu }),
            };
            let mut data = Vec::new();
            request.emit(&mut data);
            let packet = Packet::new(
                PacketType::LinkRequest,
                DestinationType::Single,
                destination,
                Context::None,
                &data,
            );
            assert_eq!(LinkRequest::link_of(&packet).to_string(), "5af89892f9767af7ab48c50d1b6e8046");
        }
    }
}
