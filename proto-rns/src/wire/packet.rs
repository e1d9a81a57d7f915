//! The packet: two or three addresses, a context and data (spec 1.4).
//!
//! ```text
//! flags 1 | hops 1 | [transport id 16] | destination 16 | context 1 | data
//! ```

use super::{Context, Malformed};
use crate::{DestinationHash, IdentityHash, PacketHash, crypto::sha256};
use alloc::vec::Vec;
use core::ops::Deref;
use proto_core::Reader;

/// A packet as it travels; the data belong to whoever holds the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// Whether an announce carries a ratchet; other packets may use it as they like.
    pub context_flag: bool,
    /// Whether the packet is flooded or goes along a path.
    pub transport_type: TransportType,
    /// What the destination is.
    pub destination_type: DestinationType,
    /// What the packet is.
    pub packet_type: PacketType,
    /// How many nodes the packet has passed.
    pub hops: u8,
    /// The node that is to forward the packet; with it the packet has the long form of header.
    pub transport_id: Option<IdentityHash>,
    /// Where the packet goes: a destination, a link's number, or the truncated hash of a packet that it proves.
    pub destination: DestinationHash,
    /// What the packet is about.
    pub context: Context,
    /// The rest.
    pub data: &'a [u8],
}

impl<'a> Packet<'a> {
    /// The length of the short form of header.
    pub const SHORT_HEADER: usize = 19;
    /// The length of the long form of header, with a transport id.
    pub const LONG_HEADER: usize = 35;
    /// A received packet with so many hops is malformed (PATHFINDER_M).
    pub const MAX_HOPS: u8 = 128;

    /// Creates a packet as its originator sends it: short header, no hops, flooded.
    pub const fn new(
        packet_type: PacketType,
        destination_type: DestinationType,
        destination: DestinationHash,
        context: Context,
        data: &'a [u8],
    ) -> Self {
        Self {
            context_flag: false,
            transport_type: TransportType::Broadcast,
            destination_type,
            packet_type,
            hops: 0,
            transport_id: None,
            destination,
            context,
            data,
        }
    }

    /// Parses a whole frame, without an interface access code.
    ///
    /// # Errors
    /// The frame is cut off, has no data, or went too far.
    pub fn parse(frame: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(frame);
        let flags = reader.u8()?;
        let hops = reader.u8()?;
        if hops >= Self::MAX_HOPS {
            return Err(Malformed::TooManyHops);
        }
        let long = flags & 0x40 != 0;
        let transport_id = if long { Some(IdentityHash::new(reader.array()?)) } else { None };
        let destination = DestinationHash::new(reader.array()?);
        let context = Context::from(reader.u8()?);
        let data = reader.rest();
        if data.is_empty() {
            return Err(Malformed::Empty);
        }
        Ok(Self {
            context_flag: flags & 0x20 != 0,
            transport_type: if flags & 0x10 == 0 {
                TransportType::Broadcast
            } else {
                TransportType::Transport
            },
            destination_type: DestinationType::from_bits(flags >> 2),
            packet_type: PacketType::from_bits(flags),
            hops,
            transport_id,
            destination,
            context,
            data,
        })
    }

    /// Appends the whole frame.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.reserve(self.encoded_len());
        out.extend_from_slice(&self.header());
        out.extend_from_slice(self.data);
    }

    /// Returns the whole frame.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.emit(&mut out);
        out
    }

    /// Returns the frame's length.
    pub const fn encoded_len(&self) -> usize {
        self.header_len() + self.data.len()
    }

    /// Returns the header alone, so that a frame can be written from two pieces.
    pub fn header(&self) -> HeaderBytes {
        let mut bytes = [0; Self::LONG_HEADER];
        let long = u8::from(self.transport_id.is_some()) << 6;
        let head = [long | self.low_flags(), self.hops];
        let transport = self.transport_id.as_ref().map_or(&[][..], |id| id.as_bytes());
        let context = [self.context.to_byte()];
        let fields = [&head, transport, self.destination.as_bytes(), &context];
        bytes.iter_mut().zip(fields.into_iter().flatten()).for_each(|(to, from)| *to = *from);
        HeaderBytes { bytes, len: self.header_len() }
    }

    /// Returns the hash of what does not change on the way: not the hops, the transport id and the flags that go with
    /// them.
    pub fn hash(&self) -> PacketHash {
        let flags = [self.low_flags() & 0x0f];
        let context = [self.context.to_byte()];
        PacketHash::new(sha256(&[&flags, self.destination.as_bytes(), &context, self.data]))
    }

    const fn header_len(&self) -> usize {
        if self.transport_id.is_some() { Self::LONG_HEADER } else { Self::SHORT_HEADER }
    }

    const fn low_flags(&self) -> u8 {
        (self.context_flag as u8) << 5
            | (self.transport_type as u8) << 4
            | (self.destination_type as u8) << 2
            | self.packet_type as u8
    }
}

/// The bytes of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderBytes {
    bytes: [u8; Packet::LONG_HEADER],
    len: usize,
}

impl Deref for HeaderBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or(&self.bytes)
    }
}

/// How a packet spreads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TransportType {
    /// To everybody in reach.
    Broadcast = 0,
    /// Along a path of transport nodes.
    Transport = 1,
}

/// What the address of a packet stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DestinationType {
    /// One identity.
    Single = 0,
    /// Everybody who has a key.
    Group = 1,
    /// Everybody, in the clear.
    Plain = 2,
    /// A link.
    Link = 3,
}

impl DestinationType {
    const fn from_bits(bits: u8) -> Self {
        match bits & 3 {
            0 => Self::Single,
            1 => Self::Group,
            2 => Self::Plain,
            _ => Self::Link,
        }
    }
}

/// What a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PacketType {
    /// Data.
    Data = 0,
    /// A destination makes itself known.
    Announce = 1,
    /// A link is asked for.
    LinkRequest = 2,
    /// Something arrived.
    Proof = 3,
}

impl PacketType {
    const fn from_bits(bits: u8) -> Self {
        match bits & 3 {
            0 => Self::Data,
            1 => Self::Announce,
            2 => Self::LinkRequest,
            _ => Self::Proof,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_frame_is_emitted_as_it_was_parsed(mut frame in prop::collection::vec(any::<u8>(), 0..80)) {
            if let Some(flags) = frame.first_mut() {
                *flags &= 0x7f;
            }
            if let Ok(packet) = Packet::parse(&frame) {
                prop_assert_eq!(packet.to_vec(), &frame[..]);
                prop_assert_eq!(packet.encoded_len(), frame.len());
            }
        }

        #[test]
        fn the_hash_ignores_what_changes_on_the_way(data in prop::collection::vec(any::<u8>(), 1..50), id: [u8; 16], hops in 0..128_u8) {
            let destination = DestinationHash::new([3; 16]);
            let packet = Packet::new(PacketType::Data, DestinationType::Single, destination, Context::None, &data);
            let moved = Packet {
                transport_id: Some(IdentityHash::new(id)),
                transport_type: TransportType::Transport,
                hops,
                ..packet
            };
            prop_assert_eq!(packet.hash(), moved.hash());
        }
    }

    #[test]
    fn every_truncation_of_the_header_is_an_error() {
        for flags in [0, 0x40] {
            let mut frame = [7; 60];
            frame[0] = flags;
            let shortest = if flags == 0 { 20 } else { 36 };
            for len in 0..shortest {
                assert!(Packet::parse(&frame[..len]).is_err(), "{len}");
            }
            assert_eq!(Packet::parse(&frame[..shortest]).map(|packet| packet.data.len()), Ok(1));
        }
    }

    #[test]
    fn a_packet_that_went_too_far_is_malformed() {
        let mut frame = [0; 30];
        frame[1] = 127;
        assert!(Packet::parse(&frame).is_ok());
        frame[1] = 128;
        assert_eq!(Packet::parse(&frame), Err(Malformed::TooManyHops));
    }
}
