//! The short hashes by which the parts of a resource are asked for and recognised (spec 1.12, step 4).

use super::Malformed;
use core::fmt;

/// The first four bytes of the hash of a part and its resource's salt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MapHash([u8; Self::LEN]);

impl MapHash {
    /// Its length in bytes.
    pub const LEN: usize = 4;

    /// Takes bytes as a map hash.
    pub const fn new(bytes: [u8; Self::LEN]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes.
    pub const fn as_bytes(&self) -> &[u8; Self::LEN] {
        &self.0
    }
}

/// Map hashes in a row, as they lie in a message.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct MapHashes<'a>(&'a [u8]);

impl<'a> MapHashes<'a> {
    /// Takes bytes as map hashes.
    ///
    /// # Errors
    /// The last hash is cut off.
    pub const fn parse(bytes: &'a [u8]) -> Result<Self, Malformed> {
        if bytes.len().is_multiple_of(MapHash::LEN) { Ok(Self(bytes)) } else { Err(Malformed::Truncated) }
    }

    /// Returns the bytes.
    pub const fn as_bytes(&self) -> &'a [u8] {
        self.0
    }

    /// Returns how many hashes there are.
    pub const fn len(&self) -> usize {
        self.0.len() / MapHash::LEN
    }

    /// Says whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the hashes one by one.
    pub fn iter(&self) -> impl Iterator<Item = MapHash> + use<'a> {
        self.0.chunks_exact(MapHash::LEN).filter_map(|bytes| bytes.first_chunk().copied().map(MapHash))
    }
}

impl fmt::Debug for MapHashes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_hashes_are_hashes() {
        let hashes = MapHashes::parse(&[1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
        assert!(hashes.iter().eq([MapHash::new([1, 2, 3, 4]), MapHash::new([5, 6, 7, 8])]));
        assert_eq!(hashes.len(), 2);
        for cut in [1, 2, 3, 5, 7] {
            assert_eq!(MapHashes::parse(&hashes.as_bytes()[..cut]), Err(Malformed::Truncated));
        }
    }
}
