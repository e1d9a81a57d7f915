//! Ratchets.

use super::{arrays, identity, public_identity};
use crate::{
    call::{Answer, Failure, Params},
    tools::Workbench,
};
use proto_rns::identity::ratchet_id;
use serde_json::json;

pub(super) fn answer(bench: &mut Workbench, command: &str, params: Params<'_>) -> Option<Answer> {
    Some(match command {
        "ratchet_id" => id(params),
        "ratchet_public_from_private" => public(bench, params),
        "ratchet_encrypt" => encrypt(bench, params),
        "ratchet_decrypt" => decrypt(bench, params),
        _ => return None,
    })
}

fn id(params: Params<'_>) -> Answer {
    Ok(json!({"ratchet_id": ratchet_id(&params.array("ratchet_public")?).to_string()}))
}

fn public(bench: &Workbench, params: Params<'_>) -> Answer {
    let public = bench.crypto.agreement_key(&params.array("ratchet_private")?);
    Ok(json!({"ratchet_public": hex::encode(public)}))
}

fn encrypt(bench: &mut Workbench, params: Params<'_>) -> Answer {
    let (to, ratchet) = (public_identity(params)?, params.array("ratchet_public")?);
    let plaintext = params.bytes("plaintext")?;
    let sealed = to.encrypt(&*bench.crypto, &mut bench.entropy, Some(&ratchet), &plaintext);
    let sealed = sealed.ok_or_else(|| Failure::new("ValueError: the ratchet is of low order"))?;
    Ok(json!({"ciphertext": hex::encode(sealed)}))
}

fn decrypt(bench: &Workbench, params: Params<'_>) -> Answer {
    let mut ratchets = arrays(params, "ratchet_privates")?;
    if params.get("ratchet_privates").is_none() {
        ratchets.extend(params.some_array("ratchet_private")?);
    }
    let mut message = params.bytes("ciphertext")?;
    let opened = identity(bench, params, "private_key")?
        .decrypt(&*bench.crypto, &ratchets, params.flag("enforce_ratchets", false), &mut message)
        .ok();
    let ratchet = opened.as_ref().and_then(|opened| opened.ratchet).map(|id| id.to_string());
    let plaintext = opened.map(|opened| hex::encode(opened.plaintext));
    Ok(json!({"plaintext": plaintext, "latest_ratchet_id": ratchet}))
}
