//! An identity that this node holds the private keys of.

use super::{PublicIdentity, ratchet_id, token_key};
use crate::{
    IdentityHash, RatchetId,
    crypto::{CryptoProvider, Entropy, Signature, Signer, TokenKey, draw},
};
use alloc::{boxed::Box, sync::Arc};
use core::fmt;
use zeroize::Zeroizing;

/// A pair of private keys: X25519 to decrypt, Ed25519 to sign.
#[derive(Clone)]
pub struct Identity {
    keys: Arc<Keys>,
    public: PublicIdentity,
}

struct Keys {
    secret: Zeroizing<[u8; 64]>,
    agreement: Zeroizing<[u8; 32]>,
    signer: Box<dyn Signer>,
}

impl Identity {
    /// Creates an identity. Draws 32 bytes for the X25519 and 32 for the Ed25519 key.
    pub fn generate(crypto: &dyn CryptoProvider, entropy: &mut dyn Entropy) -> Self {
        let (agreement, seed) = (Zeroizing::new(draw::<32>(entropy)), Zeroizing::new(draw::<32>(entropy)));
        let mut secret = Zeroizing::new([0; 64]);
        secret.iter_mut().zip(agreement.iter().chain(seed.iter())).for_each(|(to, from)| *to = *from);
        Self::from_bytes(crypto, &secret)
    }

    /// Takes private keys as they stand in the reference's files: X25519, then the Ed25519 seed.
    pub fn from_bytes(crypto: &dyn CryptoProvider, secret: &[u8; 64]) -> Self {
        let (mut agreement, mut seed) = (Zeroizing::new([0; 32]), Zeroizing::new([0; 32]));
        agreement.iter_mut().chain(seed.iter_mut()).zip(secret).for_each(|(to, from)| *to = *from);
        let signer = crypto.signer(&seed);
        let mut public = [0; 64];
        let keys = crypto.agreement_key(&agreement).into_iter().chain(signer.key());
        public.iter_mut().zip(keys).for_each(|(to, from)| *to = from);
        Self {
            keys: Arc::new(Keys { secret: Zeroizing::new(*secret), agreement, signer }),
            public: PublicIdentity::from_bytes(&public),
        }
    }

    /// Returns the private keys, unchanged from what was taken.
    pub fn secret_bytes(&self) -> Zeroizing<[u8; 64]> {
        self.keys.secret.clone()
    }

    /// Returns the public keys.
    pub const fn public(&self) -> &PublicIdentity {
        &self.public
    }

    /// Returns the identity's hash.
    pub const fn hash(&self) -> IdentityHash {
        self.public.hash()
    }

    /// Signs `message`.
    pub fn sign(&self, message: &[u8]) -> Signature {
        self.keys.signer.sign(message)
    }

    /// Decrypts what was encrypted for the identity, in place: `ratchets` are tried in their order, then, unless
    /// `enforce_ratchets`, the identity's own key.
    ///
    /// Each ratchet costs an agreement, so the caller bounds how many it offers.
    ///
    /// # Errors
    /// None of the keys fits, or the message is too short for any.
    pub fn decrypt<'a, 'r>(
        &self,
        crypto: &dyn CryptoProvider,
        ratchets: impl IntoIterator<Item = &'r [u8; 32]>,
        enforce_ratchets: bool,
        message: &'a mut [u8],
    ) -> Result<Decrypted<'a>, DecryptError> {
        let (ephemeral, token) = message.split_first_chunk_mut::<32>().ok_or(DecryptError::TooShort)?;
        let mut tried = None;
        for ratchet in ratchets {
            if let Some(key) = self.opening_key(crypto, ratchet, ephemeral, token) {
                tried = Some((key, Some(ratchet_id(&crypto.agreement_key(ratchet)))));
                break;
            }
        }
        if tried.is_none() && !enforce_ratchets {
            tried = self.opening_key(crypto, &self.keys.agreement, ephemeral, token).map(|key| (key, None));
        }
        let (key, ratchet) = tried.ok_or(DecryptError::WrongKey)?;
        let plaintext = key.open(token).map_err(|_| DecryptError::WrongKey)?;
        Ok(Decrypted { plaintext, ratchet })
    }

    /// Returns the token key between `secret` and `ephemeral`, if it is the one that `token` was made with.
    fn opening_key(
        &self,
        crypto: &dyn CryptoProvider,
        secret: &[u8; 32],
        ephemeral: &[u8; 32],
        token: &[u8],
    ) -> Option<TokenKey> {
        let shared = Zeroizing::new(crypto.agree(secret, ephemeral)?);
        let key = TokenKey::new(&token_key(&shared, self.hash()));
        key.made(token).then_some(key)
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Identity").field(&self.hash()).finish()
    }
}

/// What a message said.
#[derive(Debug, PartialEq, Eq)]
pub struct Decrypted<'a> {
    /// The plaintext, in the place of the message.
    pub plaintext: &'a mut [u8],
    /// The ratchet that it was encrypted for, if it was one.
    pub ratchet: Option<RatchetId>,
}

/// A message that was not encrypted for this identity.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecryptError {
    /// Shorter than an ephemeral key.
    #[error("too short for an encrypted message")]
    TooShort,
    /// No key that was tried fits.
    #[error("not encrypted for this identity, or for a ratchet that is gone")]
    WrongKey,
}
