//! The protocol version that both sides must agree on.

use crate::limits;

/// A RakNet protocol version: 6 is stock RakNet 4, 10 and 11 are Bedrock's since about 1.16 and 1.19.30.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProtocolVersion(pub u8);

impl ProtocolVersion {
    /// Stock RakNet 4.
    pub const STOCK: Self = Self(6);
    /// Bedrock since 1.19.30.
    pub const BEDROCK: Self = Self(11);

    /// Returns how many internal addresses peers of this version write into their handshake messages.
    ///
    /// Readers take any number; only a stock peer that gets more than it expects reads wrong times.
    pub const fn internal_addresses(self) -> usize {
        if self.0 >= 10 { limits::INTERNAL_ADDRESSES } else { limits::INTERNAL_ADDRESSES_STOCK }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_list_doubled_with_version_10() {
        assert_eq!(ProtocolVersion::STOCK.internal_addresses(), 10);
        assert_eq!(ProtocolVersion(9).internal_addresses(), 10);
        assert_eq!(ProtocolVersion(10).internal_addresses(), 20);
        assert_eq!(ProtocolVersion::BEDROCK.internal_addresses(), 20);
    }
}
