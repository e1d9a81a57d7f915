//! Destinations without a single identity.

use super::instance::Instance;
use crate::{
    call::{Answer, Failure, Params, exactly},
    tools::Workbench,
};
use proto_rns::{
    DestinationHash,
    dest::{DestinationKeys, DestinationName, GroupKey, LocalDestination},
};
use serde_json::json;

pub(super) fn answer(instance: &mut Instance, command: &str, params: Params<'_>) -> Option<Answer> {
    Some(match command {
        "group_create" => create(instance, params),
        "group_encrypt" => encrypt(instance, params),
        "group_decrypt" => decrypt(instance, params),
        "plain_encrypt" => plain(params, "plaintext", "ciphertext"),
        "plain_decrypt" => plain(params, "ciphertext", "plaintext"),
        _ => return None,
    })
}

fn create(instance: &Instance, params: Params<'_>) -> Answer {
    let name = DestinationName::new(params.text("app_name")?, &params.texts("aspects"))?;
    let key = match params.some_bytes("key")? {
        Some(key) => GroupKey::from_bytes(&exactly("key", &key)?),
        None => GroupKey::generate(&mut Workbench::default().env()),
    };
    let bytes = hex::encode(key.bytes());
    let own = LocalDestination::group(name, None, key);
    let hash = instance.with(|node, _, now| node.register(now, own))?;
    Ok(json!({"destination_hash": hash.to_string(), "key": bytes}))
}

fn encrypt(instance: &Instance, params: Params<'_>) -> Answer {
    let plaintext = params.some_bytes("plaintext")?.unwrap_or_default();
    let group = DestinationHash::new(params.array("destination_hash")?);
    let mut bench = Workbench::default();
    instance.with_destination(group, |own| match own.keys() {
        DestinationKeys::Group(key) => {
            Ok(json!({"ciphertext": hex::encode(key.encrypt(&mut bench.env(), &plaintext))}))
        }
        DestinationKeys::Single(_) | DestinationKeys::Plain => {
            Err(Failure::new(format!("ValueError: {group} is not a group")))
        }
    })?
}

fn decrypt(instance: &Instance, params: Params<'_>) -> Answer {
    let mut message = params.some_bytes("ciphertext")?.unwrap_or_default();
    let group = DestinationHash::new(params.array("destination_hash")?);
    let mut bench = Workbench::default();
    instance.with_destination(group, |own| {
        let opened = own.decrypt(&mut bench.env(), &mut message).ok();
        let plaintext = opened.map(|(plaintext, _)| hex::encode(plaintext));
        json!({"decrypted": plaintext.is_some(), "plaintext": plaintext})
    })
}

/// What is sent to everybody is not encrypted.
fn plain(params: Params<'_>, from: &str, to: &str) -> Answer {
    let name = DestinationName::new(params.text("app_name")?, &params.texts("aspects"))?;
    let mut own = LocalDestination::plain(name);
    let before = params.some_bytes(from)?.unwrap_or_default();
    let mut message = before.clone();
    let mut bench = Workbench::default();
    let (after, _) = own.decrypt(&mut bench.env(), &mut message)?;
    Ok(json!({to: hex::encode(&*after), "passthrough": *after == *before}))
}
