//! The next stretch of a segment's hash map (spec 1.12).
//!
//! ```text
//! hash 32 | MessagePack [stretch, map hashes]
//! ```

use super::{
    Malformed, MapHashes,
    msgpack::{Reader, ShapeError, Writer},
};
use crate::ResourceHash;
use alloc::vec::Vec;

/// Map hashes that the advertisement had no room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashmapUpdate<'a> {
    /// The segment of the resource.
    pub hash: ResourceHash,
    /// The stretch of the hash map: its first hash belongs to the part of this number times
    /// [`MAX_HASHES`](super::ResourceAdvertisement::MAX_HASHES).
    pub stretch: u32,
    /// The map hashes.
    pub hashmap: MapHashes<'a>,
}

impl<'a> HashmapUpdate<'a> {
    /// Parses the plaintext of an update.
    ///
    /// # Errors
    /// It is cut off, of another shape, or something follows.
    pub fn parse(plaintext: &'a [u8]) -> Result<Self, Malformed> {
        let (hash, rest) = plaintext.split_first_chunk().ok_or(Malformed::Truncated)?;
        let mut reader = Reader::new(rest);
        if reader.array_len()? != 2 {
            return Err(Malformed::Shape(ShapeError::WrongKind));
        }
        let stretch = u32::try_from(reader.unsigned()?).map_err(|_| Malformed::Value)?;
        let hashmap = MapHashes::parse(reader.bytes()?)?;
        reader.end()?;
        Ok(Self { hash: ResourceHash::new(*hash), stretch, hashmap })
    }

    /// Appends the plaintext.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.hash.as_bytes());
        Writer::new(out).array(2).unsigned(self.stretch.into()).bytes(self.hashmap.as_bytes());
    }

    /// Returns the plaintext.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(48 + self.hashmap.as_bytes().len());
        self.emit(&mut out);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_update_is_parsed_as_it_was_emitted(
            hash: [u8; 32],
            stretch: u32,
            hashmap in prop::collection::vec(any::<[u8; 4]>(), 0..=74),
        ) {
            let hashmap = hashmap.concat();
            let sent = HashmapUpdate {
                hash: ResourceHash::new(hash),
                stretch,
                hashmap: MapHashes::parse(&hashmap).unwrap(),
            };
            let bytes = sent.to_vec();
            prop_assert_eq!(HashmapUpdate::parse(&bytes), Ok(sent));
            for len in 0..bytes.len() {
                prop_assert!(HashmapUpdate::parse(&bytes[..len]).is_err());
            }
        }
    }
}
