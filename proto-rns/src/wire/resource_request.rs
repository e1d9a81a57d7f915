//! The receiver's wish for parts (spec 1.12).
//!
//! ```text
//! 0x00                     | hash 32 | map hashes of the wanted parts 4 each
//! 0xFF | last known hash 4 | hash 32 | map hashes of the wanted parts 4 each
//! ```

use super::{Malformed, MapHash, MapHashes};
use crate::ResourceHash;
use alloc::vec::Vec;
use proto_core::Reader;

/// A request for parts, and for more of the hash map where the receiver has come to the end of what it knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResourceRequest<'a> {
    /// The last map hash that the receiver knows, when it needs those after it.
    pub last_known: Option<MapHash>,
    /// The segment.
    pub hash: ResourceHash,
    /// The parts.
    pub wanted: MapHashes<'a>,
}

impl<'a> ResourceRequest<'a> {
    /// Parses the plaintext of a request.
    ///
    /// # Errors
    /// It is cut off or begins with an unknown byte.
    pub fn parse(plaintext: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(plaintext);
        let last_known = match reader.u8()? {
            0x00 => None,
            EXHAUSTED => Some(MapHash::new(reader.array()?)),
            _ => return Err(Malformed::Value),
        };
        let hash = ResourceHash::new(reader.array()?);
        Ok(Self { last_known, hash, wanted: MapHashes::parse(reader.rest())? })
    }

    /// Appends the plaintext.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.reserve(self.encoded_len());
        match &self.last_known {
            None => out.push(0),
            Some(last) => {
                out.push(EXHAUSTED);
                out.extend_from_slice(last.as_bytes());
            }
        }
        out.extend_from_slice(self.hash.as_bytes());
        out.extend_from_slice(self.wanted.as_bytes());
    }

    /// Returns the plaintext.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.emit(&mut out);
        out
    }

    /// Returns the plaintext's length.
    pub const fn encoded_len(&self) -> usize {
        let last = if self.last_known.is_some() { MapHash::LEN } else { 0 };
        1 + last + ResourceHash::LEN + self.wanted.as_bytes().len()
    }
}

const EXHAUSTED: u8 = 0xff;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_request_is_parsed_as_it_was_emitted(
            last: Option<[u8; 4]>,
            hash: [u8; 32],
            wanted in prop::collection::vec(any::<[u8; 4]>(), 0..=75),
        ) {
            let wanted = wanted.concat();
            let sent = ResourceRequest {
                last_known: last.map(MapHash::new),
                hash: ResourceHash::new(hash),
                wanted: MapHashes::parse(&wanted).unwrap(),
            };
            let bytes = sent.to_vec();
            prop_assert_eq!(bytes.len(), sent.encoded_len());
            prop_assert_eq!(ResourceRequest::parse(&bytes), Ok(sent));
            let head = bytes.len() - wanted.len();
            for len in (0..bytes.len()).filter(|len| *len < head || !(len - head).is_multiple_of(4)) {
                prop_assert!(ResourceRequest::parse(&bytes[..len]).is_err());
            }
        }
    }

    #[test]
    fn an_unknown_first_byte_is_an_error() {
        assert_eq!(ResourceRequest::parse(&[1; 40]), Err(Malformed::Value));
    }
}
