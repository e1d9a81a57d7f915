//! Encryption and hashes of the same bytes in one pass.
//!
//! CBC encryption waits for one AES round after the other, and so does SHA-256 for its own. Two things that wait do not
//! wait longer when they wait at once: this crate interleaves the rounds of AES-256-CBC with those of up to three
//! SHA-256 computations, instruction by instruction, so that a processor works on one while the others are under way.
//!
//! It knows block functions and nothing of a protocol but what can only be done in the same pass: hashing what was
//! just encrypted. [`Fused::detect`] says whether the processor has the instructions; where it does not, and on other
//! architectures than x86-64, there is no [`Fused`], and the caller takes one pass after the other.

#![deny(missing_docs, unsafe_op_in_unsafe_fn, clippy::undocumented_unsafe_blocks)]

mod cursor;
#[cfg(not(target_arch = "x86_64"))]
mod nowhere;
mod parts;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(not(target_arch = "x86_64"))]
pub use nowhere::Fused;
#[cfg(target_arch = "x86_64")]
pub use x86_64::Fused;

/// The words between two blocks of SHA-256 (the "hash value" of FIPS 180-4).
pub type HashState = [u32; 8];

/// The keys of one sealing: encrypt, then authenticate.
#[derive(Clone, Copy)]
pub struct SealKey<'a> {
    /// The key of AES-256.
    pub cipher: &'a [u8; 32],
    /// The state after HMAC's inner pad.
    pub inner: &'a HashState,
    /// The state after HMAC's outer pad.
    pub outer: &'a HashState,
}

impl core::fmt::Debug for SealKey<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("SealKey").finish_non_exhaustive()
    }
}

/// What to hash while sealing.
#[derive(Clone, Copy, Debug)]
pub struct Alongside<'a> {
    /// Bytes that are hashed as they are. They need not be what is sealed.
    pub content: &'a [&'a [u8]],
    /// The length of the pieces that the sealed bytes are cut into, each to be hashed for itself; at least 1.
    pub part_size: usize,
    /// What each piece is followed by in its hash.
    pub suffix: [u8; 4],
}

/// What [`Fused::seal_alongside`] hashed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hashed {
    /// The state after all whole blocks of the content. The bytes behind them are left to the caller.
    pub content: HashState,
    /// The first four bytes of the hash of each part.
    pub parts: Vec<[u8; 4]>,
}
