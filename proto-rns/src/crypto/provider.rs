//! What a host may have faster code for.

use super::{
    Alongside, AlongsideHashes, HashState, TokenKey, alongside::seal_then_hash, token::seal_in_two_passes,
};
use alloc::{boxed::Box, vec::Vec};
use core::fmt;

/// An Ed25519 signature (RFC 8032).
pub type Signature = [u8; 64];

/// The operations that a host may have faster code for.
///
/// All providers agree: signatures are deterministic (RFC 8032), verification is cofactorless and insists on a
/// canonical `S`, and agreements are RFC 7748's with the scalar clamped on use.
pub trait CryptoProvider: Send + Sync + fmt::Debug {
    /// Prepares the Ed25519 key with this seed for signing.
    fn signer(&self, seed: &[u8; 32]) -> Box<dyn Signer>;

    /// Says whether `signature` over `message` is by the holder of `key`. Bytes that are no key sign nothing.
    fn verify(&self, key: &[u8; 32], message: &[u8], signature: &Signature) -> bool;

    /// Says whether all claims hold, for less than verifying one by one where the provider can.
    ///
    /// A provider may answer `true` for claims whose holder crafted his own key so that only one of the two
    /// verification equations holds. Such a holder could as well have signed; use it for proofs of delivery, not
    /// where signatures must be judged alike by everybody.
    fn verify_all(&self, claims: &[Claim<'_>]) -> bool {
        claims.iter().all(|claim| self.verify(claim.key, claim.message, claim.signature))
    }

    /// Returns the X25519 public key of `secret`.
    fn agreement_key(&self, secret: &[u8; 32]) -> [u8; 32];

    /// Returns the X25519 shared secret, or `None` where the peer's key leads to the all-zero one (RFC 7748 §6.1).
    fn agree(&self, secret: &[u8; 32], public: &[u8; 32]) -> Option<[u8; 32]>;

    /// Appends the token of `parts` in a row to `out` (spec 1.5): the vector, the ciphertext and the tag.
    fn seal(&self, key: &TokenKey, vector: [u8; 16], parts: &[&[u8]], out: &mut Vec<u8>) {
        seal_in_two_passes(key, vector, parts, out);
    }

    /// Seals as [`seal`](Self::seal) does, and hashes what goes with it.
    fn seal_alongside(
        &self,
        key: &TokenKey,
        vector: [u8; 16],
        plaintext: &[&[u8]],
        alongside: &Alongside<'_>,
        out: &mut Vec<u8>,
    ) -> AlongsideHashes {
        seal_then_hash(self, key, vector, plaintext, alongside, out)
    }

    /// Takes blocks into two states of SHA-256 at once, as many of both as the provider likes, and returns how many.
    /// The caller takes in the others.
    fn compress_two(&self, states: [&mut HashState; 2], blocks: [&[[u8; 64]]; 2]) -> usize {
        let _ = (states, blocks);
        0
    }
}

/// A private Ed25519 key, ready to sign.
pub trait Signer: Send + Sync + fmt::Debug {
    /// Returns the public key.
    fn key(&self) -> [u8; 32];

    /// Signs `message`.
    fn sign(&self, message: &[u8]) -> Signature;
}

/// One signature to verify.
#[derive(Clone, Copy, Debug)]
pub struct Claim<'a> {
    /// The Ed25519 public key.
    pub key: &'a [u8; 32],
    /// What was signed.
    pub message: &'a [u8],
    /// The signature.
    pub signature: &'a Signature,
}

/// Says of each claim whether it holds: at once where all do, one by one where not.
pub(crate) fn which_hold<'c>(
    crypto: &'c dyn CryptoProvider,
    claims: &'c [Claim<'c>],
) -> impl Iterator<Item = bool> + 'c {
    let all = crypto.verify_all(claims);
    let settled = all || claims.len() == 1;
    claims.iter().map(move |claim| match settled {
        true => all,
        false => crypto.verify(claim.key, claim.message, claim.signature),
    })
}
