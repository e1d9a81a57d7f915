//! What everybody knows of an identity.

use super::token_key;
use crate::{
    IdentityHash,
    crypto::{CryptoProvider, Entropy, Signature, TokenKey, draw, token_len},
    truncated_hash,
};
use alloc::vec::Vec;
use zeroize::Zeroizing;

/// The public keys of an identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublicIdentity {
    agreement: [u8; 32],
    verifying: [u8; 32],
    hash: IdentityHash,
}

impl PublicIdentity {
    /// The length of both keys.
    pub const LEN: usize = 64;

    /// Takes the X25519 and then the Ed25519 public key.
    pub fn from_bytes(keys: &[u8; 64]) -> Self {
        let (mut agreement, mut verifying) = ([0; 32], [0; 32]);
        agreement.iter_mut().chain(&mut verifying).zip(keys).for_each(|(to, from)| *to = *from);
        Self { agreement, verifying, hash: IdentityHash::new(truncated_hash(&[keys])) }
    }

    /// Returns both keys.
    pub fn to_bytes(&self) -> [u8; 64] {
        let mut keys = [0; 64];
        keys.iter_mut().zip(self.agreement.iter().chain(&self.verifying)).for_each(|(to, from)| *to = *from);
        keys
    }

    /// Returns the identity's hash.
    pub const fn hash(&self) -> IdentityHash {
        self.hash
    }

    /// Returns the X25519 key.
    pub const fn agreement_key(&self) -> &[u8; 32] {
        &self.agreement
    }

    /// Returns the Ed25519 key.
    pub const fn verifying_key(&self) -> &[u8; 32] {
        &self.verifying
    }

    /// Says whether the identity signed `message`.
    pub fn verify(&self, crypto: &dyn CryptoProvider, message: &[u8], signature: &Signature) -> bool {
        crypto.verify(&self.verifying, message, signature)
    }

    /// Encrypts for the identity, or for the holder of one of its ratchets. Draws 32 bytes for an ephemeral key and 16
    /// for the token's vector. `None` where the key is one that no honest peer has.
    pub fn encrypt(
        &self,
        crypto: &dyn CryptoProvider,
        entropy: &mut dyn Entropy,
        ratchet: Option<&[u8; 32]>,
        plaintext: &[u8],
    ) -> Option<Vec<u8>> {
        let ephemeral = Zeroizing::new(draw::<32>(entropy));
        let shared = Zeroizing::new(crypto.agree(&ephemeral, ratchet.unwrap_or(&self.agreement))?);
        let key = TokenKey::new(&token_key(&shared, self.hash));
        let mut out = Vec::with_capacity(32 + token_len(plaintext.len()));
        out.extend_from_slice(&crypto.agreement_key(&ephemeral));
        crypto.seal(&key, draw(entropy), &[plaintext], &mut out);
        Some(out)
    }
}
