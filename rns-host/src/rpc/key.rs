//! The key that both ends of an RPC connection know.

use proto_rns::{
    crypto::sha256,
    storage::{Storage, StoredItem},
};
use std::{fmt, str::FromStr};
use zeroize::Zeroizing;

/// A key of any length.
#[derive(Clone)]
pub struct RpcKey(Zeroizing<Vec<u8>>);

impl RpcKey {
    /// Takes a key as it is.
    pub fn new(key: &[u8]) -> Self {
        Self(Zeroizing::new(key.to_vec()))
    }

    /// Returns the key of a shared instance whose configuration has no `rpc_key`: the hash of the private keys in its
    /// file `storage/transport_identity`, even when it runs with another identity.
    pub fn of_transport_identity(secret: &[u8; 64]) -> Self {
        Self::new(&sha256(&[secret]))
    }

    /// Returns the key that follows from what a shared instance keeps; `None` where it keeps no identity (yet).
    pub fn stored(storage: &mut dyn Storage) -> Option<Self> {
        let secret = Zeroizing::new(storage.read(StoredItem::TransportIdentity)?);
        Some(Self::of_transport_identity(secret.as_slice().try_into().ok()?))
    }

    /// Returns the key.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl FromStr for RpcKey {
    type Err = ParseRpcKeyError;

    /// Reads hexadecimal digits, as the configuration has them.
    fn from_str(digits: &str) -> Result<Self, ParseRpcKeyError> {
        let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let nibbles: Option<Zeroizing<Vec<u8>>> =
            digits.as_bytes().iter().map(digit).collect::<Option<Vec<u8>>>().map(Zeroizing::new);
        let nibbles = nibbles.ok_or(ParseRpcKeyError::Digit)?;
        let (pairs, odd) = nibbles.as_chunks::<2>();
        if !odd.is_empty() || pairs.is_empty() {
            return Err(ParseRpcKeyError::Length);
        }
        Ok(Self(Zeroizing::new(pairs.iter().map(|[high, low]| (high << 4) | low).collect())))
    }
}

impl PartialEq for RpcKey {
    fn eq(&self, other: &Self) -> bool {
        use subtle::ConstantTimeEq;
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for RpcKey {}

impl fmt::Debug for RpcKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RpcKey(..)")
    }
}

/// Text that is no key.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseRpcKeyError {
    /// A character that is no hexadecimal digit.
    #[error("a character that is no hexadecimal digit")]
    Digit,
    /// No digits, or an odd number of them.
    #[error("no pairs of hexadecimal digits")]
    Length,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{store::DirectoryStore, test_dir::TestDir};

    fn vectors() -> serde_json::Value {
        let text = include_str!("../../../proto-rns/tests/vectors/rns.json");
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn the_default_key_is_the_references() {
        let vector = &vectors()["rpc"]["default_key"];
        let secret: RpcKey = vector["transport_private"].as_str().unwrap().parse().unwrap();
        let expected: RpcKey = vector["rpc_key"].as_str().unwrap().parse().unwrap();
        assert_eq!(RpcKey::of_transport_identity(secret.as_bytes().try_into().unwrap()), expected);
    }

    #[test]
    fn the_key_follows_from_the_identity_that_is_kept() {
        let dir = TestDir::new("key");
        let mut store = DirectoryStore::open(dir.path());
        assert_eq!(RpcKey::stored(&mut store), None);
        store.write(StoredItem::TransportIdentity, &[3; 63]);
        assert_eq!(RpcKey::stored(&mut store), None);
        store.write(StoredItem::TransportIdentity, &[3; 64]);
        assert_eq!(RpcKey::stored(&mut store), Some(RpcKey::of_transport_identity(&[3; 64])));
    }

    #[test]
    fn text_that_is_no_key_says_why() {
        assert_eq!("e5C0".parse::<RpcKey>(), Ok(RpcKey::new(&[0xe5, 0xc0])));
        assert_eq!("e5c".parse::<RpcKey>(), Err(ParseRpcKeyError::Length));
        assert_eq!("".parse::<RpcKey>(), Err(ParseRpcKeyError::Length));
        assert_eq!("zz".parse::<RpcKey>(), Err(ParseRpcKeyError::Digit));
    }
}
