//! Signatures in the format of the reference's `.rsg` files.
//!
//! ```text
//! signature 64 | envelope: MessagePack map hashtype, hash, meta: map signer, pubkey
//! signature 64                                                    raw: of the data themselves
//! ```

use proto_rns::{
    IdentityHash,
    crypto::{CryptoProvider, sha256},
    identity::{Identity, PublicIdentity},
    wire::msgpack::{Value, Writer},
};

/// Why a signature does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Invalid {
    /// It is no signature.
    Malformed,
    /// It says by another hash what is signed than is known here.
    UnknownHash,
    /// It is of something else.
    OtherData,
    /// It is by somebody else than was asked for.
    OtherSigner(IdentityHash),
    /// It does not say whose it is.
    NoSigner,
    /// It is forged, or damaged.
    Forged,
}

/// Signs data by their hash, and says by whom.
pub(super) fn sign(identity: &Identity, data: &[u8]) -> Vec<u8> {
    let mut envelope = Vec::new();
    Writer::new(&mut envelope)
        .map(3)
        .str("hashtype")
        .str("sha256")
        .str("hash")
        .bytes(&sha256(&[data]))
        .str("meta")
        .map(2)
        .str("signer")
        .bytes(identity.hash().as_bytes())
        .str("pubkey")
        .bytes(&identity.public().to_bytes());
    let mut file = identity.sign(&envelope).to_vec();
    file.extend(envelope);
    file
}

/// Signs the data themselves.
pub(super) fn sign_raw(identity: &Identity, data: &[u8]) -> Vec<u8> {
    identity.sign(data).to_vec()
}

/// Says who signed `data`.
///
/// # Errors
/// Nobody did, or somebody else than `expected`.
pub(super) fn validate(
    crypto: &dyn CryptoProvider,
    file: &[u8],
    data: &[u8],
    expected: Option<&PublicIdentity>,
) -> Result<IdentityHash, Invalid> {
    let (signature, envelope) = file.split_first_chunk::<64>().ok_or(Invalid::Malformed)?;
    let (signer, signed) = if envelope.is_empty() {
        (*expected.ok_or(Invalid::NoSigner)?, data)
    } else {
        let signer = read_envelope(envelope, data)?;
        if expected.is_some_and(|expected| expected.hash() != signer.hash()) {
            return Err(Invalid::OtherSigner(signer.hash()));
        }
        (signer, envelope)
    };
    if signer.verify(crypto, signed, signature) { Ok(signer.hash()) } else { Err(Invalid::Forged) }
}

/// Returns the signer that an envelope for `data` names.
fn read_envelope(envelope: &[u8], data: &[u8]) -> Result<PublicIdentity, Invalid> {
    let envelope = Value::parse(envelope).map_err(|_| Invalid::Malformed)?;
    match envelope.get("hashtype") {
        Some(Value::Text(kind)) if kind == "sha256" => {}
        Some(_) => return Err(Invalid::UnknownHash),
        None => return Err(Invalid::Malformed),
    }
    let Some(Value::Bytes(hash)) = envelope.get("hash") else { return Err(Invalid::Malformed) };
    if hash.as_slice() != sha256(&[data]).as_slice() {
        return Err(Invalid::OtherData);
    }
    let meta = envelope.get("meta").ok_or(Invalid::NoSigner)?;
    let Some(Value::Bytes(keys)) = meta.get("pubkey") else { return Err(Invalid::NoSigner) };
    let keys = keys.as_slice().try_into().map_err(|_| Invalid::Malformed)?;
    let signer = PublicIdentity::from_bytes(keys);
    match meta.get("signer") {
        Some(Value::Bytes(named)) if named.as_slice() == signer.hash().as_bytes() => Ok(signer),
        _ => Err(Invalid::Forged),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proto_rns::crypto::Dalek;

    fn identity(number: u8) -> Identity {
        Identity::from_bytes(&Dalek, &[number; 64])
    }

    fn check(file: &[u8], data: &[u8], expected: Option<&Identity>) -> Result<IdentityHash, Invalid> {
        validate(&Dalek, file, data, expected.map(Identity::public))
    }

    #[test]
    fn a_signature_says_who_made_it_of_what() {
        let (me, other) = (identity(1), identity(2));
        let file = sign(&me, b"hello");
        assert_eq!(file.len(), 224);
        assert_eq!(check(&file, b"hello", None), Ok(me.hash()));
        assert_eq!(check(&file, b"hello", Some(&me)), Ok(me.hash()));
        assert_eq!(check(&file, b"hello", Some(&other)), Err(Invalid::OtherSigner(me.hash())));
        assert_eq!(check(&file, b"hallo", None), Err(Invalid::OtherData));
    }

    #[test]
    fn a_raw_signature_needs_somebody_who_may_have_made_it() {
        let (me, other) = (identity(1), identity(2));
        let file = sign_raw(&me, b"hello");
        assert_eq!(check(&file, b"hello", Some(&me)), Ok(me.hash()));
        assert_eq!(check(&file, b"hello", Some(&other)), Err(Invalid::Forged));
        assert_eq!(check(&file, b"hello", None), Err(Invalid::NoSigner));
    }

    #[test]
    fn no_changed_or_shortened_signature_counts() {
        let file = sign(&identity(1), b"hello");
        for at in 0..file.len() {
            let mut changed = file.clone();
            changed[at] ^= 1;
            assert!(check(&changed, b"hello", None).is_err(), "{at}");
            assert!(check(&file[..at], b"hello", None).is_err(), "{at}");
        }
    }

    /// Made by the reference 1.5.7 of a file with the contents `hello` and a line feed.
    #[test]
    fn the_references_signature_counts() {
        let file = data_encoding::BASE32_NOPAD.decode(REFERENCE.as_bytes()).unwrap();
        let signer = check(&file, b"hello\n", None).unwrap();
        assert_eq!(signer.to_string(), "eee2f851e1022203d372957c724be66c");
    }

    const REFERENCE: &str = "MAR3JKS74UIHWFYWUJ7U2M6DCQRTJTGZAUROPLSMPMGFSHCSYFDE7BCQ5A4DX7K3\
        JPXMF3WZOERFKTKSOHWGEVL7IL5ZKGWYZEEGIBUDVBUGC43IOR4XAZNGONUGCMRVG2SGQYLTNDCCAWERWW2SFVO7BBWQ74FRCD55TUQ3\
        WT6HCY5PGTIIFBVC5BDPNPQDURWWK5DBQKTHG2LHNZSXFRAQ53RPQUPBAIRAHU3SSV6HES7GNSTHA5LCNNSXTRCAYKJ4E3U3IRBBOFNW\
        AAYFLCL5HV6AJVEY46USLWUCAFGI3JP52F7EIRCJNZVWDUQ4XVPLRCYO3BW7SKQCLIKR4QJAINB3NYUZ3PQ333Y";
}
