//! The list of its own addresses that each side writes into the handshake.

use alloc::vec::Vec;
use core::net::SocketAddr;

use proto_core::Reader;

use super::{ParseError, address};
use crate::limits;

/// Up to [`MAX`](Self::MAX) addresses that a peer claims to have, fillers included.
///
/// Bedrock writes its network interfaces, most others [`UNASSIGNED`](address::UNASSIGNED). Nothing may depend
/// on the values. How many there are follows from the
/// [`ProtocolVersion`](super::ProtocolVersion::internal_addresses).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InternalAddresses(Vec<SocketAddr>);

impl InternalAddresses {
    /// The most addresses a list keeps: what Bedrock writes. At most 640 bytes of memory.
    pub const MAX: usize = limits::INTERNAL_ADDRESSES;

    /// Creates a list of `count` fillers; [`MAX`](Self::MAX) if that is less.
    pub fn unassigned(count: usize) -> Self {
        core::iter::repeat_n(address::UNASSIGNED, count).collect()
    }

    /// Takes addresses until fewer than 17 bytes are left: the two times that end the message take 16.
    ///
    /// Addresses beyond [`MAX`](Self::MAX) are read and dropped.
    ///
    /// # Errors
    /// A [`ParseError`] when what is there is no address.
    pub(super) fn parse(r: &mut Reader<'_>) -> Result<Self, ParseError> {
        let mut list = Vec::new();
        while r.remaining() > TIMES_LEN {
            let address = address::parse(r)?;
            if list.len() < Self::MAX {
                list.push(address);
            }
        }
        Ok(Self(list))
    }

    pub(super) fn emit(&self, buf: &mut Vec<u8>) {
        for &address in &self.0 {
            address::emit(address, buf);
        }
    }

    pub(super) fn encoded_len(&self) -> usize {
        self.0.iter().fold(0, |len, &address| len.saturating_add(address::encoded_len(address)))
    }

    /// Returns the addresses.
    pub fn as_slice(&self) -> &[SocketAddr] {
        &self.0
    }
}

/// Keeps the first [`MAX`](InternalAddresses::MAX) addresses.
impl FromIterator<SocketAddr> for InternalAddresses {
    fn from_iter<I: IntoIterator<Item = SocketAddr>>(addresses: I) -> Self {
        Self(addresses.into_iter().take(Self::MAX).collect())
    }
}

/// Two u64 times.
const TIMES_LEN: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn encoded(count: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        for _ in 0..count {
            address::emit(address::UNASSIGNED, &mut bytes);
        }
        bytes.extend([0; 16]);
        bytes
    }

    #[test]
    fn as_many_addresses_are_read_as_leave_room_for_the_times() {
        for count in [0, 1, 10, 20] {
            let bytes = encoded(count);
            let mut r = Reader::new(&bytes);
            assert_eq!(InternalAddresses::parse(&mut r), Ok(InternalAddresses::unassigned(count)));
            assert_eq!(r.remaining(), 16);
        }
    }

    #[test]
    fn a_flood_of_addresses_is_read_over_and_not_kept() {
        let bytes = encoded(5000);
        let mut r = Reader::new(&bytes);
        let list = InternalAddresses::parse(&mut r).unwrap();
        assert_eq!(list.as_slice().len(), InternalAddresses::MAX);
        assert_eq!(r.remaining(), 16);
        assert_eq!(InternalAddresses::unassigned(usize::MAX), list);
    }

    #[test]
    fn the_length_counts_each_family() {
        let list: InternalAddresses =
            vec![address::UNASSIGNED, "[::1]:1".parse().unwrap()].into_iter().collect();
        assert_eq!(list.encoded_len(), 7 + 29);
    }
}
