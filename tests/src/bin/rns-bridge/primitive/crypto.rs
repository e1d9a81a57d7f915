//! Hashes, ciphers, signatures and agreements.

use crate::{
    call::{Answer, Failure, Params},
    tools::Workbench,
};
use proto_rns::{
    crypto::{CryptoProvider, Dalek, TOKEN_OVERHEAD, TokenKey, hkdf, hmac_sha256, sha256},
    truncated_hash,
};
use serde_json::json;
use sha2::Digest;

pub(super) fn answer(bench: &mut Workbench, command: &str, params: Params<'_>) -> Option<Answer> {
    let crypto = &*bench.crypto;
    Some(match command {
        "x25519_generate" => x25519_generate(crypto, params),
        "x25519_public_from_private" => x25519_public(crypto, params),
        "x25519_exchange" => agree(crypto, params).map(|shared| json!({"shared_secret": shared})),
        "ed25519_generate" => ed25519_generate(crypto, params),
        "ed25519_sign" => sign(crypto, params).map(|signature| json!({"signature": signature})),
        "ed25519_verify" => verify(crypto, params).map(|valid| json!({"valid": valid})),
        "sha256" => sha256_of(params),
        "sha512" => sha512_of(params),
        "truncated_hash" => truncated(params),
        "hmac_sha256" => hmac(params),
        "hkdf" => derive(params),
        "pkcs7_pad" => pad(crypto, params),
        "pkcs7_unpad" => unpad(params),
        "aes_encrypt" => encrypt_padded(crypto, params),
        "aes_decrypt" => decrypt_padded(params),
        "aes_256_cbc_encrypt" => encrypt_blocks(params).map(|blocks| json!({"ciphertext": blocks})),
        "aes_256_cbc_decrypt" => decrypt_blocks(params),
        "crypto_provider_op" => with_provider(params),
        _ => return None,
    })
}

fn x25519_generate(crypto: &dyn CryptoProvider, params: Params<'_>) -> Answer {
    let secret = params.array("seed")?;
    Ok(json!({"private_key": hex::encode(secret), "public_key": hex::encode(crypto.agreement_key(&secret))}))
}

fn x25519_public(crypto: &dyn CryptoProvider, params: Params<'_>) -> Answer {
    Ok(json!({"public_key": hex::encode(crypto.agreement_key(&params.array("private_key")?))}))
}

fn agree(crypto: &dyn CryptoProvider, params: Params<'_>) -> Result<String, Failure> {
    let shared = crypto.agree(&params.array("private_key")?, &params.array("peer_public_key")?);
    shared.map(hex::encode).ok_or_else(|| Failure::new("ValueError: the peer's key is of low order"))
}

fn ed25519_generate(crypto: &dyn CryptoProvider, params: Params<'_>) -> Answer {
    let seed = params.array("seed")?;
    Ok(json!({"private_key": hex::encode(seed), "public_key": hex::encode(crypto.signer(&seed).key())}))
}

fn sign(crypto: &dyn CryptoProvider, params: Params<'_>) -> Result<String, Failure> {
    let signer = crypto.signer(&params.array("private_key")?);
    Ok(hex::encode(signer.sign(&params.bytes("message")?)))
}

/// Keys and signatures of a wrong length are as good as wrong ones.
fn verify(crypto: &dyn CryptoProvider, params: Params<'_>) -> Result<bool, Failure> {
    let (key, signature) = (params.bytes("public_key")?, params.bytes("signature")?);
    let message = params.bytes("message")?;
    let whole = <&[u8; 32]>::try_from(&*key).ok().zip(<&[u8; 64]>::try_from(&*signature).ok());
    Ok(whole.is_some_and(|(key, signature)| crypto.verify(key, &message, signature)))
}

fn sha256_of(params: Params<'_>) -> Answer {
    Ok(json!({"hash": hex::encode(sha256(&[&params.bytes("data")?]))}))
}

/// SHA-512 has no use in Reticulum but within signatures.
fn sha512_of(params: Params<'_>) -> Answer {
    Ok(json!({"hash": hex::encode(sha2::Sha512::digest(params.bytes("data")?))}))
}

fn truncated(params: Params<'_>) -> Answer {
    let data = params.bytes("data")?;
    Ok(json!({"hash": hex::encode(truncated_hash(&[&data])), "full_hash": hex::encode(sha256(&[&data]))}))
}

fn hmac(params: Params<'_>) -> Answer {
    Ok(json!({"hmac": hex::encode(hmac_sha256(&params.bytes("key")?, &[&params.bytes("message")?]))}))
}

fn derive(params: Params<'_>) -> Answer {
    let secret = params.bytes("ikm")?;
    let length: usize = params.number("length")?;
    if length == 0 {
        return Err(Failure::new("ValueError: nothing to derive"));
    }
    if params.some_bytes("info")?.is_some() {
        return Err(Failure::new("NotImplementedError: Reticulum derives without info"));
    }
    let mut out = vec![0; length];
    hkdf(&secret, &params.some_bytes("salt")?.unwrap_or_default(), &mut out);
    Ok(json!({"derived_key": hex::encode(out)}))
}

/// The padding inside a token, seen by decrypting its blocks alone.
fn pad(crypto: &dyn CryptoProvider, params: Params<'_>) -> Answer {
    let mut blocks = seal(crypto, &any_key(), [0; 16], &params.bytes("data")?)?;
    any_key().decrypt_blocks([0; 16], &mut blocks);
    Ok(json!({"padded": hex::encode(blocks)}))
}

/// A token's padding is taken off whatever it says, within a block.
fn unpad(params: Params<'_>) -> Answer {
    let mut blocks = params.bytes("data")?;
    whole_blocks(&blocks)?;
    any_key().encrypt_blocks([0; 16], &mut blocks);
    Ok(json!({"unpadded": open(&any_key(), [0; 16], &blocks)?}))
}

fn encrypt_padded(crypto: &dyn CryptoProvider, params: Params<'_>) -> Answer {
    let blocks = seal(crypto, &cipher(params)?, params.array("iv")?, &params.bytes("plaintext")?)?;
    Ok(json!({"ciphertext": hex::encode(blocks)}))
}

fn decrypt_padded(params: Params<'_>) -> Answer {
    let plaintext = open(&cipher(params)?, params.array("iv")?, &params.bytes("ciphertext")?)?;
    Ok(json!({"plaintext": plaintext}))
}

fn encrypt_blocks(params: Params<'_>) -> Result<String, Failure> {
    let mut blocks = params.bytes("plaintext")?;
    whole_blocks(&blocks)?;
    aes256(params)?.encrypt_blocks(params.array("iv")?, &mut blocks);
    Ok(hex::encode(blocks))
}

fn decrypt_blocks(params: Params<'_>) -> Answer {
    let mut blocks = params.bytes("ciphertext")?;
    whole_blocks(&blocks)?;
    aes256(params)?.decrypt_blocks(params.array("iv")?, &mut blocks);
    Ok(json!({"plaintext": hex::encode(blocks)}))
}

/// The suite names the reference's two providers; here they stand for the portable one and the host's.
fn with_provider(params: Params<'_>) -> Answer {
    let host = host_crypto::provider();
    let crypto: &dyn CryptoProvider = match params.text("provider")? {
        "internal" => &Dalek,
        "pyca" => &*host,
        other => return Err(Failure::new(format!("ValueError: Unknown provider: {other}"))),
    };
    match params.text("op")? {
        "x25519_exchange" => agree(crypto, params).map(|shared| json!({"result": shared})),
        "ed25519_sign" => sign(crypto, params).map(|signature| json!({"result": signature})),
        "ed25519_verify" => verify(crypto, params).map(|valid| json!({"valid": valid})),
        "aes_256_cbc_encrypt" => encrypt_blocks(params).map(|blocks| json!({"result": blocks})),
        other => Err(Failure::new(format!("ValueError: Unknown op: {other}"))),
    }
}

/// Returns the ciphertext of a token alone.
fn seal(
    crypto: &dyn CryptoProvider,
    key: &TokenKey,
    vector: [u8; 16],
    plaintext: &[u8],
) -> Result<Vec<u8>, Failure> {
    let mut token = Vec::new();
    crypto.seal(key, vector, &[plaintext], &mut token);
    let blocks = token.get(16..token.len() + 16 - TOKEN_OVERHEAD);
    blocks.map(<[u8]>::to_vec).ok_or_else(|| Failure::new("ValueError: the token is too short"))
}

/// Opens the token that has this ciphertext.
fn open(key: &TokenKey, vector: [u8; 16], blocks: &[u8]) -> Result<String, Failure> {
    let mut token = [&vector, blocks].concat();
    token.extend_from_slice(&key.tag_key().tag(&[&vector, blocks]));
    Ok(hex::encode(key.open(&mut token)?))
}

fn cipher(params: Params<'_>) -> Result<TokenKey, Failure> {
    match params.some_text("mode") {
        Some("AES_128_CBC") => {
            let mut key = [0; 32];
            key.iter_mut().skip(16).zip(params.array::<16>("key")?).for_each(|(to, from)| *to = from);
            Ok(TokenKey::new_legacy(&key))
        }
        _ => aes256(params),
    }
}

fn aes256(params: Params<'_>) -> Result<TokenKey, Failure> {
    let mut key = [0; 64];
    key.iter_mut().skip(32).zip(params.array::<32>("key")?).for_each(|(to, from)| *to = from);
    Ok(TokenKey::new(&key))
}

fn any_key() -> TokenKey {
    TokenKey::new(&[7; 64])
}

fn whole_blocks(blocks: &[u8]) -> Result<(), Failure> {
    if blocks.is_empty() || !blocks.len().is_multiple_of(16) {
        return Err(Failure::new("ValueError: not whole blocks of 16 bytes"));
    }
    Ok(())
}
