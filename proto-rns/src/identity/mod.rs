//! Identities: pairs of keys, who they belong to, and what is encrypted for them (spec 1.2, 1.5).

mod known;
mod public;
mod secret;

pub use known::{
    KnownDestination, KnownDestinations, LastUse, RATCHET_EXPIRY, RememberError, RememberedRatchet,
    UNUSED_LINGER, USED_LINGER,
};
pub use public::PublicIdentity;
pub use secret::{DecryptError, Decrypted, Identity};

use crate::{IdentityHash, RatchetId, crypto::hkdf_array, truncated_hash};
use zeroize::Zeroizing;

/// Returns the id by which a ratchet's public key is told from others.
pub fn ratchet_id(public: &[u8; 32]) -> RatchetId {
    RatchetId::from_prefix(&truncated_hash(&[public])).unwrap_or(RatchetId::new([0; 10]))
}

/// Derives the key of a token between an ephemeral key and an identity. The salt is the identity's hash with
/// ratchets too.
fn token_key(shared: &[u8; 32], identity: IdentityHash) -> Zeroizing<[u8; 64]> {
    Zeroizing::new(hkdf_array(shared, identity.as_bytes()))
}
