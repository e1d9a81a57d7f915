//! SHA-256 over bytes that come one after the other.

use super::CryptoProvider;
use core::fmt;
use sha2::block_api::compress256;

/// The words between two blocks of SHA-256 (the "hash value" of FIPS 180-4).
pub type HashState = [u32; 8];

/// The SHA-256 over bytes that are still coming.
///
/// A clone may be continued in another way.
#[derive(Clone)]
pub struct RunningHash {
    state: HashState,
    /// Begins with the bytes that are no whole block yet.
    tail: [u8; BLOCK],
    /// How many bytes came.
    len: u64,
}

impl RunningHash {
    /// Starts with no bytes.
    pub const fn new() -> Self {
        Self::resume(INITIAL, 0)
    }

    /// Goes on from the state after so many whole blocks.
    pub const fn resume(state: HashState, blocks: usize) -> Self {
        Self { state, tail: [0; BLOCK], len: (blocks * BLOCK) as u64 }
    }

    /// Takes in more bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        let (blocks, rest) = self.complete_block(bytes).as_chunks();
        self.take_blocks(blocks.len(), |state| compress256(state, blocks));
        if let Some(begun) = self.tail.get_mut(..rest.len()).filter(|_| !rest.is_empty()) {
            begun.copy_from_slice(rest);
            self.len += rest.len() as u64;
        }
    }

    /// Returns the hash of all of them (the padding is FIPS 180-4 §5.1.1's).
    pub fn finish(mut self) -> [u8; 32] {
        let (_, padding) = self.tail.split_at_mut(self.begun());
        if let Some((mark, zeros)) = padding.split_first_mut() {
            *mark = 0x80;
            zeros.fill(0);
        }
        if self.begun() >= BLOCK - size_of::<u64>() {
            compress256(&mut self.state, &[self.tail]);
            self.tail = [0; BLOCK];
        }
        if let Some(bits) = self.tail.last_chunk_mut() {
            *bits = self.len.wrapping_mul(8).to_be_bytes();
        }
        compress256(&mut self.state, &[self.tail]);
        let mut hash = [0; 32];
        hash.as_chunks_mut().0.iter_mut().zip(self.state).for_each(|(to, word)| *to = word.to_be_bytes());
        hash
    }

    /// Takes in what ends the block begun, and returns the bytes behind.
    fn complete_block<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let begun = self.begun();
        if begun == 0 {
            return bytes;
        }
        let (now, later) = bytes.split_at(bytes.len().min(BLOCK - begun));
        let room = self.tail.iter_mut().skip(begun);
        room.zip(now).for_each(|(to, from)| *to = *from);
        self.len += now.len() as u64;
        if self.begun() == 0 && !now.is_empty() {
            compress256(&mut self.state, &[self.tail]);
        }
        later
    }

    /// Counts blocks that `compress` takes into the state.
    fn take_blocks(&mut self, count: usize, compress: impl FnOnce(&mut HashState)) {
        if count > 0 {
            compress(&mut self.state);
            self.len += (count * BLOCK) as u64;
        }
    }

    /// Returns how many bytes of the next block are there.
    const fn begun(&self) -> usize {
        self.tail.len() - self.free()
    }
}
