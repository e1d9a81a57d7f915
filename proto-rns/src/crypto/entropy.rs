//! Where random bytes come from.

use proto_core::Rng;

/// A source of random bytes.
///
/// Each draw is one call, in the order that the protocol's steps need them, so that a recorded list of draws
/// reproduces a message byte for byte.
pub trait Entropy {
    /// Fills `bytes` with one draw.
    fn fill(&mut self, bytes: &mut [u8]);
}

/// Draws `N` random bytes.
pub fn draw<const N: usize>(entropy: &mut dyn Entropy) -> [u8; N] {
    let mut bytes = [0; N];
    entropy.fill(&mut bytes);
    bytes
}

/// For simulations and tests; keys need [`SecureEntropy`].
impl Entropy for Rng {
    fn fill(&mut self, bytes: &mut [u8]) {
        Self::fill(self, bytes);
    }
}

/// A generator for keys: HMAC-SHA256 of a counter under a key derived from the seed.
///
/// After each draw the key is replaced by one derived from it, so that a key that leaks later does not tell what was
/// drawn before.
#[derive(zeroize::ZeroizeOnDrop)]
pub struct SecureEntropy {
    key: [u8; 32],
}

impl SecureEntropy {
    /// Creates a generator. The seed must be secret and used once.
    pub fn new(seed: [u8; 32]) -> Self {
        Self { key: super::hmac_sha256(&seed, &[b"iolite entropy"]) }
    }
}

impl Entropy for SecureEntropy {
    fn fill(&mut self, bytes: &mut [u8]) {
        let key = super::HmacKey::new(&self.key);
        for (counter, block) in (1_u64..).zip(bytes.chunks_mut(32)) {
            let stream = key.tag(&[&counter.to_be_bytes()]);
            block.iter_mut().zip(stream).for_each(|(to, from)| *to = from);
        }
        self.key = key.tag(&[&0_u64.to_be_bytes()]);
    }
}

impl core::fmt::Debug for SecureEntropy {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("SecureEntropy").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_draws_the_same_bytes_and_never_twice() {
        let (mut a, mut b) = (SecureEntropy::new([1; 32]), SecureEntropy::new([1; 32]));
        let first = draw::<100>(&mut a);
        assert_eq!(first, draw::<100>(&mut b));
        assert_ne!(first, draw::<100>(&mut a));
        assert_ne!(first, draw::<100>(&mut SecureEntropy::new([2; 32])));
    }
}
