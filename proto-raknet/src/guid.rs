//! The number by which a peer calls itself.

use core::fmt;

/// A peer's globally unique identifier: 64 opaque bits, drawn anew by each peer instance.
///
/// Nothing proves that a peer owns its GUID, so it only ever distinguishes instances behind one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Guid(pub u64);

impl fmt::Display for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn a_guid_prints_as_sixteen_hex_digits() {
        assert_eq!(Guid(0x1f).to_string(), "000000000000001f");
    }
}
