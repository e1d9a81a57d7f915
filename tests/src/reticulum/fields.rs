//! Reading the lines that a program tells.

use proto_rns::ParseHashError;
use serde_json::Value;
use std::str::FromStr;

use super::Fingerprint;

/// A line of a program. What a line lacks, or has in another form, is a fault of the harness: it panics.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields<'a>(pub(super) &'a Value);

impl<'a> Fields<'a> {
    /// Reads a hash.
    pub(super) fn hash<H: FromStr<Err = ParseHashError>>(self, field: &str) -> H {
        self.optional_hash(field).unwrap_or_else(|| self.lacks(field))
    }

    /// Reads a hash that may be absent.
    pub(super) fn optional_hash<H: FromStr<Err = ParseHashError>>(self, field: &str) -> Option<H> {
        let digits = self.get(field)?.as_str().unwrap_or_else(|| self.lacks(field));
        Some(digits.parse().unwrap_or_else(|error| panic!("{field} in {}: {error}", self.0)))
    }

    /// Reads bytes.
    pub(super) fn bytes(self, field: &str) -> Vec<u8> {
        self.optional_bytes(field).unwrap_or_else(|| self.lacks(field))
    }

    /// Reads bytes that may be absent.
    pub(super) fn optional_bytes(self, field: &str) -> Option<Vec<u8>> {
        let digits = self.get(field)?.as_str().unwrap_or_else(|| self.lacks(field));
        Some(hex::decode(digits).unwrap_or_else(|error| panic!("{field} in {}: {error}", self.0)))
    }

    /// Reads a number.
    pub(super) fn number<N: TryFrom<u64>>(self, field: &str) -> N {
        self.optional_number(field).unwrap_or_else(|| self.lacks(field))
    }

    /// Reads a number that may be absent.
    pub(super) fn optional_number<N: TryFrom<u64>>(self, field: &str) -> Option<N> {
        let number = self.get(field)?.as_u64().and_then(|number| N::try_from(number).ok());
        Some(number.unwrap_or_else(|| self.lacks(field)))
    }

    /// Reads a truth value.
    pub(super) fn flag(self, field: &str) -> bool {
        self.get(field).and_then(Value::as_bool).unwrap_or_else(|| self.lacks(field))
    }

    /// Reads a text.
    pub(super) fn text(self, field: &str) -> &'a str {
        self.get(field).and_then(Value::as_str).unwrap_or_else(|| self.lacks(field))
    }

    /// Reads what is told of long contents.
    pub(super) fn fingerprint(self, field: &str) -> Fingerprint {
        self.optional_fingerprint(field).unwrap_or_else(|| self.lacks(field))
    }

    /// Reads what is told of long contents, which may be absent.
    pub(super) fn optional_fingerprint(self, field: &str) -> Option<Fingerprint> {
        let told = Fields(self.get(field)?);
        let sha256 = told.bytes("sha256").try_into().unwrap_or_else(|_| told.lacks("sha256"));
        Some(Fingerprint { len: told.number("len"), sha256 })
    }

    fn get(self, field: &str) -> Option<&'a Value> {
        self.0.get(field).filter(|value| !value.is_null())
    }

    fn lacks(self, field: &str) -> ! {
        panic!("{field} is missing, or not as it should be, in {}", self.0)
    }
}
