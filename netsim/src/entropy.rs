//! Where a simulation's chance comes from.

use proto_core::Rng;
use std::fmt::Debug;

/// A source of randomness: a seeded generator in tests, the fuzzer's own bytes under a fuzzer.
pub trait Entropy: Debug {
    /// Returns a number below `bound`, or 0 when `bound` is 0.
    fn below(&mut self, bound: u64) -> u64;

    /// Returns true with the given probability.
    fn chance(&mut self, probability: f64) -> bool;

    /// Fills `bytes`.
    fn fill(&mut self, bytes: &mut [u8]);

    /// Returns a number between `low` and `high`, both included.
    fn between(&mut self, low: u64, high: u64) -> u64 {
        low.saturating_add(self.below(high.saturating_sub(low).saturating_add(1)))
    }
}

impl Entropy for Rng {
    fn below(&mut self, bound: u64) -> u64 {
        Self::below(self, bound)
    }

    fn chance(&mut self, probability: f64) -> bool {
        Self::chance(self, probability)
    }

    fn fill(&mut self, bytes: &mut [u8]) {
        Self::fill(self, bytes);
    }
}

/// Decisions read from given bytes, so that a coverage-guided fuzzer can learn which byte decides what.
///
/// A chance costs one byte and a number as few bytes as its bound needs. Once the bytes are exhausted every
/// further one is [`ByteEntropy::EXHAUSTED`], the middle of the range: what happens less than half of the time
/// does not happen any more, so a run always calms down.
#[derive(Clone, Debug)]
pub struct ByteEntropy {
    bytes: Vec<u8>,
    used: usize,
}

impl ByteEntropy {
    /// What is read after the end.
    pub const EXHAUSTED: u8 = 0x80;

    /// Creates a source that reads `bytes` from the front.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self { bytes: bytes.into(), used: 0 }
    }

    /// Takes the next byte.
    pub fn byte(&mut self) -> u8 {
        let byte = self.bytes.get(self.used).copied();
        self.used = self.used.saturating_add(1);
        byte.unwrap_or(Self::EXHAUSTED)
    }

    /// Says whether every byte was taken.
    pub fn is_exhausted(&self) -> bool {
        self.used >= self.bytes.len()
    }
}

impl Entropy for ByteEntropy {
    fn below(&mut self, bound: u64) -> u64 {
        let mut value = 0_u64;
        let mut reach = bound.saturating_sub(1);
        while reach > 0 {
            value = value << 8 | u64::from(self.byte());
            reach >>= 8;
        }
        value.checked_rem(bound).unwrap_or(0)
    }

    fn chance(&mut self, probability: f64) -> bool {
        f64::from(self.byte()) < probability * 256.0
    }

    fn fill(&mut self, bytes: &mut [u8]) {
        bytes.fill_with(|| self.byte());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_costs_only_the_bytes_its_bound_needs() {
        let mut source = ByteEntropy::new([7, 1, 2, 9]);
        assert_eq!(source.below(1), 0);
        assert_eq!(source.below(256), 7);
        assert_eq!(source.below(65_536), 0x0102);
        assert_eq!(source.below(0), 0);
        assert_eq!(source.byte(), 9);
        assert!(source.is_exhausted());
    }

    #[test]
    fn an_exhausted_source_is_calm() {
        let mut source = ByteEntropy::new([]);
        assert!((0..100).all(|_| !source.chance(0.5)));
        assert!(source.chance(0.6));
        let mut bytes = [0; 3];
        source.fill(&mut bytes);
        assert_eq!(bytes, [ByteEntropy::EXHAUSTED; 3]);
    }

    #[test]
    fn a_range_includes_both_ends() {
        let mut rng = Rng::from_u64(3);
        let drawn: Vec<u64> = (0..200).map(|_| rng.between(4, 6)).collect();
        assert!((4..=6).all(|value| drawn.contains(&value)));
        assert!(drawn.iter().all(|value| (4..=6).contains(value)));
    }
}
