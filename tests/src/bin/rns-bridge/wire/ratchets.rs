//! Ratchets: a destination's own, and those of others.

use super::instance::{Instance, destination};
use crate::call::{Answer, Failure, Params};
use proto_rns::{
    DestinationHash,
    crypto::{CryptoProvider, Dalek, SecureEntropy},
    dest::{LocalDestination, Ratchets},
    identity::ratchet_id,
};
use serde_json::json;
use std::time::Duration;

pub(super) fn answer(instance: &mut Instance, command: &str, params: Params<'_>) -> Option<Answer> {
    Some(match command {
        "read_ratchets" => read(instance, params),
        "rotate_ratchet" => rotate(instance, params),
        "set_ratchet_interval" => set_interval(instance, params),
        "set_retained_ratchets" => set_retained(instance, params),
        "ratchet_file_roundtrip" => through_file(instance, params),
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
            "ratchet_count": count(own),
            "current_ratchet_id": ratchet_id_at(own, 0),
            "previous_ratchet_id": ratchet_id_at(own, 1),
        })
    })
}

/// Rotates if the last rotation is long enough ago.
fn rotate(instance: &Instance, params: Params<'_>) -> Answer {
    let mut bench = crate::tools::Workbench::default();
    let ago = params.seconds("last_rotation_ago_s");
    instance.with_destination(destination(params)?, |own| {
        let before = (ratchet_id_at(own, 0), count(own));
        let mut env = bench.env();
        // The clock of a step is all that tells how long ago the last one was.
        env.now += Duration::from_secs(100 * 24 * 60 * 60);
        let Some(ratchets) = &mut own.ratchets else {
            return Err(Failure::new("ValueError: the destination has no ratchets"));
        };
        let rotated = match ago {
            Some(ago) if ago <= 0.0 => false,
            _ => ratchets.rotate_if_due(&mut env),
        };
        Ok(json!({
            "rotated": rotated,
            "before_count": before.1,
            "after_count": count(own),
            "before_current_id": before.0,
            "current_ratchet_id": ratchet_id_at(own, 0),
            "previous_ratchet_id": ratchet_id_at(own, 1),
        }))
    })?
}

fn set_interval(instance: &Instance, params: Params<'_>) -> Answer {
    let seconds: u64 = params.number("seconds")?;
    instance.with_destination(destination(params)?, |own| {
        let ratchets = own.ratchets.as_mut();
        let ok = ratchets.map(|ratchets| ratchets.set_interval(Duration::from_secs(seconds))).is_some();
        json!({"ok": ok, "ratchet_interval": seconds})
    })
}

fn set_retained(instance: &Instance, params: Params<'_>) -> Answer {
    let retained: usize = params.number("n")?;
    let wanted = params.some_number("pad_to")?.unwrap_or(0);
    let mut bench = crate::tools::Workbench::default();
    instance.with_destination(destination(params)?, |own| {
        while own.ratchets.is_some() && count(own) < wanted {
            own.ratchets.iter_mut().for_each(|ratchets| ratchets.rotate(&mut bench.env()));
        }
        let ok = own.ratchets.as_mut().map(|ratchets| ratchets.set_retained(retained)).is_some();
        json!({
            "ok": ok, "retained_ratchets": retained, "ratchet_count": count(own),
            "ratchet_count_cap": Ratchets::DEFAULT_RETAINED,
        })
    })
}

/// Writes the ratchets as to a file and reads them again.
fn through_file(instance: &Instance, params: Params<'_>) -> Answer {
    instance.with_destination(destination(params)?, |own| {
        let (before, identity) = (own.ratchets.clone(), own.identity().cloned());
        let (Some(before), Some(identity)) = (before, identity) else {
            return Err(Failure::new("ValueError: the destination has no ratchets"));
        };
        let mut after = Ratchets::new();
        let loaded = after.load(&Dalek, &identity, &before.to_file(&identity));
        let ids = |of: &Ratchets| -> Vec<String> {
            of.keys().map(|key| ratchet_id(&Dalek.agreement_key(key)).to_string()).collect()
        };
        Ok(json!({
            "ratchets_path_set": true,
            "reload_ok": loaded.is_ok(),
            "ratchet_count_before": before.keys().len(),
            "ratchet_count_after": after.keys().len(),
            "roundtrip_match": ids(&before) == ids(&after),
            "ratchet_ids": ids(&after),
        }))
    })?
}

fn count(own: &LocalDestination) -> usize {
    own.ratchets.as_ref().map_or(0, |ratchets| ratchets.keys().len())
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
    let identity =
        identity.ok_or_else(|| Failure::new(format!("RuntimeError: No identity known for {wanted}")))?;
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
