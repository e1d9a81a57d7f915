//! Who the initiator of a link is (spec 1.10).
//!
//! ```text
//! public keys 64 | signature 64
//! ```

use super::Malformed;
use crate::{LinkHash, crypto::Signature};
use alloc::vec::Vec;
use proto_core::Reader;

/// The plaintext of an identification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkIdentify {
    /// The X25519 and the Ed25519 key of the identity.
    pub keys: [u8; 64],
    /// Its signature over [`LinkIdentify::signed`].
    pub signature: Signature,
}

impl LinkIdentify {
    /// The length on the wire.
    pub const LEN: usize = 128;

    /// Parses an identification.
    ///
    /// # Errors
    /// It is cut off or too long.
    pub fn parse(plaintext: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(plaintext);
        let identify = Self { keys: reader.array()?, signature: reader.array()? };
        if reader.is_empty() { Ok(identify) } else { Err(Malformed::TooLong) }
    }

    /// Appends the identification.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.keys);
        out.extend_from_slice(&self.signature);
    }

    /// Returns what the signature covers.
    pub fn signed(link: LinkHash, keys: &[u8; 64]) -> Vec<u8> {
        [link.as_bytes(), &keys[..]].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identification_is_two_fields_of_64_bytes() {
        let identify = LinkIdentify { keys: [1; 64], signature: [2; 64] };
        let mut plaintext = Vec::new();
        identify.emit(&mut plaintext);
        assert_eq!(plaintext, [[1; 64], [2; 64]].concat());
        assert_eq!(plaintext.len(), LinkIdentify::LEN);
        assert_eq!(LinkIdentify::parse(&plaintext), Ok(identify));
        for len in 0..plaintext.len() {
            assert_eq!(LinkIdentify::parse(&plaintext[..len]), Err(Malformed::Truncated));
        }
        plaintext.push(0);
        assert_eq!(LinkIdentify::parse(&plaintext), Err(Malformed::TooLong));
    }

    #[test]
    fn the_signature_covers_the_link_and_the_keys() {
        let signed = LinkIdentify::signed(LinkHash::new([9; 16]), &[1; 64]);
        assert_eq!(signed, [&[9; 16][..], &[1; 64]].concat());
    }
}
