//! What single functions need: cryptography, randomness and the time.

use proto_core::{Instant, UnixTime};
use proto_rns::{
    Env,
    bz2::Bz2,
    crypto::{CryptoProvider, SecureEntropy},
};
use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

/// The surroundings of functions that are called without a node.
#[derive(Debug)]
pub(crate) struct Workbench {
    pub(crate) crypto: Arc<dyn CryptoProvider>,
    pub(crate) entropy: SecureEntropy,
    compression: Bz2,
}

impl Workbench {
    /// Returns the surroundings of one step, now.
    pub(crate) fn env(&mut self) -> Env<'_> {
        Env {
            now: Instant::ZERO,
            wall: wall(),
            crypto: &*self.crypto,
            compression: &self.compression,
            entropy: &mut self.entropy,
        }
    }
}

impl Default for Workbench {
    fn default() -> Self {
        Self {
            crypto: host_crypto::provider(),
            entropy: SecureEntropy::new(seed()),
            compression: Bz2::at_level(9),
        }
    }
}

/// Returns the time of the host.
#[allow(clippy::disallowed_methods, reason = "the suite compares with the time of the host")]
pub(crate) fn wall() -> UnixTime {
    UnixTime::new(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO))
}

/// Returns a secret of the operating system. Without one there is nothing to test.
#[allow(clippy::expect_used, reason = "a host without randomness cannot run the bridge")]
pub(crate) fn seed() -> [u8; 32] {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).expect("the operating system has randomness");
    seed
}
