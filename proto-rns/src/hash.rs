//! The protocol's hashes, each a type of its own.

use crate::crypto::sha256;
use core::{fmt, str::FromStr};

/// Defines a hash as an array of bytes that prints as hexadecimal digits.
macro_rules! hash {
    ($(#[$doc:meta])* $name:ident, $len:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name([u8; $len]);

        impl $name {
            /// Its length in bytes.
            pub const LEN: usize = $len;

            /// Takes bytes as this kind of hash.
            pub const fn new(bytes: [u8; $len]) -> Self {
                Self(bytes)
            }

            /// Takes the first bytes of `bytes`; `None` when there are too few.
            pub fn from_prefix(bytes: &[u8]) -> Option<Self> {
                bytes.first_chunk::<$len>().copied().map(Self)
            }

            /// Takes `bytes`; `None` when there are not exactly as many as needed.
            pub fn from_slice(bytes: &[u8]) -> Option<Self> {
                <[u8; $len]>::try_from(bytes).ok().map(Self)
            }

            /// Returns the bytes.
            pub const fn as_bytes(&self) -> &[u8; $len] {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({self})", stringify!($name))
            }
        }

        impl FromStr for $name {
            type Err = ParseHashError;

            fn from_str(digits: &str) -> Result<Self, ParseHashError> {
                let mut bytes = [0; $len];
                parse_hex(digits, &mut bytes)?;
                Ok(Self(bytes))
            }
        }
    };
}

hash! {
    /// Where a packet goes: the hash of a destination's name and identity (spec 1.3).
    DestinationHash, 16
}
hash! {
    /// The truncated hash of an identity's public keys; of a transport node also its transport id (spec 1.2).
    IdentityHash, 16
}
hash! {
    /// The number of a link: the truncated hash of its request (spec 1.10).
    LinkHash, 16
}
hash! {
    /// The hash of a packet's parts that do not change on the way (spec 1.4).
    PacketHash, 32
}
hash! {
    /// The number of a request: the truncated hash of its packet, or of its contents when sent as a resource (spec 1.11).
    RequestId, 16
}
hash! {
    /// The truncated hash of a request's path (spec 1.11).
    PathHash, 16
}
hash! {
    /// The hash of a resource's segment (spec 1.12).
    ResourceHash, 32
}
hash! {
    /// The first bytes of the hash of a destination's full name (spec 1.3).
    NameHash, 10
}
hash! {
    /// The truncated hash of a ratchet's public key (spec 1.6).
    RatchetId, 10
}
hash! {
    /// The hash of an interface's name (spec 1.14, tunnels).
    InterfaceHash, 32
}

impl PacketHash {
    /// Returns where a proof of the packet goes: the first half.
    pub fn truncated(&self) -> DestinationHash {
        DestinationHash::new(first_half(self.as_bytes()))
    }
}

impl From<LinkHash> for DestinationHash {
    /// Packets of a link carry its number as their destination.
    fn from(link: LinkHash) -> Self {
        Self(link.0)
    }
}

impl From<DestinationHash> for LinkHash {
    fn from(destination: DestinationHash) -> Self {
        Self(destination.0)
    }
}

/// Returns the first 16 bytes of the SHA-256 of `parts` in a row, the protocol's "truncated hash".
pub fn truncated_hash(parts: &[&[u8]]) -> [u8; 16] {
    first_half(&sha256(parts))
}

/// Text that is not the hash it should be.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseHashError {
    /// The text is too long or too short.
    #[error("{actual} hexadecimal digits instead of {expected}")]
    Length {
        /// How many digits there should be.
        expected: usize,
        /// How many bytes the text has.
        actual: usize,
    },
    /// A character that is no hexadecimal digit.
    #[error("the character at place {place} is not a hexadecimal digit")]
    Digit {
        /// Its place, from 0.
        place: usize,
    },
}

fn parse_hex(digits: &str, bytes: &mut [u8]) -> Result<(), ParseHashError> {
    let digits = digits.as_bytes();
    if digits.len() != 2 * bytes.len() {
        return Err(ParseHashError::Length { expected: 2 * bytes.len(), actual: digits.len() });
    }
    for (place, &digit) in digits.iter().enumerate() {
        let value = char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok());
        let value = value.ok_or(ParseHashError::Digit { place })?;
        if let Some(byte) = bytes.get_mut(place / 2) {
            *byte = (*byte << 4) | value;
        }
    }
    Ok(())
}

fn first_half(hash: &[u8; 32]) -> [u8; 16] {
    let mut half = [0; 16];
    half.iter_mut().zip(hash).for_each(|(to, from)| *to = *from);
    half
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn a_hash_prints_as_it_is_read() {
        let text = "e1887775ced5edaf8858bdd9da2d5b64";
        let hash: DestinationHash = text.parse().unwrap();
        assert_eq!(hash.to_string(), text);
        assert_eq!(DestinationHash::from_slice(hash.as_bytes()), Some(hash));
    }

    #[test]
    fn text_that_is_no_hash_says_why() {
        let short = "e188".parse::<DestinationHash>();
        assert_eq!(short, Err(ParseHashError::Length { expected: 32, actual: 4 }));
        let odd = "e1887775ced5edafx858bdd9da2d5b64".parse::<DestinationHash>();
        assert_eq!(odd, Err(ParseHashError::Digit { place: 16 }));
    }

    #[test]
    fn too_few_bytes_are_no_hash() {
        assert_eq!(DestinationHash::from_prefix(&[0; 15]), None);
        assert_eq!(DestinationHash::from_slice(&[0; 17]), None);
    }
}
