//! AES-NI and the SHA extensions.

mod aes;
mod rounds;
mod seal;
mod sha;

use crate::{Alongside, HashState, Hashed, SealKey};

/// A processor with AES-NI and the SHA extensions: proof that the instructions are there.
#[derive(Clone, Copy, Debug)]
pub struct Fused(());

impl Fused {
    /// Looks at the processor.
    pub fn detect() -> Option<Self> {
        let is_there = is_x86_feature_detected!("aes")
            && is_x86_feature_detected!("sha")
            && is_x86_feature_detected!("ssse3")
            && is_x86_feature_detected!("sse4.1");
        is_there.then_some(Self(()))
    }

    /// Appends to `out` the vector, the ciphertext of `plaintext` in a row with PKCS#7 padding, and the HMAC-SHA256 of
    /// both.
    pub fn seal(self, key: SealKey<'_>, vector: [u8; 16], plaintext: &[&[u8]], out: &mut Vec<u8>) {
        // SAFETY: a value of this type exists only where `detect` found the features.
        unsafe { seal::seal(key, vector, plaintext, out) }
    }

    /// Seals as [`seal`](Self::seal) does, and hashes other bytes and the parts of what it appended on the way.
    pub fn seal_alongside(
        self,
        key: SealKey<'_>,
        vector: [u8; 16],
        plaintext: &[&[u8]],
        alongside: &Alongside<'_>,
        out: &mut Vec<u8>,
    ) -> Hashed {
        // SAFETY: a value of this type exists only where `detect` found the features.
        unsafe { seal::seal_alongside(key, vector, plaintext, alongside, out) }
    }

    /// Takes blocks into two states at once, as many as both have, and returns how many that are.
    pub fn compress_two(self, states: [&mut HashState; 2], blocks: [&[[u8; 64]]; 2]) -> usize {
        // SAFETY: a value of this type exists only where `detect` found the features.
        unsafe { rounds::compress_two(states, blocks) }
    }
}
