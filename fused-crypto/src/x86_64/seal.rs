//! Encrypt, authenticate and hash in one pass.
//!
//! ```text
//! stream   | vector, 3 blocks | 4 blocks | 4 blocks | ... | 0 to 3 blocks | tag
//! encrypt            head           n        n + 1              end
//! tag                             n - 1        n           what is left
//! ```
//!
//! The stream begins with the vector, so the first three blocks of ciphertext fill up the tag's first block and are
//! encrypted alone. From then on each step encrypts a group of four blocks and takes the group before into the tag.

use super::{
    aes::{RoundKeys, load, store},
    rounds::{CbcGroup, encrypt_and_hash, hash},
    sha::{INITIAL, Lane},
};
use crate::{Alongside, HashState, Hashed, SealKey, cursor::Cursor, parts::PartBlocks};
use core::arch::x86_64::__m128i;

/// Appends vector, ciphertext and tag.
#[target_feature(enable = "aes,sha,sse2,ssse3,sse4.1")]
pub(super) fn seal(key: SealKey<'_>, vector: [u8; 16], plaintext: &[&[u8]], out: &mut Vec<u8>) {
    let padding = padding(plaintext);
    let keys = RoundKeys::new(key.cipher);
    let mut sealing = Sealing::new(&keys, key.inner, vector, Cursor::new(plaintext, padding), out);
    while let Some(plain) = sealing.plain.take() {
        sealing.step(&plain, [], []);
    }
    sealing.finish(key.outer);
}

/// Seals and hashes.
#[target_feature(enable = "aes,sha,sse2,ssse3,sse4.1")]
pub(super) fn seal_alongside(
    key: SealKey<'_>,
    vector: [u8; 16],
    plaintext: &[&[u8]],
    alongside: &Alongside<'_>,
    out: &mut Vec<u8>,
) -> Hashed {
    let padding = padding(plaintext);
    let keys = RoundKeys::new(key.cipher);
    let mut sealing = Sealing::new(&keys, key.inner, vector, Cursor::new(plaintext, padding), out);
    let mut content = Cursor::new(alongside.content, &[]);
    let mut content_lane = Lane::new(&INITIAL);
    let mut parts = PartHashes::new(alongside, sealing.total);
    while let Some(plain) = sealing.plain.take() {
        match (content.take(), parts.blocks.next(sealing.stream())) {
            (Some(content), Some(part)) => {
                sealing.step(&plain, [&mut content_lane, &mut parts.lane], [&content, &part]);
                parts.on_block();
            }
            (Some(content), None) => sealing.step(&plain, [&mut content_lane], [&content]),
            (None, Some(part)) => {
                sealing.step(&plain, [&mut parts.lane], [&part]);
                parts.on_block();
            }
            (None, None) => sealing.step(&plain, [], []),
        }
    }
    sealing.finish(key.outer);
    loop {
        match (content.take(), parts.blocks.next(sealing.stream())) {
            (Some(content), Some(part)) => {
                hash([&mut content_lane, &mut parts.lane], [&content, &part]);
                parts.on_block();
            }
            (Some(content), None) => hash([&mut content_lane], [&content]),
            (None, Some(part)) => {
                hash([&mut parts.lane], [&part]);
                parts.on_block();
            }
            (None, None) => break,
        }
    }
    Hashed { content: content_lane.state(), parts: parts.hashes }
}

/// A stream that is being written.
struct Sealing<'a> {
    keys: &'a RoundKeys,
    chain: __m128i,
    plain: Cursor<'a>,
    tag: Lane,
    /// The last block of the stream, not taken into the tag yet.
    pending: [u8; 64],
    out: &'a mut Vec<u8>,
    start: usize,
    /// How long the stream will be.
    total: usize,
}

impl<'a> Sealing<'a> {
    /// Writes the vector and up to three blocks.
    #[target_feature(enable = "aes,sha,sse2,ssse3,sse4.1")]
    fn new(
        keys: &'a RoundKeys,
        inner: &HashState,
        vector: [u8; 16],
        plain: Cursor<'a>,
        out: &'a mut Vec<u8>,
    ) -> Self {
        let total = BLOCK + plain.remaining() + TAG;
        out.reserve(total);
        let start = out.len();
        out.extend_from_slice(&vector);
        let (chain, tag) = (load(&vector), Lane::new(inner));
        let mut sealing = Self { keys, chain, plain, tag, pending: [0; 64], out, start, total };
        sealing.encrypt_some(3);
        sealing.pending = sealing.stream().first_chunk().copied().unwrap_or([0; 64]);
        sealing
    }

    /// Encrypts the next group while the one before goes into the tag, and other blocks into their lanes.
    #[inline]
    #[target_feature(enable = "aes,sha,sse2,ssse3,sse4.1")]
    fn step<const LANES: usize>(
        &mut self,
        plain: &[u8; 64],
        lanes: [&mut Lane; LANES],
        blocks: [&[u8; 64]; LANES],
    ) {
        let group = CbcGroup::new(self.chain, plain);
        let sealed = encrypt_and_hash(group, self.keys, (&mut self.tag, &self.pending), lanes, blocks);
        let [.., last] = sealed;
        self.chain = last;
        for (to, block) in self.pending.as_chunks_mut().0.iter_mut().zip(sealed) {
            *to = store(block);
        }
        self.out.extend_from_slice(&self.pending);
    }

    /// Encrypts what is less than a group, and writes the tag.
    #[target_feature(enable = "aes,sha,sse2,ssse3,sse4.1")]
    fn finish(&mut self, outer: &HashState) {
        self.encrypt_some(3);
        let untagged = self.total - TAG - (self.total - TAG) % 64;
        // The last whole block is pending, unless the stream is shorter than a block.
        if untagged > 0 {
            hash([&mut self.tag], [&self.pending]);
        }
        let rest = self.stream().get(untagged..).unwrap_or_default();
        let inner = end_of_message(self.tag, rest, 64 + self.total - TAG);
        let tag = end_of_message(Lane::new(outer), &big_endian(&inner), 64 + TAG);
        self.out.extend_from_slice(&big_endian(&tag));
    }

    /// Encrypts up to `count` blocks.
    #[target_feature(enable = "aes,sse2")]
    fn encrypt_some(&mut self, count: usize) {
        for _ in 0..count {
            let Some(plain) = self.plain.take() else { return };
            self.chain = self.keys.encrypt(self.chain, &plain);
            self.out.extend_from_slice(&store(self.chain));
        }
    }

    /// Returns what is written.
    #[inline]
    fn stream(&self) -> &[u8] {
        self.out.get(self.start..).unwrap_or_default()
    }
}

/// The hashes of the parts of the stream.
struct PartHashes {
    blocks: PartBlocks,
    lane: Lane,
    hashes: Vec<[u8; 4]>,
}

impl PartHashes {
    #[target_feature(enable = "sse2,ssse3,sse4.1")]
    fn new(alongside: &Alongside<'_>, total: usize) -> Self {
        let blocks = PartBlocks::new(alongside.part_size, alongside.suffix, total);
        let hashes = Vec::with_capacity(blocks.count());
        Self { blocks, lane: Lane::new(&INITIAL), hashes }
    }

    /// The block that was given out last is in the lane.
    #[inline]
    #[target_feature(enable = "sse2,ssse3,sse4.1")]
    fn on_block(&mut self) {
        if self.blocks.ends_part() {
            let [first, ..] = self.lane.state();
            self.hashes.push(first.to_be_bytes());
            self.lane = Lane::new(&INITIAL);
        }
    }
}

/// Hashes the rest of a message, which is less than a block, and the padding. `len` counts the whole message.
#[target_feature(enable = "sha,sse2,ssse3,sse4.1")]
fn end_of_message(mut lane: Lane, rest: &[u8], len: usize) -> HashState {
    let mut block = [0; 64];
    if let Some((begun, [mark, ..])) = block.split_at_mut_checked(rest.len()) {
        begun.copy_from_slice(rest);
        *mark = 0x80;
    }
    if rest.len() >= 56 {
        hash([&mut lane], [&block]);
        block = [0; 64];
    }
    let bits = 8 * len as u64;
    if let Some(length) = block.last_chunk_mut() {
        *length = bits.to_be_bytes();
    }
    hash([&mut lane], [&block]);
    lane.state()
}

/// Returns the words as a hash is written.
fn big_endian(state: &HashState) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes.as_chunks_mut().0.iter_mut().zip(state).for_each(|(to, word)| *to = word.to_be_bytes());
    bytes
}

/// Returns the padding behind `plaintext` (PKCS#7, RFC 5652 §6.3).
fn padding(plaintext: &[&[u8]]) -> &'static [u8] {
    let len: usize = plaintext.iter().map(|slice| slice.len()).sum();
    PADDINGS
        .get(BLOCK - 1 - len % BLOCK)
        .map_or(&[], |padding| padding.get(len % BLOCK..).unwrap_or_default())
}

/// For each length from 1 on, a block of bytes of that value.
static PADDINGS: [[u8; BLOCK]; BLOCK] = [
    [1; 16], [2; 16], [3; 16], [4; 16], [5; 16], [6; 16], [7; 16], [8; 16], [9; 16], [10; 16], [11; 16],
    [12; 16], [13; 16], [14; 16], [15; 16], [16; 16],
];

/// The block of AES, and its vector.
const BLOCK: usize = 16;

/// The tag.
const TAG: usize = 32;
