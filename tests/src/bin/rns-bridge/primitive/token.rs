//! Tokens.

use crate::{
    call::{Answer, Failure, Params},
    tools::Workbench,
};
use proto_rns::{
    crypto::{Token, TokenKey, draw},
    dest::GroupKey,
};
use serde_json::json;

pub(super) fn answer(bench: &mut Workbench, command: &str, params: Params<'_>) -> Option<Answer> {
    Some(match command {
        "token_encrypt" => encrypt(bench, params),
        "token_decrypt" => decrypt(params),
        "token_verify_hmac" => verify(params),
        "token_generate_key" => generate(bench, params),
        _ => return None,
    })
}

fn encrypt(bench: &mut Workbench, params: Params<'_>) -> Answer {
    let (key, plaintext) = (key(params)?, params.bytes("plaintext")?);
    Ok(json!({"token": hex::encode(Token::seal(&*bench.crypto, &key, &mut bench.entropy, &plaintext))}))
}

fn decrypt(params: Params<'_>) -> Answer {
    let mut token = params.bytes("token")?;
    Ok(json!({"plaintext": hex::encode(key(params)?.open(&mut token)?)}))
}

fn verify(params: Params<'_>) -> Answer {
    let token = params.bytes("token")?;
    if token.len() <= 32 {
        return Err(Failure::new("ValueError: too short for a tag"));
    }
    Ok(json!({"valid": key(params)?.made(&token)}))
}

fn generate(bench: &mut Workbench, params: Params<'_>) -> Answer {
    let key = match params.some_text("mode").unwrap_or("AES_256_CBC") {
        "AES_256_CBC" => hex::encode(GroupKey::generate(&mut bench.env()).bytes()),
        "AES_128_CBC" => hex::encode(draw::<32>(&mut bench.entropy)),
        other => return Err(Failure::new(format!("TypeError: Invalid token mode: {other}"))),
    };
    Ok(json!({"key": key}))
}

/// Returns the key, of one kind or the other by its length.
fn key(params: Params<'_>) -> Result<TokenKey, Failure> {
    match params.bytes("key")?.len() {
        32 => Ok(TokenKey::new_legacy(&params.array("key")?)),
        _ => Ok(TokenKey::new(&params.array("key")?)),
    }
}
