//! From a segment's bytes to sealed parts (spec 1.12, steps 2 to 4).

use super::{
    SegmentContent,
    content_hash::ContentHash,
    hashmap::{collides, write_hashes},
};
use crate::{
    ResourceHash,
    compression::Compression,
    crypto::{
        Alongside, AlongsideHashes, CryptoProvider, Entropy, TokenKey, draw, hash_parts, sha256, token_len,
    },
    wire::{MapHash, MapHashes, ResourceSalt},
};
use alloc::{borrow::Cow, vec::Vec};
use core::ops::Range;

/// The costly step before a segment is offered, as data, so that a host may take it where it has time.
#[derive(Clone, Debug)]
pub struct PrepareJob {
    /// What to send.
    pub content: SegmentContent,
    /// Whether to try bz2.
    pub compress: bool,
    /// The length of a part: what the link's packets hold.
    pub part_size: usize,
}

impl PrepareJob {
    /// Compresses, seals and hashes the segment.
    ///
    /// Draws 16 bytes for the prefix, 16 for the vector, and 16 for the salt, the last again as long as map hashes
    /// collide. Of prefix and salt the first four bytes of the draw's hash are used, as the reference does.
    pub fn run(
        &self,
        crypto: &dyn CryptoProvider,
        compression: &dyn Compression,
        key: &TokenKey,
        entropy: &mut dyn Entropy,
    ) -> Prepared {
        let pieces = self.content.pieces();
        let compressed = if self.compress { compression.compress(&joined(pieces)) } else { None };
        let prefix = draw_short(entropy);
        let vector = draw(entropy);
        let mut stream = Vec::with_capacity(token_len(
            prefix.len() + compressed.as_ref().map_or(self.content.len(), Vec::len),
        ));
        let [metadata, data] = pieces;
        let plaintext: &[&[u8]] = match &compressed {
            Some(compressed) => &[&prefix, compressed],
            None => &[&prefix, metadata, data],
        };
        let part_size = self.part_size.max(MIN_PART);
        let mut salt = draw_short(entropy);
        let alongside = Alongside { content: &pieces, part_size, salt };
        let AlongsideHashes { content, mut parts } =
            crypto.seal_alongside(key, vector, plaintext, &alongside, &mut stream);
        while collides(&parts) {
            salt = draw_short(entropy);
            parts = hash_parts(&stream, part_size, salt);
        }
        let (content_hash, salt) = (ContentHash(content), ResourceSalt::new(salt));
        let map: Vec<MapHash> = parts.into_iter().map(MapHash::new).collect();
        let hash = content_hash.hash(salt);
        let mut hashmap = Vec::with_capacity(map.len() * MapHash::LEN);
        write_hashes(&map, &mut hashmap);
        Prepared {
            hash,
            salt,
            proof: content_hash.proof(&hash),
            is_compressed: compressed.is_some(),
            stream,
            part_size,
            map,
            hashmap,
        }
    }
}

/// A segment that is ready to be offered.
#[derive(Clone, Debug)]
pub struct Prepared {
    hash: ResourceHash,
    salt: ResourceSalt,
    proof: [u8; 32],
    is_compressed: bool,
    stream: Vec<u8>,
    part_size: usize,
    map: Vec<MapHash>,
    /// The same hashes as they lie in messages.
    hashmap: Vec<u8>,
}

impl Prepared {
    /// Returns the hash that the segment goes by.
    pub const fn hash(&self) -> ResourceHash {
        self.hash
    }

    /// Returns the salt of all its hashes.
    pub const fn salt(&self) -> ResourceSalt {
        self.salt
    }

    /// Returns what the receiver will prove the arrival with.
    pub const fn proof(&self) -> &[u8; 32] {
        &self.proof
    }

    /// Says whether bz2 made it shorter.
    pub const fn is_compressed(&self) -> bool {
        self.is_compressed
    }

    /// Returns the sealed stream.
    pub fn stream(&self) -> &[u8] {
        &self.stream
    }

    /// Returns how many parts it has.
    pub const fn parts(&self) -> usize {
        self.map.len()
    }

    /// Returns a part by its number, from 0.
    pub fn part(&self, index: usize) -> Option<&[u8]> {
        self.stream.chunks(self.part_size).nth(index)
    }

    /// Returns the map hashes of a range of parts, cut where the parts end.
    pub fn hashes(&self, range: Range<usize>) -> MapHashes<'_> {
        let place = |index: usize| index.saturating_mul(MapHash::LEN).min(self.hashmap.len());
        let bytes = self.hashmap.get(place(range.start)..place(range.end)).unwrap_or_default();
        MapHashes::parse(bytes).unwrap_or_default()
    }

    pub(super) fn map(&self) -> &[MapHash] {
        &self.map
    }
}

/// Shorter parts could be equal by chance, and equal parts collide under every salt.
const MIN_PART: usize = 16;

/// The reference's way to four random bytes.
fn draw_short(entropy: &mut dyn Entropy) -> [u8; 4] {
    sha256(&[&draw::<16>(entropy)]).first_chunk().copied().unwrap_or_default()
}

fn joined<'a>([metadata, data]: [&'a [u8]; 2]) -> Cow<'a, [u8]> {
    if metadata.is_empty() { Cow::Borrowed(data) } else { Cow::Owned([metadata, data].concat()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{compression::NoCompression, crypto::Dalek};
    use alloc::vec;

    /// Gives out what a test wrote down, and counts.
    struct Script(Vec<[u8; 16]>, usize);

    impl Entropy for Script {
        fn fill(&mut self, bytes: &mut [u8]) {
            bytes.copy_from_slice(&self.0[self.1]);
            self.1 += 1;
        }
    }

    #[test]
    fn a_salt_whose_map_hashes_collide_is_drawn_again() {
        let content = SegmentContent::from_data(vec![7; 65_000].into());
        let job = PrepareJob { content, compress: false, part_size: MIN_PART };
        let key = TokenKey::new(&[3; 64]);
        let colliding = 926_u128.to_be_bytes();
        let mut draws = Script(vec![[1; 16], [2; 16], colliding, [4; 16]], 0);
        let prepared = job.run(&Dalek, &NoCompression, &key, &mut draws);
        assert_eq!(draws.1, 4);
        assert_eq!(prepared.salt().as_bytes()[..], sha256(&[&[4; 16]])[..4]);
    }

    #[test]
    fn parts_and_their_hashes_make_up_the_stream() {
        let content = SegmentContent::from_data(vec![7; 70_000].into());
        let job = PrepareJob { content, compress: true, part_size: 464 };
        let key = TokenKey::new(&[3; 64]);
        let mut draws = Script(vec![[1; 16]; 3], 0);
        let prepared = job.run(&Dalek, &NoCompression, &key, &mut draws);
        let parts: Vec<u8> = (0..prepared.parts()).flat_map(|i| prepared.part(i).unwrap().to_vec()).collect();
        assert_eq!(parts, prepared.stream());
        assert_eq!(prepared.part(prepared.parts()), None);
        assert_eq!(prepared.hashes(148..222).len(), prepared.parts() - 148);
        assert!(prepared.hashes(0..74).iter().eq(prepared.map()[..74].iter().copied()));
        assert!(prepared.hashes(500..574).is_empty());
    }
}
