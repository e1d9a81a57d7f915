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

    /// Returns the state after a block.
    pub(super) fn state_after(block: &[u8; BLOCK]) -> HashState {
        let mut state = INITIAL;
        compress256(&mut state, core::slice::from_ref(block));
        state
    }

    /// Takes in more bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        let (blocks, rest) = self.complete_block(bytes).as_chunks();
        if !blocks.is_empty() {
            compress256(&mut self.state, blocks);
            self.count_blocks(blocks.len());
        }
        if let Some(begun) = self.tail.get_mut(..rest.len()).filter(|_| !rest.is_empty()) {
            begun.copy_from_slice(rest);
            self.len += rest.len() as u64;
        }
    }

    /// Returns the hash of all of them (the padding is FIPS 180-4 §5.1.1's).
    pub fn finish(mut self) -> [u8; 32] {
        let begun = self.begun();
        let (_, padding) = self.tail.split_at_mut(begun);
        if let Some((mark, zeros)) = padding.split_first_mut() {
            *mark = 0x80;
            zeros.fill(0);
        }
        if begun >= BLOCK - size_of::<u64>() {
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
        if let Some(room) = self.tail.get_mut(begun..begun + now.len()) {
            room.copy_from_slice(now);
        }
        self.len += now.len() as u64;
        if self.begun() == 0 && !now.is_empty() {
            compress256(&mut self.state, &[self.tail]);
        }
        later
    }

    /// Counts blocks that are in the state.
    const fn count_blocks(&mut self, count: usize) {
        self.len += (count * BLOCK) as u64;
    }

    /// Returns how many bytes of the next block are there.
    #[allow(clippy::cast_possible_truncation, reason = "the remainder is less than a block")]
    const fn begun(&self) -> usize {
        (self.len % BLOCK as u64) as usize
    }
}

impl Default for RunningHash {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for RunningHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunningHash").field("len", &self.len).finish_non_exhaustive()
    }
}

/// Takes bytes into two hashes, at once where the provider can.
pub(crate) fn update_two(
    crypto: &dyn CryptoProvider,
    [first, second]: [&mut RunningHash; 2],
    [first_bytes, second_bytes]: [&[u8]; 2],
) {
    let first_bytes = first.complete_block(first_bytes);
    let second_bytes = second.complete_block(second_bytes);
    let blocks = [first_bytes.as_chunks().0, second_bytes.as_chunks().0];
    let taken = crypto.compress_two([&mut first.state, &mut second.state], blocks);
    for (hash, bytes) in [(first, first_bytes), (second, second_bytes)] {
        hash.count_blocks(taken);
        hash.update(bytes.get(taken * BLOCK..).unwrap_or_default());
    }
}

/// The block of SHA-256.
const BLOCK: usize = 64;

/// The state before the first block (FIPS 180-4 §5.3.3).
const INITIAL: HashState =
    [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crypto::Dalek;
    use alloc::vec::Vec;
    use proptest::prelude::*;
    use sha2::{Digest, Sha256};

    #[test]
    fn every_length_hashes_as_elsewhere_wherever_it_is_cut() {
        let bytes: Vec<u8> = (0..=255).collect();
        for len in 0..200 {
            let bytes = &bytes[..len];
            let expected: [u8; 32] = Sha256::digest(bytes).into();
            for cut in 0..=len {
                let mut hash = RunningHash::new();
                hash.update(&bytes[..cut]);
                hash.update(&bytes[cut..]);
                assert_eq!(hash.finish(), expected, "{len} {cut}");
            }
        }
    }

    proptest! {
        #[test]
        fn two_hashes_at_once_are_as_one_after_the_other(
            bytes in prop::array::uniform2(prop::collection::vec(any::<u8>(), 0..500)),
            begun in prop::array::uniform2(0..500_usize),
        ) {
            let [first, second] = [0, 1].map(|n| bytes[n].split_at(begun[n].min(bytes[n].len())));
            let (mut one, mut two) = (RunningHash::new(), RunningHash::new());
            one.update(first.0);
            two.update(second.0);
            update_two(&Dalek, [&mut one, &mut two], [first.1, second.1]);
            prop_assert_eq!(one.finish(), <[u8; 32]>::from(Sha256::digest(&bytes[0])));
            prop_assert_eq!(two.finish(), <[u8; 32]>::from(Sha256::digest(&bytes[1])));
        }
    }
}
