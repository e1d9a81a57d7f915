//! The time and the tools of a node, apart from its tables so that both can be borrowed at once.

use crate::{
    Env,
    compression::Compression,
    crypto::{CryptoProvider, Entropy, SecureEntropy},
};
use alloc::sync::Arc;
use core::fmt;
use proto_core::{Instant, UnixTime};

/// What a node works with: cryptography and compression, which the host chooses.
#[derive(Clone, Debug)]
pub struct Tools {
    /// Signatures, agreements, sealing.
    pub crypto: Arc<dyn CryptoProvider>,
    /// bz2.
    pub compression: Arc<dyn Compression>,
}

/// The portable tools.
impl Default for Tools {
    fn default() -> Self {
        #[cfg(feature = "std")]
        let compression = Arc::new(crate::bz2::Bz2::default());
        #[cfg(not(feature = "std"))]
        let compression = Arc::new(crate::compression::NoCompression);
        Self { crypto: Arc::new(crate::crypto::Dalek), compression }
    }
}

/// Tools, randomness and both clocks.
pub(super) struct Core {
    pub(super) tools: Tools,
    entropy: SecureEntropy,
    /// The latest time seen: time going backwards counts as this.
    now: Instant,
    /// The wall time at an instant, from which the wall time at others follows.
    wall: (Instant, UnixTime),
}

impl Core {
    pub(super) fn new(tools: Tools, seed: [u8; 32], now: Instant, wall: UnixTime) -> Self {
        Self { tools, entropy: SecureEntropy::new(seed), now, wall: (now, wall) }
    }

    /// Takes note of the time and returns it, or the latest seen where that is later.
    pub(super) fn see(&mut self, now: Instant) -> Instant {
        self.now = self.now.max(now);
        self.now
    }

    pub(super) const fn now(&self) -> Instant {
        self.now
    }

    pub(super) const fn set_wall(&mut self, wall: UnixTime) {
        self.wall = (self.now, wall);
    }

    pub(super) fn wall(&self) -> UnixTime {
        let (at, wall) = self.wall;
        UnixTime::new(wall.since_epoch().saturating_add(self.now.saturating_since(at)))
    }

    pub(super) fn entropy(&mut self) -> &mut dyn Entropy {
        &mut self.entropy
    }

    /// Returns the surroundings of one step.
    pub(super) fn env(&mut self) -> Env<'_> {
        let wall = self.wall();
        Env {
            now: self.now,
            wall,
            crypto: &*self.tools.crypto,
            compression: &*self.tools.compression,
            entropy: &mut self.entropy,
        }
    }
}

impl fmt::Debug for Core {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Core").field("now", &self.now).finish_non_exhaustive()
    }
}
