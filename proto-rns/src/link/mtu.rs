//! How much fits into a packet of a link (spec 1.1).

use crate::{crypto::TOKEN_OVERHEAD, wire::Packet};

/// The MTU that every interface carries, and a link's without discovery.
pub const BASE_MTU: usize = 500;

/// Returns the most plaintext that a link packet carries: whole cipher blocks less one byte of padding, behind the
/// header and the smallest interface access code.
pub const fn link_mdu(mtu: usize) -> usize {
    const BEFORE: usize = SMALLEST_ACCESS_CODE + Packet::SHORT_HEADER + TOKEN_OVERHEAD;
    (mtu.saturating_sub(BEFORE) / 16 * 16).saturating_sub(1)
}

/// Room for an access code of one byte is kept on interfaces without one, too.
const SMALLEST_ACCESS_CODE: usize = 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recorded_sizes_are_reproduced() {
        let recorded = [(500, 431), (1_064, 991), (8_192, 8_111), (16_384, 16_303), (524_288, 524_207)];
        for (mtu, mdu) in recorded {
            assert_eq!(link_mdu(mtu), mdu, "{mtu}");
        }
    }

    #[test]
    fn an_impossible_mtu_has_room_for_nothing() {
        assert_eq!(link_mdu(0), 0);
        assert_eq!(link_mdu(70), 0);
    }
}
