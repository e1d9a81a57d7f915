//! What a connection draws that nobody must foresee: mask keys and handshake keys (RFC 6455 §10.3).

use chacha20::{
    ChaCha20Rng,
    rand_core::{Rng as _, SeedableRng as _},
};
use proto_core::Rng;

/// A stream of unpredictable bytes, if the seed is.
pub(crate) struct Secrets(ChaCha20Rng);

impl Secrets {
    pub(crate) fn new(seed: [u8; 32]) -> Self {
        Self(ChaCha20Rng::from_seed(seed))
    }

    pub(crate) fn draw<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.0.fill_bytes(&mut bytes);
        bytes
    }

    /// Returns a source for somebody else, who learns nothing of what is drawn here.
    pub(crate) fn source(&mut self) -> Rng {
        Rng::new(self.draw())
    }
}

impl core::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Secrets").finish_non_exhaustive()
    }
}
