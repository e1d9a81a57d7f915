//! The reference vectors and the random draws that they were made with.

#![allow(dead_code, reason = "each test file uses a part of it")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::expect_used,
    reason = "helpers of tests fail as tests do"
)]

use proto_core::{Instant, UnixTime};
use proto_rns::{
    Env,
    compression::{Compression, NoCompression},
    crypto::{Dalek, Entropy},
};
use serde_json::Value;
use std::{collections::VecDeque, time::Duration};

/// The time at which the reference made all vectors.
pub(crate) const FROZEN: UnixTime = UnixTime::new(Duration::from_secs(1_700_000_000));

/// Returns the vector under a path such as `announce/with_app_data`.
pub(crate) fn vector(path: &str) -> Vector {
    let all: Value = serde_json::from_str(include_str!("rns.json")).unwrap();
    let value =
        path.split('/').fold(&all, |value, key| value.get(key).unwrap_or_else(|| panic!("no {path}")));
    Vector(value.clone())
}

/// One vector.
pub(crate) struct Vector(pub(crate) Value);

impl Vector {
    /// Returns the bytes of a field in hexadecimal digits.
    pub(crate) fn bytes(&self, field: &str) -> Vec<u8> {
        hex(self.str(field))
    }

    /// Returns the bytes of a field of known length.
    pub(crate) fn array<const N: usize>(&self, field: &str) -> [u8; N] {
        self.bytes(field).try_into().unwrap_or_else(|_| panic!("{field} has another length"))
    }

    /// Returns a field's text.
    pub(crate) fn str(&self, field: &str) -> &str {
        self.0.get(field).and_then(Value::as_str).unwrap_or_else(|| panic!("no text {field}"))
    }

    /// Returns a field's number.
    pub(crate) fn number(&self, field: &str) -> u64 {
        self.0.get(field).and_then(Value::as_u64).unwrap_or_else(|| panic!("no number {field}"))
    }

    /// Returns the random draws that the reference used.
    pub(crate) fn draws(&self) -> Draws {
        let draws = self.0.get("draws").and_then(Value::as_array).unwrap();
        Draws(draws.iter().map(|draw| hex(draw.get("hex").and_then(Value::as_str).unwrap())).collect())
    }
}

/// Recorded draws, handed out in their order.
#[derive(Debug)]
pub(crate) struct Draws(pub(crate) VecDeque<Vec<u8>>);

impl Draws {
    /// Makes sure that all draws were used.
    pub(crate) fn assert_used(&self) {
        assert!(self.0.is_empty(), "{} draws are left", self.0.len());
    }
}

impl Entropy for Draws {
    fn fill(&mut self, bytes: &mut [u8]) {
        let draw = self.0.pop_front().expect("the reference drew less often");
        bytes.copy_from_slice(&draw);
    }
}

/// Returns the surroundings in which the vectors were made.
pub(crate) fn env(entropy: &mut dyn Entropy) -> Env<'_> {
    env_with(entropy, &NoCompression)
}

/// Returns the same surroundings with a way to compress.
pub(crate) fn env_with<'a>(entropy: &'a mut dyn Entropy, compression: &'a dyn Compression) -> Env<'a> {
    Env { now: Instant::from_millis(1_000), wall: FROZEN, crypto: &Dalek, compression, entropy }
}

/// Reads hexadecimal digits.
pub(crate) fn hex(digits: &str) -> Vec<u8> {
    digits
        .as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}
