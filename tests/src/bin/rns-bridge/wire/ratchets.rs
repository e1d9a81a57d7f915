//! Ratchets: a destination's own, and those of others.

use super::instance::{Instance, destination};
use crate::call::{Answer, Failure, Params};
use proto_rns::{
    DestinationHash,
    crypto::{CryptoProvider, Dalek, SecureEntropy},
    dest::LocalDestination,
    identity::ratchet_id,
};
use serde_json::json;
use std::time::Duration;

pub(super) fn answer(instance: &mut Instance, command: &str, params: Params<'_>) -> Option<Answer> {
    Some(match command {
        "read_ratchets" => read(instance, params),
        "get_adopted_ratchet" => adopted(instance, params),
        "encrypt_to_remote" => encrypt(instance, params),
        "destination_decrypt" => decrypt(instance, params),
        _ => return None,
    })
}

/// Returns the id of the ratchet that was the newest so many rotations ago.
pub(super) fn ratchet_id_at(own: &LocalDestination, age: usize) -> Option<String> {
    let key = own.ratchets.as_ref()?.keys().nth(age)?;
    Some(ratchet_id(&Dalek.agreement_key(key)).to_string())
}

/// Has the next announce make a new ratchet.
pub(super) fn make_due(instance: &Instance, hash: DestinationHash) -> Result<(), Failure> {
    instance.with_destination(hash, |own| {
        if let Some(ratchets) = &mut own.ratchets {
            ratchets.set_interval(Duration::ZERO);
        }
    })
}

fn read(instance: &Instance, params: Params<'_>) -> Answer {
    instance.with_destination(destination(params)?, |own| {
        json!({
            "ratchet_count": own.ratchets.as_ref().map_or(0, |ratchets| ratchets.keys().len()),
            "current_ratchet_id": ratchet_id_at(own, 0),
            "previous_ratchet_id": ratchet_id_at(own, 1),
        })
    })
}

fn adopted(instance: &Instance, params: Params<'_>) -> Answer {
    let wanted = destination(params)?;
    let ratchet = instance.read(|node, _| node.known().ratchet(wanted, crate::tools::wall()).copied());
    Ok(json!({
        "found": ratchet.is_some(),
        "ratchet_public": ratchet.map(hex::encode),
        "ratchet_id": ratchet.map(|key| ratchet_id(&key).to_string()),
    }))
}

fn encrypt(instance: &Instance, params: Params<'_>) -> Answer {
    let wanted = destination(params)?;
    let plaintext = params.some_bytes("plaintext")?.unwrap_or_default();
    let (identity, ratchet) = instance.read(|node, _| {
        let known = node.known();
        (known.identity(wanted).copied(), known.ratchet(wanted, crate::tools::wall()).copied())
    });
    let identity = identity.ok_or_else(|| Failure::new(format!("RuntimeError: No identity known for {wanted}")))?;
    let ratchet = ratchet.filter(|_| params.flag("use_ratchet", true));
    let mut entropy = SecureEntropy::new(crate::tools::seed());
    let sealed = identity.encrypt(&Dalek, &mut entropy, ratchet.as_ref(), &plaintext);
    Ok(json!({
        "ciphertext": sealed.map(hex::encode),
        "used_ratchet": ratchet.is_some(),
        "ratchet_id": ratchet.map(|key| ratchet_id(&key).to_string()),
        "ratchet_public": ratchet.map(hex::encode),
    }))
}

fn decrypt(instance: &Instance, params: Params<'_>) -> Answer {
    let mut message = params.bytes("ciphertext")?;
    let mut bench = crate::tools::Workbench::default();
    instance.with_destination(destination(params)?, |own| {
        let opened = own.decrypt(&mut bench.env(), &mut message).ok();
        let ratchet = opened.as_ref().and_then(|(_, ratchet)| *ratchet).map(|id| id.to_string());
        let plaintext = opened.map(|(plaintext, _)| hex::encode(plaintext));
        json!({"decrypted": plaintext.is_some(), "plaintext": plaintext, "latest_ratchet_id": ratchet})
    })
}
