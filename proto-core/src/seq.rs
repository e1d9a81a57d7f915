//! Sequence numbers that wrap at 24 bits.

/// A 24-bit counter that wraps at 2^24.
///
/// Two numbers compare by their distance modulo 2^24: one is newer than another when it is less than half the
/// range (2^23) ahead of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct U24(u32);

impl U24 {
    /// Zero, where every counter starts.
    pub const ZERO: Self = Self(0);
    /// The largest value, 2^24 - 1.
    pub const MAX: Self = Self(0x00ff_ffff);
    /// Half the range, 2^23: the first distance that counts as "behind".
    pub const HALF: u32 = 0x0080_0000;

    /// Creates the number from the low 24 bits of `value`.
    pub const fn new(value: u32) -> Self {
        Self(value & Self::MAX.0)
    }

    /// Creates the number from its little-endian bytes.
    pub const fn from_le_bytes([a, b, c]: [u8; 3]) -> Self {
        Self(u32::from_le_bytes([a, b, c, 0]))
    }

    /// Returns the little-endian bytes.
    pub const fn to_le_bytes(self) -> [u8; 3] {
        let [a, b, c, _] = self.0.to_le_bytes();
        [a, b, c]
    }

    /// Returns the value, below 2^24.
    pub const fn get(self) -> u32 {
        self.0
    }

    /// Returns the number `count` further on.
    #[must_use]
    pub const fn add(self, count: u32) -> Self {
        Self::new(self.0.wrapping_add(count))
    }

    /// Returns the number `count` before.
    #[must_use]
    pub const fn sub(self, count: u32) -> Self {
        Self::new(self.0.wrapping_sub(count))
    }

    /// Returns the next number.
    #[must_use]
    pub const fn next(self) -> Self {
        self.add(1)
    }

    /// Returns how far `self` is ahead of `base`, modulo 2^24.
    pub const fn distance_from(self, base: Self) -> u32 {
        self.0.wrapping_sub(base.0) & Self::MAX.0
    }

    /// Says whether `self` lies less than half the range ahead of `other`.
    pub const fn is_newer_than(self, other: Self) -> bool {
        let distance = self.distance_from(other);
        distance != 0 && distance < Self::HALF
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_wrap_and_compare_across_the_wrap() {
        assert_eq!(U24::MAX.next(), U24::ZERO);
        assert_eq!(U24::ZERO.sub(1), U24::MAX);
        assert!(U24::new(3).is_newer_than(U24::new(0x00ff_fff0)));
        assert!(!U24::new(0x00ff_fff0).is_newer_than(U24::new(3)));
        assert!(!U24::new(5).is_newer_than(U24::new(5)));
        assert_eq!(U24::new(2).distance_from(U24::MAX), 3);
    }

    #[test]
    fn bytes_are_little_endian() {
        assert_eq!(U24::new(0x0001_0203).to_le_bytes(), [3, 2, 1]);
        assert_eq!(U24::from_le_bytes([3, 2, 1]), U24::new(0x0001_0203));
    }
}
