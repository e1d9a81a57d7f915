//! How long frames may be on an interface that adapts to its speed (spec 1.18).

/// Returns the longest frame for a bitrate in bits a second; `None` for one that is too slow for more than the
/// network's common 500 bytes.
pub fn mtu_for_bitrate(bitrate: u64) -> Option<usize> {
    TIERS.iter().find(|(at_least, _)| bitrate >= *at_least).map(|(_, mtu)| *mtu)
}

const TIERS: [(u64, usize); 10] = [
    (1_000_000_000, 524_288),
    (750_000_000, 262_144),
    (400_000_000, 131_072),
    (200_000_000, 65_536),
    (100_000_000, 32_768),
    (10_000_000, 16_384),
    (5_000_000, 8_192),
    (2_000_000, 4_096),
    (1_000_000, 2_048),
    (62_500, 1_024),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tier_begins_at_its_bitrate() {
        assert_eq!(mtu_for_bitrate(10_000_000), Some(16_384));
        assert_eq!(mtu_for_bitrate(9_999_999), Some(8_192));
        assert_eq!(mtu_for_bitrate(62_499), None);
        assert_eq!(mtu_for_bitrate(u64::MAX), Some(524_288));
    }
}
