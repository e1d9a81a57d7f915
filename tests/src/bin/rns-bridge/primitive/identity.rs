//! Identities.

use super::{identity, public_identity};
use crate::{
    call::{Answer, Failure, Params},
    tools::{Workbench, wall},
};
use proto_rns::{
    DestinationHash, PacketHash,
    crypto::draw,
    identity::{Identity, KnownDestinations, PublicIdentity},
};
use rns_host::store::{create_identity_file, read_identity_file};
use serde_json::{Value, json};
use std::{env, path::Path};

pub(super) fn answer(bench: &mut Workbench, command: &str, params: Params<'_>) -> Option<Answer> {
    Some(match command {
        "identity_from_private_key" => identity(bench, params, "private_key").map(|of| keys(&of)),
        "identity_encrypt" => encrypt(bench, params),
        "identity_decrypt" => decrypt(bench, params),
        "identity_sign" => sign(bench, params),
        "identity_verify" => verify(bench, params),
        "identity_hash" => public_identity(params).map(|of| json!({"hash": of.hash().to_string()})),
        "identity_to_file" => to_file(bench, params),
        "identity_from_file" => from_file(bench, params),
        "identity_random_hash" => Ok(json!({"random_hash": hex::encode(draw::<16>(&mut bench.entropy))})),
        "identity_remember" => remember(params),
        _ => return None,
    })
}

fn keys(identity: &Identity) -> Value {
    let hash = identity.hash().to_string();
    json!({"public_key": hex::encode(identity.public().to_bytes()), "hash": hash, "hexhash": hash})
}

fn encrypt(bench: &mut Workbench, params: Params<'_>) -> Answer {
    let (to, plaintext) = (public_identity(params)?, params.bytes("plaintext")?);
    let sealed = to.encrypt(&*bench.crypto, &mut bench.entropy, None, &plaintext);
    let sealed = sealed.ok_or_else(|| Failure::new("ValueError: the public key is of low order"))?;
    Ok(json!({"ciphertext": hex::encode(sealed)}))
}

fn decrypt(bench: &Workbench, params: Params<'_>) -> Answer {
    let mut message = params.bytes("ciphertext")?;
    let opened = identity(bench, params, "private_key")?.decrypt(&*bench.crypto, [], false, &mut message);
    Ok(json!({"plaintext": opened.ok().map(|opened| hex::encode(opened.plaintext))}))
}

fn sign(bench: &Workbench, params: Params<'_>) -> Answer {
    let signature = identity(bench, params, "private_key")?.sign(&params.bytes("message")?);
    Ok(json!({"signature": hex::encode(signature)}))
}

fn verify(bench: &Workbench, params: Params<'_>) -> Answer {
    let (by, message) = (public_identity(params)?, params.bytes("message")?);
    let signature = params.bytes("signature")?;
    let valid =
        signature.as_slice().try_into().is_ok_and(|signature| by.verify(&*bench.crypto, &message, signature));
    Ok(json!({"valid": valid}))
}

fn to_file(bench: &mut Workbench, params: Params<'_>) -> Answer {
    let identity = identity(bench, params, "private_key")?;
    let name = format!("conformance_identity_{}.bin", hex::encode(draw::<8>(&mut bench.entropy)));
    let path = env::temp_dir().join(name);
    create_identity_file(&path, &identity)?;
    Ok(json!({"path": path}))
}

fn from_file(bench: &Workbench, params: Params<'_>) -> Answer {
    let Ok(loaded) = read_identity_file(Path::new(params.text("path")?), &*bench.crypto) else {
        return Ok(json!({"found": false}));
    };
    let mut found = keys(&loaded.identity);
    if let Some(found) = found.as_object_mut() {
        found.insert("found".into(), true.into());
    }
    Ok(found)
}

fn remember(params: Params<'_>) -> Answer {
    let destination = DestinationHash::new(params.array("destination_hash")?);
    let key = params.bytes("public_key")?;
    let Ok(whole) = key.as_slice().try_into() else {
        return Ok(json!({"ok": false, "error": "TypeError", "public_key_len": key.len()}));
    };
    let mut known = KnownDestinations::new(16);
    let packet = PacketHash::from_slice(&params.bytes("packet_hash")?).unwrap_or(PacketHash::new([0; 32]));
    let app_data = params.some_bytes("app_data")?.unwrap_or_default();
    let identity = PublicIdentity::from_bytes(whole);
    known.remember(destination, identity, &app_data, packet, wall())?;
    let recalled = known.identity(destination).is_some();
    Ok(json!({"ok": true, "public_key_len": key.len(), "recalled": recalled}))
}
