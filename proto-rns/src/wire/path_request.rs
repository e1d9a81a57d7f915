//! Path requests: who knows the way to a destination? (spec 1.7)
//!
//! ```text
//! destination 16 | [transport id of the requester 16] | tag 1..16
//! ```

use super::{Context, DestinationType, Malformed, Packet, PacketType};
use crate::{
    DestinationHash, IdentityHash,
    crypto::{Entropy, draw},
};
use alloc::vec::Vec;
use proto_core::Reader;

/// Asks for the path to a destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathRequest {
    /// Where the way shall lead to.
    pub destination: DestinationHash,
    /// The requester, when it is a transport node.
    pub requester: Option<IdentityHash>,
    /// What tells this request from others for the same destination.
    pub tag: RequestTag,
}

impl PathRequest {
    /// The plain destination `rnstransport.path.request`.
    pub const DESTINATION: DestinationHash = DestinationHash::new([
        0x6b, 0x9f, 0x66, 0x01, 0x4d, 0x98, 0x53, 0xfa, 0xab, 0x22, 0x0f, 0xba, 0x47, 0xd0, 0x27, 0x61,
    ]);

    /// Parses the data of a packet to [`DESTINATION`](Self::DESTINATION).
    ///
    /// More than 32 bytes have a transport id; a tag longer than 16 bytes is cut.
    ///
    /// # Errors
    /// There is no destination or no tag.
    pub fn parse(data: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(data);
        let destination = DestinationHash::new(reader.array()?);
        let requester = if data.len() > 32 { Some(IdentityHash::new(reader.array()?)) } else { None };
        let tag = RequestTag::from_prefix(reader.rest()).ok_or(Malformed::Truncated)?;
        Ok(Self { destination, requester, tag })
    }

    /// Appends the data of the packet.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.destination.as_bytes());
        out.extend_from_slice(self.requester.as_ref().map_or(&[], |requester| &requester.as_bytes()[..]));
        out.extend_from_slice(self.tag.as_bytes());
    }

    /// Returns the packet that carries the request, whose data [`emit`](Self::emit) wrote.
    pub const fn packet(data: &[u8]) -> Packet<'_> {
        Packet::new(PacketType::Data, DestinationType::Plain, Self::DESTINATION, Context::None, data)
    }
}

/// The tag of a path request, 1 to 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestTag {
    bytes: [u8; 16],
    len: usize,
}

impl RequestTag {
    /// Draws the 16 bytes of a new tag.
    pub fn generate(entropy: &mut dyn Entropy) -> Self {
        Self { bytes: draw(entropy), len: 16 }
    }

    /// Takes up to 16 of the first bytes; `None` when there are none.
    pub fn from_prefix(tag: &[u8]) -> Option<Self> {
        let mut bytes = [0; 16];
        bytes.iter_mut().zip(tag).for_each(|(to, from)| *to = *from);
        (!tag.is_empty()).then_some(Self { bytes, len: tag.len().min(16) })
    }

    /// Returns the bytes.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or(&self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dest::DestinationName;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_request_is_parsed_as_it_was_emitted(destination: [u8; 16], requester: Option<[u8; 16]>, tag in prop::collection::vec(any::<u8>(), 1..40)) {
            let request = PathRequest {
                destination: DestinationHash::new(destination),
                requester: requester.map(IdentityHash::new),
                tag: RequestTag::from_prefix(&tag).unwrap(),
            };
            let mut data = Vec::new();
            request.emit(&mut data);
            prop_assert_eq!(PathRequest::parse(&data), Ok(request));
        }
    }

    #[test]
    fn a_request_without_tag_is_an_error() {
        for len in 0..=16 {
            assert_eq!(PathRequest::parse(&[1; 40][..len]), Err(Malformed::Truncated));
        }
        let short = PathRequest::parse(&[1; 17]).unwrap();
        assert_eq!((short.requester, short.tag.as_bytes()), (None, &[1][..]));
    }

    #[test]
    fn more_than_two_hashes_have_a_requester_and_a_long_tag_is_cut() {
        assert_eq!(PathRequest::parse(&[1; 32]).unwrap().requester, None);
        let request = PathRequest::parse(&[1; 60]).unwrap();
        assert_eq!(request.requester, Some(IdentityHash::new([1; 16])));
        assert_eq!(request.tag.as_bytes().len(), 16);
    }

    #[test]
    fn requests_go_to_the_well_known_destination() {
        let name = DestinationName::parse("rnstransport.path.request").unwrap();
        assert_eq!(name.of_nobody(), PathRequest::DESTINATION);
    }
}
