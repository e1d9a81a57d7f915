//! Saying who the initiator is (spec 1.10).

use super::{DropReason, outbox::Outbox, step::Step};
use crate::{
    Env, LinkHash,
    identity::{Identity, PublicIdentity},
    wire::{Context, LinkIdentify},
};
use alloc::vec::Vec;

/// Tells the responder that the initiator is `identity`.
pub(super) fn send(outbox: &mut Outbox, step: &mut Step<'_, '_>, link: LinkHash, identity: &Identity) {
    let keys = identity.public().to_bytes();
    let signature = identity.sign(&LinkIdentify::signed(link, &keys));
    let mut plaintext = Vec::with_capacity(LinkIdentify::LEN);
    LinkIdentify { keys, signature }.emit(&mut plaintext);
    outbox.send(step, Context::LinkIdentify, &[&plaintext]);
}

/// Returns who the initiator says and proves to be.
pub(super) fn verify(env: &Env<'_>, link: LinkHash, plaintext: &[u8]) -> Result<PublicIdentity, DropReason> {
    let identify = LinkIdentify::parse(plaintext).map_err(|_| DropReason::Malformed)?;
    let identity = PublicIdentity::from_bytes(&identify.keys);
    let signed = LinkIdentify::signed(link, &identify.keys);
    identity.verify(env.crypto, &signed, &identify.signature).then_some(identity).ok_or(DropReason::Signature)
}
