//! The portable provider, on the dalek crates.

use super::{Claim, CryptoProvider, Signature, Signer, sha256};
use alloc::{boxed::Box, vec::Vec};
use curve25519_dalek::{
    EdwardsPoint, Scalar,
    edwards::CompressedEdwardsY,
    traits::{IsIdentity, VartimeMultiscalarMul},
};
use ed25519_dalek::{Signer as _, SigningKey, Verifier as _, VerifyingKey};
use sha2::{Digest, Sha512};

/// Ed25519 and X25519 in portable Rust, without allocation but for batches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Dalek;

impl CryptoProvider for Dalek {
    fn signer(&self, seed: &[u8; 32]) -> Box<dyn Signer> {
        Box::new(SigningKey::from_bytes(seed))
    }

    fn verify(&self, key: &[u8; 32], message: &[u8], signature: &Signature) -> bool {
        VerifyingKey::from_bytes(key)
            .is_ok_and(|key| key.verify(message, &ed25519_dalek::Signature::from_bytes(signature)).is_ok())
    }

    fn verify_all(&self, claims: &[Claim<'_>]) -> bool {
        match claims {
            [] => true,
            [one] => self.verify(one.key, one.message, one.signature),
            many => verify_batch(many).unwrap_or(false),
        }
    }

    fn agreement_key(&self, secret: &[u8; 32]) -> [u8; 32] {
        x25519_dalek::PublicKey::from(&x25519_dalek::StaticSecret::from(*secret)).to_bytes()
    }

    fn agree(&self, secret: &[u8; 32], public: &[u8; 32]) -> Option<[u8; 32]> {
        let shared = x25519_dalek::StaticSecret::from(*secret).diffie_hellman(&(*public).into());
        shared.was_contributory().then(|| shared.to_bytes())
    }
}

impl Signer for SigningKey {
    fn key(&self) -> [u8; 32] {
        self.verifying_key().to_bytes()
    }

    fn sign(&self, message: &[u8]) -> Signature {
        let signature: ed25519_dalek::Signature =
            self.try_sign(message).unwrap_or_else(|_| NO_SIGNATURE.into());
        signature.to_bytes()
    }
}

/// Checks `Σ zᵢ(sᵢB − Rᵢ − hᵢAᵢ) = 0` for weights `zᵢ` that depend on everything checked.
///
/// Proofs come in runs by one key, and a run needs its key's point once, so the sum has little more than one point a
/// signature. `None` where something is no point or no canonical scalar.
fn verify_batch(claims: &[Claim<'_>]) -> Option<bool> {
    let mut transcript = Vec::with_capacity(claims.len() * 96);
    let mut challenges = Vec::with_capacity(claims.len());
    for claim in claims {
        let (commitment, response) = claim.signature.split_at(32);
        let challenge = Sha512::new()
            .chain_update(commitment)
            .chain_update(claim.key)
            .chain_update(claim.message)
            .finalize();
        transcript.extend_from_slice(&challenge);
        transcript.extend_from_slice(response);
        challenges.push(Scalar::from_bytes_mod_order_wide(&challenge.into()));
    }
    let weight_key = sha256(&[&transcript]);

    let mut base = Scalar::ZERO;
    let mut scalars = Vec::with_capacity(claims.len() + 2);
    let mut points: Vec<EdwardsPoint> = Vec::with_capacity(claims.len() + 2);
    let mut run: Option<(&[u8; 32], Scalar)> = None;
    for ((place, claim), challenge) in (0_u64..).zip(claims).zip(&challenges) {
        let (commitment, response) = claim.signature.split_first_chunk::<32>()?;
        let response = Option::<Scalar>::from(Scalar::from_canonical_bytes(response.try_into().ok()?))?;
        let weight = weight(&weight_key, place);
        base += weight * response;
        scalars.push(-weight);
        points.push(CompressedEdwardsY(*commitment).decompress()?);
        let key_weight = weight * challenge;
        run = match run {
            Some((key, sum)) if key == claim.key => Some((key, sum + key_weight)),
            finished => {
                if let Some((key, sum)) = finished {
                    scalars.push(-sum);
                    points.push(CompressedEdwardsY(*key).decompress()?);
                }
                Some((claim.key, key_weight))
            }
        };
    }
    if let Some((key, sum)) = run {
        scalars.push(-sum);
        points.push(CompressedEdwardsY(*key).decompress()?);
    }
    scalars.push(base);
    points.push(curve25519_dalek::constants::ED25519_BASEPOINT_POINT);
    Some(EdwardsPoint::vartime_multiscalar_mul(&scalars, &points).is_identity())
}

/// Returns the weight of the claim at `place`: 128 bits are enough to make a forgery's chance negligible.
fn weight(key: &[u8; 32], place: u64) -> Scalar {
    let hash = sha256(&[key, &place.to_be_bytes()]);
    hash.first_chunk::<16>().map_or(Scalar::ONE, |half| Scalar::from(u128::from_le_bytes(*half)))
}

/// Stands for a signature that an in-memory key cannot fail to make.
const NO_SIGNATURE: [u8; 64] = [0; 64];

#[cfg(test)]
mod tests {
    use super::*;

    fn signed(count: usize, keys: usize) -> Vec<([u8; 32], Vec<u8>, Signature)> {
        (0..count)
            .map(|n| {
                let seed = [u8::try_from(n * keys / count).unwrap(); 32];
                let signer = Dalek.signer(&seed);
                let message = alloc::vec![u8::try_from(n).unwrap(); n];
                let signature = signer.sign(&message);
                (signer.key(), message, signature)
            })
            .collect()
    }

    fn claims(signed: &[([u8; 32], Vec<u8>, Signature)]) -> Vec<Claim<'_>> {
        signed.iter().map(|(key, message, signature)| Claim { key, message, signature }).collect()
    }

    #[test]
    fn a_batch_holds_when_every_signature_does() {
        for (count, keys) in [(0, 1), (1, 1), (2, 1), (16, 1), (16, 4), (64, 64)] {
            assert!(Dalek.verify_all(&claims(&signed(count, keys))), "{count} by {keys}");
        }
    }

    #[test]
    fn one_bad_signature_spoils_a_batch() {
        for place in 0..16 {
            for byte in [0, 31, 32, 63] {
                let mut signed = signed(16, 2);
                signed[place].2[byte] ^= 1;
                assert!(!Dalek.verify_all(&claims(&signed)), "{place} {byte}");
            }
        }
        let mut swapped = signed(2, 1);
        let first = swapped[0].2;
        swapped[0].2 = swapped[1].2;
        swapped[1].2 = first;
        assert!(!Dalek.verify_all(&claims(&swapped)));
    }

    #[test]
    fn a_response_above_the_group_order_is_refused_alone_and_in_a_batch() {
        let mut signed = signed(2, 1);
        // Adds the group order to S, little endian.
        let order = [
            0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14,
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
        ];
        let mut carry = 0_u16;
        for (byte, add) in signed[0].2[32..].iter_mut().zip(order) {
            let sum = u16::from(*byte) + add + carry;
            *byte = (sum & 0xff).try_into().unwrap();
            carry = sum >> 8;
        }
        let claims = claims(&signed);
        assert!(!Dalek.verify(claims[0].key, claims[0].message, claims[0].signature));
        assert!(!Dalek.verify_all(&claims));
    }

    #[test]
    fn rfc_7748_agreement_is_reproduced() {
        let hex = |text: &str| text.parse::<crate::PacketHash>().unwrap();
        let alice = hex("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a");
        let bob = hex("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb");
        let bob_public = Dalek.agreement_key(bob.as_bytes());
        let shared = Dalek.agree(alice.as_bytes(), &bob_public).unwrap();
        assert_eq!(
            hex("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742"),
            crate::PacketHash::new(shared)
        );
        assert_eq!(Dalek.agree(alice.as_bytes(), &[0; 32]), None);
    }
}
