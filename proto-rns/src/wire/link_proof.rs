//! The answer to a link request, signed by the destination (spec 1.10).
//!
//! ```text
//! signature 64 | X25519 key 32 | [signalling 3]
//! ```

use super::{Malformed, Signalling};
use crate::{LinkHash, crypto::Signature};
use alloc::vec::Vec;
use proto_core::Reader;

/// The data of a link proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkProof {
    /// The destination's signature over [`LinkProof::signed`].
    pub signature: Signature,
    /// The responder's X25519 key, made for this link.
    pub agreement_key: [u8; 32],
    /// What the responder agreed to; absent where nothing was proposed.
    pub signalling: Option<Signalling>,
}

impl LinkProof {
    const SHORTEST: usize = 96;

    /// Parses a proof's data.
    ///
    /// # Errors
    /// They are cut off or too long.
    pub fn parse(data: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(data);
        let (signature, agreement_key) = (reader.array()?, reader.array()?);
        let signalling = match reader.rest() {
            [] => None,
            bytes => Some(Signalling::parse(bytes)?),
        };
        Ok(Self { signature, agreement_key, signalling })
    }

    /// Appends the data.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.signature);
        out.extend_from_slice(&self.agreement_key);
        if let Some(signalling) = self.signalling {
            signalling.emit(out);
        }
    }

    /// Returns the length of the data.
    pub const fn encoded_len(&self) -> usize {
        Self::SHORTEST + if self.signalling.is_some() { Signalling::LEN } else { 0 }
    }

    /// Returns what a proof's signature covers, given the destination's Ed25519 key.
    pub fn signed(
        link: LinkHash,
        agreement_key: &[u8; 32],
        verifying_key: &[u8; 32],
        signalling: Option<Signalling>,
    ) -> Vec<u8> {
        let signalling = signalling.map(Signalling::to_bytes);
        let signalling = signalling.as_ref().map_or(&[][..], |bytes| bytes);
        [link.as_bytes(), &agreement_key[..], verifying_key, signalling].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::LinkMode;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_proof_is_parsed_as_it_was_emitted(head: [u8; 32], tail: [u8; 32], agreement_key: [u8; 32], mtu in prop::option::of(0..=Signalling::MAX_MTU)) {
            let mut signature = [0; 64];
            signature[..32].copy_from_slice(&head);
            signature[32..].copy_from_slice(&tail);
            let signalling = mtu.map(|mtu| Signalling { mode: LinkMode::Aes256Cbc, mtu });
            let proof = LinkProof { signature, agreement_key, signalling };
            let mut data = Vec::new();
            proof.emit(&mut data);
            prop_assert_eq!(data.len(), proof.encoded_len());
            prop_assert_eq!(LinkProof::parse(&data), Ok(proof));
            for len in (0..data.len()).filter(|len| *len != LinkProof::SHORTEST) {
                prop_assert!(LinkProof::parse(&data[..len]).is_err());
            }
        }
    }

    #[test]
    fn the_signature_covers_the_link_both_keys_and_the_signalling() {
        let signalling = Some(Signalling { mode: LinkMode::Aes256Cbc, mtu: 500 });
        let signed = LinkProof::signed(LinkHash::new([1; 16]), &[2; 32], &[3; 32], signalling);
        let expected = [&[1; 16][..], &[2; 32], &[3; 32], &[0x20, 0x01, 0xf4]].concat();
        assert_eq!(signed, expected);
        assert_eq!(LinkProof::signed(LinkHash::new([1; 16]), &[2; 32], &[3; 32], None), expected[..80]);
    }
}
