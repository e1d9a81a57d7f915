//! The proof that a segment arrived whole (spec 1.12).
//!
//! ```text
//! hash 32 | SHA-256(data | hash) 32
//! ```

use super::Malformed;
use crate::ResourceHash;

/// A proof of a segment. Only somebody who has the data can make it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResourceProof {
    /// The segment.
    pub hash: ResourceHash,
    /// The hash of its data and its hash.
    pub proof: [u8; 32],
}

impl ResourceProof {
    /// Its length in bytes.
    pub const LEN: usize = 64;

    /// Parses the data of a proof packet.
    ///
    /// # Errors
    /// The data are longer or shorter than a proof.
    pub fn parse(data: &[u8]) -> Result<Self, Malformed> {
        let (hash, rest) = data.split_first_chunk().ok_or(Malformed::Truncated)?;
        let (proof, rest) = rest.split_first_chunk().ok_or(Malformed::Truncated)?;
        if !rest.is_empty() {
            return Err(Malformed::TooLong);
        }
        Ok(Self { hash: ResourceHash::new(*hash), proof: *proof })
    }

    /// Returns the data of the proof packet.
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        let fields = self.hash.as_bytes().iter().chain(&self.proof);
        bytes.iter_mut().zip(fields).for_each(|(to, from)| *to = *from);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_proof_is_parsed_as_it_was_emitted(hash: [u8; 32], proof: [u8; 32]) {
            let sent = ResourceProof { hash: ResourceHash::new(hash), proof };
            let bytes = sent.to_bytes();
            prop_assert_eq!(ResourceProof::parse(&bytes), Ok(sent));
            for len in 0..bytes.len() {
                prop_assert!(ResourceProof::parse(&bytes[..len]).is_err());
            }
            prop_assert_eq!(ResourceProof::parse(&[&bytes[..], &[0]].concat()), Err(Malformed::TooLong));
        }
    }
}
