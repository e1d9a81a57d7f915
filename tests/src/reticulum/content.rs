//! Contents that both sides can make from a few numbers, and that are compared by their hash.

use proto_rns::crypto::sha256;
use serde_json::{Value, json};

/// Contents that a seed stands for.
///
/// They are the SHA-256 hashes of the seed and a counter, each 8 bytes and big-endian, in a row. Where they are to be
/// compressible, each hash is replaced by 32 times its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Content {
    /// What makes them differ from others.
    pub seed: u64,
    /// Their length in bytes.
    pub len: usize,
    /// Whether compression makes them shorter.
    pub compressible: bool,
}

impl Content {
    /// Contents that look random.
    pub const fn random(seed: u64, len: usize) -> Self {
        Self { seed, len, compressible: false }
    }

    /// Contents that are easy to compress.
    pub const fn compressible(seed: u64, len: usize) -> Self {
        Self { seed, len, compressible: true }
    }

    /// Makes them.
    pub fn bytes(&self) -> Vec<u8> {
        let blocks = (0u64..).map(|counter| {
            let hash = sha256(&[&self.seed.to_be_bytes(), &counter.to_be_bytes()]);
            let [first, ..] = hash;
            if self.compressible { [first; 32] } else { hash }
        });
        blocks.take(self.len.div_ceil(32)).flatten().take(self.len).collect()
    }

    /// Returns what is told of them once they have arrived.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&self.bytes())
    }

    pub(super) fn to_json(self) -> Value {
        json!({"seed": self.seed, "len": self.len, "compressible": self.compressible})
    }
}

/// The length and the SHA-256 of contents.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint {
    /// The length in bytes.
    pub len: usize,
    /// The hash.
    pub sha256: [u8; 32],
}

impl Fingerprint {
    /// Takes it of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self { len: bytes.len(), sha256: sha256(&[bytes]) }
    }
}

impl std::fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes {}", self.len, hex::encode(self.sha256))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_have_their_length_and_depend_on_the_seed() {
        for len in [0, 1, 32, 33, 1000] {
            assert_eq!(Content::random(1, len).bytes().len(), len);
        }
        assert_ne!(Content::random(1, 64).bytes(), Content::random(2, 64).bytes());
    }

    #[test]
    fn compressible_contents_repeat_bytes_and_random_ones_do_not() {
        let repeats = |content: Content| content.bytes().windows(2).filter(|pair| pair[0] == pair[1]).count();
        assert!(repeats(Content::compressible(1, 1024)) >= 31 * 32);
        assert!(repeats(Content::random(1, 1024)) < 32);
    }
}
