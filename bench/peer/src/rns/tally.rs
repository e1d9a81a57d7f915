//! Which contents were settled.

use serde::{Deserialize, Serialize};

/// Counts contents so that two ends can compare which ones they have settled: each is added once at each end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// How many.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The wrapping sum of their numbers.
    pub numbers: u64,
}

impl Tally {
    /// Counts the contents with this number.
    pub fn add(&mut self, number: u64, bytes: usize) {
        self.count += 1;
        self.bytes += bytes as u64;
        self.numbers = self.numbers.wrapping_add(number);
    }
}
