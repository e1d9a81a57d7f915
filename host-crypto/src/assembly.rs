//! Curve25519 in assembly, by way of graviola, and sealing in one pass.

use fused_crypto::{Fused, SealKey};
use graviola::{
    key_agreement::x25519::{PublicKey, StaticPrivateKey},
    signing::eddsa::Ed25519SigningKey,
};
use proto_rns::crypto::{
    Alongside, AlongsideHashes, Claim, CryptoProvider, Dalek, HashState, RunningHash, Signature, Signer,
    TokenKey,
};
use std::fmt;

/// Ed25519 signing and X25519 in assembly; sealing and hashing in one pass.
///
/// A value exists only where the processor can run it.
#[derive(Clone, Copy, Debug)]
pub struct Assembly {
    /// Sealing and hashing at once, where the processor can do that too.
    fused: Option<Fused>,
}

impl Assembly {
    /// Returns the provider if the processor has all the instructions it needs.
    pub fn detect() -> Option<Self> {
        has_instructions().then(|| Self { fused: Fused::detect() })
    }
}

impl CryptoProvider for Assembly {
    fn signer(&self, seed: &[u8; 32]) -> Box<dyn Signer> {
        match Ed25519SigningKey::from_bytes(seed) {
            Ok(key) => Box::new(AssemblySigner { public: key.public_key().as_bytes(), key }),
            Err(_) => Dalek.signer(seed),
        }
    }

    fn verify(&self, key: &[u8; 32], message: &[u8], signature: &Signature) -> bool {
        Dalek.verify(key, message, signature)
    }

    fn verify_all(&self, claims: &[Claim<'_>]) -> bool {
        Dalek.verify_all(claims)
    }

    fn agreement_key(&self, secret: &[u8; 32]) -> [u8; 32] {
        StaticPrivateKey::from_array(secret).public_key().as_bytes()
    }

    fn agree(&self, secret: &[u8; 32], public: &[u8; 32]) -> Option<[u8; 32]> {
        let shared =
            StaticPrivateKey::from_array(secret).diffie_hellman(&PublicKey::from_array(public)).ok()?;
        Some(shared.0)
    }

    fn seal(&self, key: &TokenKey, vector: [u8; 16], parts: &[&[u8]], out: &mut Vec<u8>) {
        let len: usize = parts.iter().map(|part| part.len()).sum();
        match self.fused.zip(seal_key(key)) {
            Some((fused, key)) if len >= WORTH_FUSING => fused.seal(key, vector, parts, out),
            Some(_) | None => Dalek.seal(key, vector, parts, out),
        }
    }

    fn seal_alongside(
        &self,
        key: &TokenKey,
        vector: [u8; 16],
        plaintext: &[&[u8]],
        alongside: &Alongside<'_>,
        out: &mut Vec<u8>,
    ) -> AlongsideHashes {
        let Some((fused, key)) = self.fused.zip(seal_key(key)) else {
            return Dalek.seal_alongside(key, vector, plaintext, alongside, out);
        };
        let &Alongside { content, part_size, salt } = alongside;
        let fused_alongside = fused_crypto::Alongside { content, part_size, suffix: salt };
        let hashed = fused.seal_alongside(key, vector, plaintext, &fused_alongside, out);
        AlongsideHashes { content: with_rest(hashed.content, content), parts: hashed.parts }
    }

    fn compress_two(&self, states: [&mut HashState; 2], blocks: [&[[u8; 64]]; 2]) -> usize {
        self.fused.map_or(0, |fused| fused.compress_two(states, blocks))
    }
}

/// Returns what sealing needs of a key; `None` for the old kind.
fn seal_key(key: &TokenKey) -> Option<SealKey<'_>> {
    let [inner, outer] = key.tag_key().states();
    Some(SealKey { cipher: key.aes256_key()?, inner, outer })
}

/// Goes on from the state after the whole blocks of `slices` in a row with the bytes behind them.
fn with_rest(state: HashState, slices: &[&[u8]]) -> RunningHash {
    let len: usize = slices.iter().map(|slice| slice.len()).sum();
    let mut hash = RunningHash::resume(state, len / 64);
    let mut hashed = len - len % 64;
    for slice in slices {
        hash.update(slice.get(hashed..).unwrap_or_default());
        hashed = hashed.saturating_sub(slice.len());
    }
    hash
}

/// From this length on one pass saves more than it takes to compute the round keys for it again.
const WORTH_FUSING: usize = 128;

struct AssemblySigner {
    key: Ed25519SigningKey,
    public: [u8; 32],
}

impl Signer for AssemblySigner {
    fn key(&self) -> [u8; 32] {
        self.public
    }

    fn sign(&self, message: &[u8]) -> Signature {
        self.key.sign(message)
    }
}

impl fmt::Debug for AssemblySigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AssemblySigner").finish_non_exhaustive()
    }
}

/// Says whether the processor has what graviola asks for at each call.
#[cfg(target_arch = "x86_64")]
fn has_instructions() -> bool {
    is_x86_feature_detected!("aes")
        && is_x86_feature_detected!("pclmulqdq")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("adx")
        && is_x86_feature_detected!("avx")
        && is_x86_feature_detected!("avx2")
}

/// Says whether the processor has what graviola asks for at each call.
#[cfg(target_arch = "aarch64")]
fn has_instructions() -> bool {
    std::arch::is_aarch64_feature_detected!("aes")
        && std::arch::is_aarch64_feature_detected!("pmull")
        && std::arch::is_aarch64_feature_detected!("sha2")
        && std::arch::is_aarch64_feature_detected!("neon")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_differs_from_the_portable_provider_in_nothing(seed: [u8; 32], peer: [u8; 32], message: Vec<u8>) {
            let Some(assembly) = Assembly::detect() else { return Ok(()) };
            let (fast, portable) = (assembly.signer(&seed), Dalek.signer(&seed));
            prop_assert_eq!(fast.key(), portable.key());
            prop_assert_eq!(fast.sign(&message), portable.sign(&message));
            prop_assert_eq!(assembly.agreement_key(&seed), Dalek.agreement_key(&seed));
            prop_assert_eq!(assembly.agree(&seed, &peer), Dalek.agree(&seed, &peer));
        }
    }

    proptest! {
        #[test]
        fn it_seals_and_hashes_as_the_portable_provider_does(
            key: [[u8; 32]; 2],
            vector: [u8; 16],
            plaintext in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..2_000), 0..4),
            part_size in 1..2_000_usize,
            salt: [u8; 4],
        ) {
            let Some(assembly) = Assembly::detect() else { return Ok(()) };
            let plaintext: Vec<&[u8]> = plaintext.iter().map(|slice| &slice[..]).collect();
            let content = plaintext.get(1..).unwrap_or_default();
            let alongside = Alongside { content, part_size, salt };
            let whole = key.as_flattened().try_into().unwrap();
            for key in [TokenKey::new(whole), TokenKey::new_legacy(&key[0])] {
                let sealed = [&assembly as &dyn CryptoProvider, &Dalek].map(|crypto| {
                    let mut out = b"before".to_vec();
                    crypto.seal(&key, vector, &plaintext, &mut out);
                    let hashes = crypto.seal_alongside(&key, vector, &plaintext, &alongside, &mut out);
                    (out, hashes.content.finish(), hashes.parts)
                });
                prop_assert_eq!(&sealed[0], &sealed[1]);
            }
        }
    }

    #[test]
    fn keys_of_low_order_lead_to_no_secret() {
        let Some(assembly) = Assembly::detect() else { return };
        let mut one = [0; 32];
        one[0] = 1;
        // p - 1, p and p + 1, with and without the bit that is to be ignored.
        let mut near = [[0xff; 32]; 3];
        for (key, low) in near.iter_mut().zip([0xec, 0xed, 0xee]) {
            key[0] = low;
            key[31] = 0x7f;
        }
        let [before, prime, after] = near;
        for key in [[0; 32], one, before, prime, after] {
            let mut ignored = key;
            ignored[31] |= 0x80;
            for key in [key, ignored] {
                assert_eq!(assembly.agree(&[9; 32], &key), None);
                assert_eq!(Dalek.agree(&[9; 32], &key), None);
            }
        }
    }
}
