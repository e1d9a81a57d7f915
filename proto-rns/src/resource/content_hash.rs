//! The hash of a segment and its proof, from one pass over the data.

use crate::{ResourceHash, wire::ResourceSalt};
use sha2::{Digest, Sha256};

/// The SHA-256 over a segment's data so far. The hash and the proof continue it in two ways.
#[derive(Clone, Debug, Default)]
pub(super) struct ContentHash(Sha256);

impl ContentHash {
    pub(super) fn update(&mut self, data: &[u8]) {
        self.0.update(data);
    }

    /// Returns the hash of the segment: of its data and the salt.
    pub(super) fn hash(&self, salt: ResourceSalt) -> ResourceHash {
        ResourceHash::new(self.0.clone().chain_update(salt.as_bytes()).finalize().into())
    }

    /// Returns what only somebody with the data can know: the hash of them and the segment's hash.
    pub(super) fn proof(&self, hash: &ResourceHash) -> [u8; 32] {
        self.0.clone().chain_update(hash.as_bytes()).finalize().into()
    }
}
