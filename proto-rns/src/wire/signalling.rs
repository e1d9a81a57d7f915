//! What the two ends of a link agree on beside their keys: the cipher and the MTU (spec 1.10).
//!
//! ```text
//! mode 3 bits | MTU 21 bits
//! ```

use super::Malformed;
use alloc::vec::Vec;

/// The signalling bytes at the end of a link request and of its proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signalling {
    /// How the link encrypts.
    pub mode: LinkMode,
    /// The longest packet on the link, in bytes with its header; at most [`Signalling::MAX_MTU`].
    pub mtu: usize,
}

impl Signalling {
    /// The length on the wire.
    pub const LEN: usize = 3;
    /// The largest MTU that 21 bits can say.
    pub const MAX_MTU: usize = (1 << 21) - 1;

    /// Parses exactly three bytes.
    ///
    /// # Errors
    /// There are fewer or more.
    pub fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        match bytes {
            [high, middle, low] => {
                let mtu = u32::from_be_bytes([0, high & 0x1f, *middle, *low]);
                let mtu = usize::try_from(mtu).map_err(|_| Malformed::Value)?;
                Ok(Self { mode: LinkMode::from_bits(high >> 5), mtu })
            }
            [] | [_] | [_, _] => Err(Malformed::Truncated),
            [..] => Err(Malformed::TooLong),
        }
    }

    /// Appends the three bytes.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_bytes());
    }

    /// Returns the three bytes. An MTU that they cannot say becomes the largest that they can.
    pub fn to_bytes(self) -> [u8; Self::LEN] {
        let mtu = u32::try_from(self.mtu.min(Self::MAX_MTU)).unwrap_or(0);
        let [_, high, middle, low] = (u32::from(self.mode.to_bits()) << 21 | mtu).to_be_bytes();
        [high, middle, low]
    }
}

/// How a link encrypts. Only [`LinkMode::Aes256Cbc`] is in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinkMode {
    /// AES-128 in CBC mode, no longer enabled.
    Aes128Cbc,
    /// AES-256 in CBC mode.
    Aes256Cbc,
    /// AES-256 in GCM mode, reserved.
    Aes256Gcm,
    /// A one-time pad, reserved.
    OneTimePad,
    /// One of the four values reserved for post-quantum ciphers, 4 to 7.
    Reserved(u8),
}

impl LinkMode {
    const fn from_bits(bits: u8) -> Self {
        match bits & 7 {
            0 => Self::Aes128Cbc,
            1 => Self::Aes256Cbc,
            2 => Self::Aes256Gcm,
            3 => Self::OneTimePad,
            reserved => Self::Reserved(reserved),
        }
    }

    const fn to_bits(self) -> u8 {
        match self {
            Self::Aes128Cbc => 0,
            Self::Aes256Cbc => 1,
            Self::Aes256Gcm => 2,
            Self::OneTimePad => 3,
            Self::Reserved(bits) => bits & 7,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recorded_mtus_are_reproduced() {
        for (mtu, bytes) in [(500, [0x20, 0x01, 0xf4]), (8192, [0x20, 0x20, 0]), (524_288, [0x28, 0, 0])] {
            let signalling = Signalling { mode: LinkMode::Aes256Cbc, mtu };
            assert_eq!(signalling.to_bytes(), bytes);
            assert_eq!(Signalling::parse(&bytes), Ok(signalling));
        }
    }

    #[test]
    fn every_mode_and_the_ends_of_the_mtu_survive_the_round_trip() {
        for high in 0..=u8::MAX {
            for bytes in [[high, 0, 0], [high, 0xff, 0xff]] {
                assert_eq!(Signalling::parse(&bytes).unwrap().to_bytes(), bytes);
            }
        }
    }

    #[test]
    fn other_lengths_are_errors() {
        assert_eq!(Signalling::parse(&[0x20, 0]), Err(Malformed::Truncated));
        assert_eq!(Signalling::parse(&[0x20, 0, 0, 0]), Err(Malformed::TooLong));
    }

    #[test]
    fn an_mtu_beyond_the_field_becomes_the_largest() {
        let signalling = Signalling { mode: LinkMode::Aes128Cbc, mtu: usize::MAX };
        assert_eq!(signalling.to_bytes(), [0x1f, 0xff, 0xff]);
    }
}
