//! The fastest cryptography that this host offers, for `proto-rns`.
//!
//! [`provider`] looks at the processor once. Where it has what graviola's assembly needs, signing takes about half as
//! long as with the portable [`Dalek`] and key agreements too, and sealing goes with its hashes in one pass; elsewhere
//! it is [`Dalek`]. Verification is [`Dalek`]'s in any case, so that all nodes judge signatures alike, and because it
//! has batches.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod assembly;

use proto_rns::crypto::{CryptoProvider, Dalek};
use std::sync::Arc;

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub use assembly::Assembly;

/// Returns the fastest provider that works here.
pub fn provider() -> Arc<dyn CryptoProvider> {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    if let Some(assembly) = Assembly::detect() {
        return Arc::new(assembly);
    }
    Arc::new(Dalek)
}
