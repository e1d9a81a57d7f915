//! What is hashed while something is sealed.

use super::{CryptoProvider, RunningHash, TokenKey};
use alloc::vec::Vec;

/// The hashes that a sealed stream travels with (spec 1.12).
#[derive(Clone, Copy, Debug)]
pub struct Alongside<'a> {
    /// Bytes to be hashed as they are. They need not be what is sealed.
    pub content: &'a [&'a [u8]],
    /// The length of the parts of the sealed stream, each to be hashed for itself; at least 1.
    pub part_size: usize,
    /// What each part is followed by in its hash.
    pub salt: [u8; 4],
}

/// The results of [`Alongside`].
#[derive(Clone, Debug)]
pub struct AlongsideHashes {
    /// Over the content.
    pub content: RunningHash,
    /// The first bytes of the hash of each part.
    pub parts: Vec<[u8; 4]>,
}

/// Seals, then hashes.
pub(super) fn seal_then_hash<P: CryptoProvider + ?Sized>(
    crypto: &P,
    key: &TokenKey,
    vector: [u8; 16],
    plaintext: &[&[u8]],
    alongside: &Alongside<'_>,
    out: &mut Vec<u8>,
) -> AlongsideHashes {
    let start = out.len();
    crypto.seal(key, vector, plaintext, out);
    let mut content = RunningHash::new();
    alongside.content.iter().for_each(|piece| content.update(piece));
    let stream = out.get(start..).unwrap_or_default();
    AlongsideHashes { content, parts: hash_parts(stream, alongside.part_size, alongside.salt) }
}

/// Returns the first bytes of the hash of each part of `stream`.
pub(crate) fn hash_parts(stream: &[u8], part_size: usize, salt: [u8; 4]) -> Vec<[u8; 4]> {
    let hash = |part| super::sha256(&[part, &salt]).first_chunk().copied().unwrap_or_default();
    stream.chunks(part_size.max(1)).map(hash).collect()
}
