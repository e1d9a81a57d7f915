//! The hash of a segment and its proof, from one pass over the data.

use crate::{ResourceHash, crypto::RunningHash, wire::ResourceSalt};

/// The SHA-256 over a segment's data so far. The hash and the proof continue it in two ways.
#[derive(Clone, Debug, Default)]
pub(super) struct ContentHash(pub RunningHash);

impl ContentHash {
    /// Returns the hash of the segment: of its data and the salt.
    pub(super) fn hash(&self, salt: ResourceSalt) -> ResourceHash {
        ResourceHash::new(self.continued(salt.as_bytes()))
    }

    /// Returns what only somebody with the data can know: the hash of them and the segment's hash.
    pub(super) fn proof(&self, hash: &ResourceHash) -> [u8; 32] {
        self.continued(hash.as_bytes())
    }

    fn continued(&self, more: &[u8]) -> [u8; 32] {
        let mut hash = self.0.clone();
        hash.update(more);
        hash.finish()
    }
}
