//! Agreeing on a link's key, from both ends (spec 1.10).

use super::{BASE_MTU, DropReason, Refusal, keys::SigningKey};
use crate::{
    Env, LinkHash,
    crypto::{Signer, TokenKey, draw, hkdf_array},
    identity::{Identity, PublicIdentity},
    wire::{LinkMode, LinkProof, LinkRequest, Signalling},
};
use alloc::boxed::Box;
use core::time::Duration;
use proto_core::Instant;
use zeroize::Zeroizing;

/// What the initiator keeps until the proof arrives.
#[derive(Debug)]
pub(super) struct Proposal {
    secret: Secret,
    signer: Box<dyn Signer>,
    identity: PublicIdentity,
    mtu: usize,
    hops: u8,
    requested_at: Instant,
    deadline: Instant,
}

/// What both ends have once they agree.
#[derive(Debug)]
pub(super) struct Agreement {
    /// What encrypts the link.
    pub(super) key: TokenKey,
    /// The longest packet.
    pub(super) mtu: usize,
}

impl Proposal {
    /// Makes the keys of a link to `identity`, `hops` away. Draws the X25519, then the Ed25519 key.
    pub(super) fn new(
        env: &mut Env<'_>,
        identity: PublicIdentity,
        hops: u8,
        mtu: Option<usize>,
        first_hop_timeout: Duration,
    ) -> Self {
        let secret = Secret::draw(env);
        let seed = Zeroizing::new(draw(env.entropy));
        Self {
            secret,
            signer: env.crypto.signer(&seed),
            identity,
            mtu: mtu.unwrap_or(BASE_MTU).clamp(BASE_MTU, Signalling::MAX_MTU),
            hops,
            requested_at: env.now,
            deadline: env.now + first_hop_timeout + per_hop(hops),
        }
    }

    /// Returns the request for the link.
    pub(super) fn request(&self, env: &Env<'_>) -> LinkRequest {
        LinkRequest {
            agreement_key: env.crypto.agreement_key(&self.secret.0),
            verifying_key: self.signer.key(),
            signalling: Some(Signalling { mode: LinkMode::Aes256Cbc, mtu: self.mtu }),
        }
    }

    /// Checks the answer and derives the key.
    pub(super) fn conclude(
        &self,
        env: &Env<'_>,
        link: LinkHash,
        proof: &LinkProof,
    ) -> Result<Agreement, DropReason> {
        let mtu = match proof.signalling {
            None => BASE_MTU,
            Some(Signalling { mode: LinkMode::Aes256Cbc, mtu }) if (BASE_MTU..=self.mtu).contains(&mtu) => {
                mtu
            }
            Some(_) => return Err(DropReason::Terms),
        };
        let signed =
            LinkProof::signed(link, &proof.agreement_key, self.identity.verifying_key(), proof.signalling);
        if !self.identity.verify(env.crypto, &signed, &proof.signature) {
            return Err(DropReason::Signature);
        }
        let key = self.secret.link_key(env, &proof.agreement_key, link).ok_or(DropReason::Malformed)?;
        Ok(Agreement { key, mtu })
    }

    /// Returns the destination's identity.
    pub(super) const fn identity(&self) -> &PublicIdentity {
        &self.identity
    }

    /// Returns how many hops the proof should have come over.
    pub(super) const fn hops(&self) -> u8 {
        self.hops
    }

    /// Returns when the request was sent.
    pub(super) const fn requested_at(&self) -> Instant {
        self.requested_at
    }

    /// Returns when the initiator gives up.
    pub(super) const fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Returns the key that signs for the initiator.
    pub(super) fn into_signing_key(self) -> SigningKey {
        SigningKey::Ephemeral(self.signer)
    }
}

/// Answers a request on behalf of `owner`, whose interface carries packets of `interface_mtu` bytes. Draws the X25519
/// key.
pub(super) fn answer(
    env: &mut Env<'_>,
    link: LinkHash,
    request: &LinkRequest,
    owner: &Identity,
    interface_mtu: Option<usize>,
) -> Result<(Agreement, LinkProof), Refusal> {
    let (mtu, signalling) = match request.signalling {
        None => (BASE_MTU, None),
        Some(Signalling { mode: LinkMode::Aes256Cbc, mtu }) => {
            let mtu = mtu.min(interface_mtu.unwrap_or(BASE_MTU)).max(BASE_MTU);
            (mtu, Some(Signalling { mode: LinkMode::Aes256Cbc, mtu }))
        }
        Some(_) => return Err(Refusal::Mode),
    };
    let secret = Secret::draw(env);
    let key = secret.link_key(env, &request.agreement_key, link).ok_or(Refusal::Key)?;
    let agreement_key = env.crypto.agreement_key(&secret.0);
    let signed = LinkProof::signed(link, &agreement_key, owner.public().verifying_key(), signalling);
    Ok((Agreement { key, mtu }, LinkProof { signature: owner.sign(&signed), agreement_key, signalling }))
}

/// Returns when a responder that answered a request over so many hops gives up.
pub(super) fn responder_deadline(now: Instant, hops: u8) -> Instant {
    now + per_hop(hops) + RESPONDER_PATIENCE
}

/// An X25519 key made for one link.
struct Secret(Zeroizing<[u8; 32]>);

impl Secret {
    fn draw(env: &mut Env<'_>) -> Self {
        Self(Zeroizing::new(draw(env.entropy)))
    }

    /// Derives the link's key; `None` where the peer's public key is one that no honest peer has.
    fn link_key(&self, env: &Env<'_>, peer: &[u8; 32], link: LinkHash) -> Option<TokenKey> {
        let shared = Zeroizing::new(env.crypto.agree(&self.0, peer)?);
        let key = Zeroizing::new(hkdf_array::<64>(&*shared, link.as_bytes()));
        Some(TokenKey::new(&key))
    }
}

impl core::fmt::Debug for Secret {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Secret").finish_non_exhaustive()
    }
}

/// Returns the time that a handshake gets for its way.
fn per_hop(hops: u8) -> Duration {
    PER_HOP_TIMEOUT * u32::from(hops.max(1))
}

/// The reference's DEFAULT_PER_HOP_TIMEOUT.
const PER_HOP_TIMEOUT: Duration = Duration::from_secs(6);
/// How much longer than the proof's way a responder waits to hear that it arrived.
const RESPONDER_PATIENCE: Duration = Duration::from_secs(360);
