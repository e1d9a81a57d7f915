//! One call of the suite: its parameters, and what can be wrong with it.

use serde_json::{Map, Value};
use std::fmt::Display;

/// What a command answers.
pub(crate) type Answer = Result<Value, Failure>;

/// The parameters of a command, each looked up by name and taken as what it should be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Params<'a>(&'a Map<String, Value>);

/// Why a command has no result, as the suite is told.
#[derive(Debug)]
pub(crate) struct Failure(String);

impl<'a> Params<'a> {
    pub(crate) const fn new(params: &'a Map<String, Value>) -> Self {
        Self(params)
    }

    /// Returns a parameter that is present and not null.
    pub(crate) fn get(&self, name: &str) -> Option<&'a Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// Says whether a parameter is given as null, which is not the same as not at all.
    pub(crate) fn is_null(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(Value::is_null)
    }

    pub(crate) fn bytes(&self, name: &str) -> Result<Vec<u8>, Failure> {
        unhex(self.text(name)?)
    }

    /// Returns bytes that may be left out; an empty text counts as left out.
    pub(crate) fn some_bytes(&self, name: &str) -> Result<Option<Vec<u8>>, Failure> {
        self.some_text(name).filter(|digits| !digits.is_empty()).map(unhex).transpose()
    }

    pub(crate) fn array<const N: usize>(&self, name: &str) -> Result<[u8; N], Failure> {
        exactly(name, &self.bytes(name)?)
    }

    pub(crate) fn some_array<const N: usize>(&self, name: &str) -> Result<Option<[u8; N]>, Failure> {
        self.some_bytes(name)?.map(|bytes| exactly(name, &bytes)).transpose()
    }

    pub(crate) fn text(&self, name: &str) -> Result<&'a str, Failure> {
        self.some_text(name).ok_or_else(|| Failure::missing(name))
    }

    pub(crate) fn some_text(&self, name: &str) -> Option<&'a str> {
        self.get(name).and_then(Value::as_str)
    }

    pub(crate) fn number<N: TryFrom<u64>>(&self, name: &str) -> Result<N, Failure> {
        self.some_number(name)?.ok_or_else(|| Failure::missing(name))
    }

    /// Returns a whole number that may be left out. Numbers in texts and with a point count too.
    pub(crate) fn some_number<N: TryFrom<u64>>(&self, name: &str) -> Result<Option<N>, Failure> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let number = value
            .as_u64()
            .or_else(|| value.as_str().and_then(|digits| digits.parse().ok()))
            .or_else(|| value.as_f64().filter(|number| *number >= 0.0).map(whole));
        match number.and_then(|number| N::try_from(number).ok()) {
            Some(number) => Ok(Some(number)),
            None => Err(Failure::new(format!("ValueError: {name} is {value}, which it cannot be"))),
        }
    }

    pub(crate) fn seconds(&self, name: &str) -> Option<f64> {
        self.get(name).and_then(Value::as_f64)
    }

    /// Returns a flag, `default` where it is left out.
    pub(crate) fn flag(&self, name: &str, default: bool) -> bool {
        match self.get(name) {
            Some(value) => value.as_bool().unwrap_or_else(|| value.as_u64() != Some(0)),
            None => default,
        }
    }

    /// Returns a list of texts, which may also be one text with commas.
    pub(crate) fn texts(&self, name: &str) -> Vec<&'a str> {
        match self.get(name) {
            Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).collect(),
            Some(Value::String(list)) if !list.is_empty() => list.split(',').collect(),
            _ => Vec::new(),
        }
    }
}

impl Failure {
    pub(crate) fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }

    pub(crate) fn missing(name: &str) -> Self {
        Self(format!("KeyError: no parameter '{name}'"))
    }

    pub(crate) fn into_text(self) -> String {
        self.0
    }
}

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(format!("ValueError: {error}"))
    }
}

pub(crate) fn unhex(digits: &str) -> Result<Vec<u8>, Failure> {
    Ok(hex::decode(digits)?)
}

/// Returns an array of the bytes of `name` where there are exactly as many as needed.
pub(crate) fn exactly<const N: usize>(name: impl Display, bytes: &[u8]) -> Result<[u8; N], Failure> {
    let wrong = || Failure::new(format!("ValueError: {name} has {} bytes instead of {N}", bytes.len()));
    bytes.try_into().map_err(|_| wrong())
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the suite's numbers are small")]
const fn whole(number: f64) -> u64 {
    number as u64
}
