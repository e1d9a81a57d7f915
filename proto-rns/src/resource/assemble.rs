//! From sealed parts to a segment's bytes (spec 1.12, assembly), while the parts still come.
//!
//! ```text
//! vector 16 | AES-CBC( prefix 4 | contents | padding 1 to 16 ) | tag 32
//! 0         16         20                                      body end
//! ```
//!
//! Parts are copied to their place. What is there without a gap is authenticated and deciphered in place at once, and
//! hashed a little later if it is not compressed, so that after the last part only that part is left to do. Nothing is handed out before
//! the tag of the whole and the hash are verified.

use super::{FailReason, content_hash::ContentHash};
use crate::{
    ResourceHash,
    compression::{Compression, ExpandError},
    crypto::{CryptoProvider, RunningTag, TokenKey, update_two},
    wire::{ResourceProof, ResourceSalt},
};
use alloc::{vec, vec::Vec};
use bytes::Bytes;
use subtle::ConstantTimeEq;

/// A stream that is being received.
#[derive(Debug)]
pub(super) struct Assembly {
    buffer: Vec<u8>,
    part_size: usize,
    /// Up to where the stream is authenticated and deciphered.
    opened: usize,
    /// Up to where the contents are hashed.
    hashed: usize,
    /// Chains the next block.
    vector: [u8; 16],
    /// Runs from the first block on.
    tag: Option<RunningTag>,
    /// `None` for contents that must be expanded before they can be hashed.
    content_hash: Option<ContentHash>,
}

impl Assembly {
    /// Makes room for the stream. The caller has checked its length; this is the only place that allocates for it.
    pub(super) fn new(transfer_size: usize, part_size: usize, is_compressed: bool) -> Self {
        Self {
            buffer: vec![0; transfer_size],
            part_size: part_size.max(1),
            opened: 0,
            hashed: CONTENT_START,
            vector: [0; VECTOR],
            tag: None,
            content_hash: (!is_compressed).then(ContentHash::default),
        }
    }

    /// Copies a part to its place. Says whether it has the length of that place.
    pub(super) fn place(&mut self, index: usize, part: &[u8]) -> bool {
        match self.buffer.chunks_mut(self.part_size).nth(index) {
            Some(place) if place.len() == part.len() => {
                place.copy_from_slice(part);
                true
            }
            Some(_) | None => false,
        }
    }

    /// Opens what can be, now that the first `parts` parts are there. Less than a stride waits for more, if more is to
    /// come.
    pub(super) fn advance(&mut self, crypto: &dyn CryptoProvider, key: &TokenKey, parts: usize) {
        let body_end = self.body_end();
        let there = parts.saturating_mul(self.part_size).min(body_end);
        let end = there - there % BLOCK;
        while self.opened < end && (end - self.opened >= STRIDE || there == body_end) {
            self.open_up_to(crypto, key, end.min(self.opened + STRIDE));
        }
    }

    /// Authenticates and deciphers so far, and hashes what was deciphered before: two hashes at once cost little more
    /// than one.
    fn open_up_to(&mut self, crypto: &dyn CryptoProvider, key: &TokenKey, end: usize) {
        // How much of the last block is padding is only known in the end.
        let clear = self.opened.min(self.body_end().saturating_sub(BLOCK));
        let Some((opened, sealed)) = self.buffer.split_at_mut_checked(self.opened) else { return };
        let Some(sealed) = sealed.get_mut(..end - self.opened) else { return };
        let tag = self.tag.get_or_insert_with(|| key.tag_key().start());
        match (&mut self.content_hash, opened.get(self.hashed..clear)) {
            (Some(content_hash), Some(fresh)) => {
                update_two(crypto, [tag.hash_mut(), &mut content_hash.0], [sealed, fresh]);
                self.hashed = clear;
            }
            (Some(_), None) | (None, _) => tag.update(sealed),
        }
        if self.opened == 0 {
            if let Some((vector, blocks)) = sealed.split_first_chunk_mut() {
                self.vector = key.decrypt_blocks(*vector, blocks);
            }
        } else {
            self.vector = key.decrypt_blocks(self.vector, sealed);
        }
        self.opened = end;
    }

    /// Verifies the whole stream and hands out the contents, which may have at most `limit` bytes.
    pub(super) fn finish(
        mut self,
        compression: &dyn Compression,
        salt: ResourceSalt,
        hash: ResourceHash,
        limit: usize,
    ) -> Result<Assembled, FailReason> {
        let body_end = self.body_end();
        let tag = self.tag.take().filter(|_| self.opened == body_end).map(RunningTag::finish);
        let sent = self.buffer.get(body_end..);
        let is_authentic = tag.zip(sent).is_some_and(|(tag, sent)| bool::from(sent.ct_eq(&tag)));
        if !is_authentic {
            return Err(FailReason::Corrupt);
        }
        let end = self.content_end().ok_or(FailReason::Corrupt)?;
        let (content, content_hash) = if self.content_hash.is_some() {
            self.hash_up_to(end);
            let content_hash = self.content_hash.take().unwrap_or_default();
            (Bytes::from(self.buffer).slice(CONTENT_START..end), content_hash)
        } else {
            let stream = self.buffer.get(CONTENT_START..end).unwrap_or_default();
            let content = compression.expand(stream, limit).map_err(|error| match error {
                ExpandError::TooLong => FailReason::TooLarge,
                ExpandError::Damaged | ExpandError::Unsupported => FailReason::Corrupt,
            })?;
            let mut content_hash = ContentHash::default();
            content_hash.0.update(&content);
            (Bytes::from(content), content_hash)
        };
        if content.len() > limit {
            return Err(FailReason::TooLarge);
        }
        if content_hash.hash(salt) != hash {
            return Err(FailReason::Corrupt);
        }
        Ok(Assembled { content, proof: ResourceProof { hash, proof: content_hash.proof(&hash) } })
    }

    /// Returns the end of the ciphertext, where the tag begins.
    const fn body_end(&self) -> usize {
        self.buffer.len().saturating_sub(TAG)
    }

    /// Returns where the contents end and the padding begins.
    fn content_end(&self) -> Option<usize> {
        let body = self.buffer.get(..self.body_end())?;
        let padding = usize::from(*body.last()?);
        let end = body.len().checked_sub(padding)?;
        ((1..=BLOCK).contains(&padding) && end >= CONTENT_START).then_some(end)
    }

    fn hash_up_to(&mut self, end: usize) {
        let Some(content_hash) = &mut self.content_hash else { return };
        if let Some(fresh) = self.buffer.get(self.hashed..end) {
            content_hash.0.update(fresh);
            self.hashed = end;
        }
    }
}

/// A segment that arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Assembled {
    /// Its bytes, metadata included.
    pub content: Bytes,
    /// What proves that to the sender.
    pub proof: ResourceProof,
}

const VECTOR: usize = 16;
const BLOCK: usize = 16;
const TAG: usize = 32;

/// How much is authenticated, hashed and deciphered at a time: whole blocks of both, and little enough to stay in the
/// nearest cache.
const STRIDE: usize = 4_096;

/// Behind the vector and the prefix.
const CONTENT_START: usize = VECTOR + 4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        bz2::Bz2,
        compression::NoCompression,
        crypto::Dalek,
        resource::{PrepareJob, Prepared, SegmentContent},
    };
    use proptest::prelude::*;
    use proto_core::Rng;

    fn prepared(data: &[u8], part_size: usize, compress: bool) -> Prepared {
        let content = SegmentContent::from_data(Bytes::copy_from_slice(data));
        let job = PrepareJob { content, compress, part_size };
        job.run(&Dalek, &Bz2::default(), &key(), &mut Rng::from_u64(1))
    }

    fn key() -> TokenKey {
        TokenKey::new(&[9; 64])
    }

    fn assemble(prepared: &Prepared, part_size: usize, order: &[usize]) -> Assembly {
        let mut assembly = Assembly::new(prepared.stream().len(), part_size, prepared.is_compressed());
        let mut there = vec![false; prepared.parts()];
        for &index in order {
            assert!(assembly.place(index, prepared.part(index).unwrap()));
            there[index] = true;
            assembly.advance(&Dalek, &key(), there.iter().take_while(|there| **there).count());
        }
        assembly
    }

    proptest! {
        #[test]
        fn parts_in_any_order_give_the_data_and_the_expected_proof(
            data in prop::collection::vec(0..4_u8, 1..3_000),
            part_size in 16..700_usize,
            compress: bool,
            seed: u64,
        ) {
            let prepared = prepared(&data, part_size, compress);
            let mut order: Vec<usize> = (0..prepared.parts()).collect();
            let mut rng = Rng::from_u64(seed);
            for i in (1..order.len()).rev() {
                order.swap(i, usize::try_from(rng.below(i as u64 + 1)).unwrap());
            }
            let assembly = assemble(&prepared, part_size, &order);
            let assembled = assembly.finish(&Bz2::default(), prepared.salt(), prepared.hash(), data.len()).unwrap();
            prop_assert_eq!(&assembled.content[..], &data[..]);
            prop_assert_eq!(&assembled.proof.proof, prepared.proof());
            prop_assert_eq!(assembled.proof.hash, prepared.hash());
        }
    }

    #[test]
    fn a_changed_byte_anywhere_is_corrupt() {
        let prepared = prepared(b"some data in four parts, no more and no less than that", 32, false);
        let order: Vec<usize> = (0..prepared.parts()).collect();
        for place in 0..prepared.stream().len() {
            let mut assembly = assemble(&prepared, 32, &order[..0]);
            for &index in &order {
                let mut part = prepared.part(index).unwrap().to_vec();
                if place / 32 == index {
                    part[place % 32] ^= 1;
                }
                assembly.place(index, &part);
                assembly.advance(&Dalek, &key(), index + 1);
            }
            let result = assembly.finish(&NoCompression, prepared.salt(), prepared.hash(), 1_000);
            assert_eq!(result, Err(FailReason::Corrupt), "{place}");
        }
    }

    #[test]
    fn missing_parts_another_salt_and_too_much_data_are_refused() {
        let prepared = prepared(&[5; 200], 64, false);
        let order: Vec<usize> = (0..prepared.parts()).collect();
        let salt = ResourceSalt::new([0; 4]);
        let short = assemble(&prepared, 64, &order[1..]);
        assert_eq!(
            short.finish(&NoCompression, prepared.salt(), prepared.hash(), 200),
            Err(FailReason::Corrupt)
        );
        let other = assemble(&prepared, 64, &order);
        assert_eq!(other.finish(&NoCompression, salt, prepared.hash(), 200), Err(FailReason::Corrupt));
        let long = assemble(&prepared, 64, &order);
        assert_eq!(
            long.finish(&NoCompression, prepared.salt(), prepared.hash(), 199),
            Err(FailReason::TooLarge)
        );
    }

    #[test]
    fn a_bomb_ends_at_its_limit() {
        let prepared = prepared(&vec![0; 1_000_000], 464, true);
        assert!(prepared.is_compressed());
        let order: Vec<usize> = (0..prepared.parts()).collect();
        let assembly = assemble(&prepared, 464, &order);
        let result = assembly.finish(&Bz2::default(), prepared.salt(), prepared.hash(), 999_999);
        assert_eq!(result, Err(FailReason::TooLarge));
    }

    #[test]
    fn a_part_of_another_length_than_its_place_is_not_taken() {
        let mut assembly = Assembly::new(100, 64, false);
        assert!(!assembly.place(0, &[0; 63]));
        assert!(!assembly.place(1, &[0; 64]));
        assert!(!assembly.place(2, &[0; 36]));
        assert!(assembly.place(1, &[0; 36]));
    }
}
