//! Functions that need no node but that the suite counts to this family.

use crate::{
    call::{Answer, Failure, Params, unhex},
    tools::Workbench,
};
use proto_rns::{
    crypto::{CryptoProvider, Dalek, draw},
    identity::{Identity, PublicIdentity},
    wire::{Envelope, LinkMode, MessageType, Signalling, StreamData, StreamId},
};
use serde_json::json;

pub(super) fn answer(command: &str, params: Params<'_>) -> Option<Answer> {
    let mut bench = Workbench::default();
    Some(match command {
        "identity_keypair" => Ok(identity_keys(&mut bench)),
        "ratchet_keypair" => Ok(ratchet_keys(&mut bench)),
        "identity_encrypt" => encrypt(&mut bench, params),
        "identity_decrypt" => decrypt(params),
        "channel_envelope_pack" => envelope(params),
        "buffer_pack" => piece(params),
        "link_signalling_bytes" => signalling(params),
        _ => return None,
    })
}

fn identity_keys(bench: &mut Workbench) -> serde_json::Value {
    let identity = Identity::generate(&*bench.crypto, &mut bench.entropy);
    json!({
        "private_key": hex::encode(*identity.secret_bytes()),
        "public_key": hex::encode(identity.public().to_bytes()),
        "hash": identity.hash().to_string(),
    })
}

fn ratchet_keys(bench: &mut Workbench) -> serde_json::Value {
    let secret = draw::<32>(&mut bench.entropy);
    json!({"private_key": hex::encode(secret), "public_key": hex::encode(Dalek.agreement_key(&secret))})
}

fn encrypt(bench: &mut Workbench, params: Params<'_>) -> Answer {
    let to = PublicIdentity::from_bytes(&params.array("public_key")?);
    let ratchet = params.some_array("ratchet_pub")?;
    let plaintext = params.some_bytes("plaintext")?.unwrap_or_default();
    let sealed = to.encrypt(&*bench.crypto, &mut bench.entropy, ratchet.as_ref(), &plaintext);
    Ok(json!({"ciphertext": sealed.map(hex::encode)}))
}

fn decrypt(params: Params<'_>) -> Answer {
    let identity = Identity::from_bytes(&Dalek, &params.array("private_key")?);
    let ratchets: Vec<[u8; 32]> = crate::primitive::arrays(params, "ratchets")?;
    let mut message = params.bytes("ciphertext")?;
    let opened = identity.decrypt(&Dalek, &ratchets, params.flag("enforce_ratchets", false), &mut message);
    let plaintext = opened.ok().map(|opened| hex::encode(opened.plaintext));
    Ok(json!({"decrypted": plaintext.is_some(), "plaintext": plaintext}))
}

fn envelope(params: Params<'_>) -> Answer {
    let data = params.some_bytes("data")?.unwrap_or_default();
    let sequence = params.number("sequence")?;
    let mut out = Vec::new();
    Envelope { message_type: MessageType(params.number("msgtype")?), sequence, data: &data }.emit(&mut out);
    Ok(json!({"raw": hex::encode(out), "sequence": sequence}))
}

fn piece(params: Params<'_>) -> Answer {
    if let Some(raw) = params.some_text("unpack_raw") {
        let raw = unhex(raw)?;
        let piece = match StreamData::parse(&raw) {
            Ok(piece) => piece,
            Err(error) => return Ok(json!({"error": error.to_string()})),
        };
        return Ok(json!({
            "stream_id": piece.stream.get(), "eof": piece.end, "compressed": piece.compressed,
            "data": hex::encode(piece.data),
        }));
    }
    let Some(stream) = StreamId::new(params.number("stream_id")?) else {
        return Ok(json!({"error": "stream_id must be 0-16383"}));
    };
    let data = params.some_bytes("data")?.unwrap_or_default();
    let mut out = Vec::new();
    let (end, compressed) = (params.flag("eof", false), params.flag("compressed", false));
    StreamData { stream, end, compressed, data: &data }.emit(&mut out);
    Ok(json!({"raw": hex::encode(out), "msgtype": MessageType::STREAM_DATA.0}))
}

fn signalling(params: Params<'_>) -> Answer {
    let (mtu, mode): (usize, u8) = (params.number("mtu")?, params.number("mode")?);
    let known = (mode == 1).then_some(LinkMode::Aes256Cbc);
    let bytes = known.map(|mode| Signalling { mode, mtu }.to_bytes());
    if mtu > Signalling::MAX_MTU {
        return Err(Failure::new("ValueError: an MTU has 21 bits"));
    }
    Ok(json!({
        "mtu": mtu, "mode": mode, "signalling_bytes": bytes.map(hex::encode), "raised": bytes.is_none(),
        "mtu_bytemask": Signalling::MAX_MTU, "mode_bytemask": 0xe0, "enabled_modes": [1], "mode_default": 1,
        "link_mtu_size": Signalling::LEN,
    }))
}
