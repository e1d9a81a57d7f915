//! Frames: the encapsulated messages of a data datagram (spec 1.5).

use alloc::vec::Vec;
use proto_core::{Reader, U24};

use super::ParseError;
use crate::{Channel, Reliability};

/// The number that a reliable frame is filtered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct ReliableIndex(pub U24);

/// The place of a sequenced message among those since the last ordered one of its channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct SequencingIndex(pub U24);

/// The place of a message among the ordered ones of its channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct OrderingIndex(pub U24);

/// The sender's number for a split message; wraps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct SplitId(pub u16);

/// Which part of which split message a frame holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SplitPart {
    /// How many parts there are.
    pub count: u32,
    /// The split message.
    pub id: SplitId,
    /// This part, below `count`.
    pub index: u32,
}

/// The order that a frame belongs to, for the modes with a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Order {
    /// Its place among the ordered messages.
    pub index: OrderingIndex,
    /// The channel.
    pub channel: Channel,
}

/// One frame. Fields that its reliability does not have are written as if they were zero and read as such.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// How the message was sent. A receipt mode is written as its base mode, and read only from other
    /// implementations that put it on the wire.
    pub reliability: Reliability,
    /// The reliable number, for reliable modes.
    pub reliable: ReliableIndex,
    /// The sequencing index, for sequenced modes.
    pub sequencing: SequencingIndex,
    /// The order, for ordered and sequenced modes.
    pub order: Order,
    /// The part, if the message is split.
    pub split: Option<SplitPart>,
    /// The bytes: not empty, at most 8,191.
    pub payload: &'a [u8],
}

const SPLIT: u8 = 0x10;
const SPLIT_LEN: usize = 10;

impl<'a> Frame<'a> {
    /// Returns the length of a frame's header.
    pub const fn header_len(reliability: Reliability, split: bool) -> usize {
        let fields = match reliability.base() {
            Reliability::Unreliable | Reliability::UnreliableWithReceipt => 3,
            Reliability::Reliable | Reliability::ReliableWithReceipt => 6,
            Reliability::UnreliableSequenced
            | Reliability::ReliableOrdered
            | Reliability::ReliableOrderedWithReceipt => 10,
            Reliability::ReliableSequenced => 13,
        };
        if split { SPLIT_LEN.saturating_add(fields) } else { fields }
    }

    /// Reads one frame.
    ///
    /// The length is in bits; a number of bits that does not fill its last byte is rounded up, as C++ bit streams
    /// need. Zero is invalid.
    ///
    /// # Errors
    /// When the frame is cut off, its length is zero, its channel is 32 or more, or its part lies outside its split.
    #[inline]
    pub fn parse(r: &mut Reader<'a>) -> Result<Self, ParseError> {
        let flags = r.u8()?;
        let reliability = Reliability::try_from(flags >> 5)?;
        let len = usize::from(r.u16_be()?).div_ceil(8);
        if len == 0 {
            return Err(ParseError::Length);
        }
        let reliable =
            if reliability.is_reliable() { ReliableIndex(r.u24_le()?) } else { ReliableIndex::default() };
        let sequencing = if reliability.is_sequenced() {
            SequencingIndex(r.u24_le()?)
        } else {
            SequencingIndex::default()
        };
        let order = if reliability.has_channel() {
            let index = OrderingIndex(r.u24_le()?);
            Order { index, channel: Channel::new(r.u8()?).ok_or(ParseError::Channel)? }
        } else {
            Order { index: OrderingIndex::default(), channel: Channel::ZERO }
        };
        let split = if flags & SPLIT != 0 {
            let part = SplitPart { count: r.u32_be()?, id: SplitId(r.u16_be()?), index: r.u32_be()? };
            if part.index >= part.count {
                return Err(ParseError::Split);
            }
            Some(part)
        } else {
            None
        };
        let payload = r.take(len)?;
        Ok(Self { reliability: reliability.base(), reliable, sequencing, order, split, payload })
    }

    /// Appends the frame.
    #[inline]
    pub fn emit(&self, buf: &mut Vec<u8>) {
        let reliability = self.reliability.base();
        let split = if self.split.is_some() { SPLIT } else { 0 };
        let bits = u16::try_from(self.payload.len().saturating_mul(8)).unwrap_or(u16::MAX);
        debug_assert!(
            usize::from(bits) == self.payload.len().saturating_mul(8),
            "payload too long for a frame"
        );
        let [high, low] = bits.to_be_bytes();
        buf.extend_from_slice(&[((reliability as u8) << 5) | split, high, low]);
        if reliability.is_reliable() {
            buf.extend_from_slice(&self.reliable.0.to_le_bytes());
        }
        if reliability.is_sequenced() {
            buf.extend_from_slice(&self.sequencing.0.to_le_bytes());
        }
        if reliability.has_channel() {
            let [a, b, c] = self.order.index.0.to_le_bytes();
            buf.extend_from_slice(&[a, b, c, self.order.channel.get()]);
        }
        if let Some(part) = self.split {
            buf.extend_from_slice(&part.count.to_be_bytes());
            buf.extend_from_slice(&part.id.0.to_be_bytes());
            buf.extend_from_slice(&part.index.to_be_bytes());
        }
        buf.extend_from_slice(self.payload);
    }

    /// Returns the length that [`emit`](Self::emit) appends.
    pub const fn encoded_len(&self) -> usize {
        Self::header_len(self.reliability, self.split.is_some()).saturating_add(self.payload.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;

    fn order(index: u32, channel: u8) -> Order {
        Order { index: OrderingIndex(U24::new(index)), channel: Channel::new(channel).unwrap() }
    }

    #[test]
    fn a_reliable_ordered_part_has_its_known_bytes() {
        let frame = Frame {
            reliability: Reliability::ReliableOrdered,
            reliable: ReliableIndex(U24::new(0x0001_0203)),
            sequencing: SequencingIndex::default(),
            order: order(5, 7),
            split: Some(SplitPart { count: 3, id: SplitId(9), index: 2 }),
            payload: &[0xfe, 1],
        };
        let mut buf = vec![];
        frame.emit(&mut buf);
        assert_eq!(
            buf,
            [0x70, 0, 16, 3, 2, 1, 5, 0, 0, 7, 0, 0, 0, 3, 0, 9, 0, 0, 0, 2, 0xfe, 1],
            "flags, bits, reliable LE, order LE, channel, split BE, payload"
        );
        assert_eq!(Frame::parse(&mut Reader::new(&buf)), Ok(frame));
    }

    #[test]
    fn odd_bit_lengths_round_up_and_zero_is_refused() {
        let frame = Frame::parse(&mut Reader::new(&[0, 0, 9, 1, 2])).unwrap();
        assert_eq!(frame.payload, [1, 2]);
        assert_eq!(Frame::parse(&mut Reader::new(&[0, 0, 0])), Err(ParseError::Length));
    }

    #[test]
    fn receipt_modes_on_the_wire_are_read_as_their_base() {
        let frame = Frame::parse(&mut Reader::new(&[6 << 5, 0, 8, 1, 0, 0, 0xaa])).unwrap();
        assert_eq!((frame.reliability, frame.payload), (Reliability::Reliable, &[0xaa][..]));
    }

    #[test]
    fn channels_from_32_on_and_parts_outside_their_split_are_refused() {
        assert_eq!(
            Frame::parse(&mut Reader::new(&[0x60, 0, 8, 0, 0, 0, 0, 0, 0, 32, 1])),
            Err(ParseError::Channel)
        );
        let outside = [0x50, 0, 8, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 2, 1];
        assert_eq!(Frame::parse(&mut Reader::new(&outside)), Err(ParseError::Split));
        let none = [0x50, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
        assert_eq!(Frame::parse(&mut Reader::new(&none)), Err(ParseError::Split));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back_and_every_truncation_fails(
            mode in 0_u8..8, numbers in any::<[u32; 3]>(), channel in 0_u8..32,
            split in prop::option::of((1_u32.., any::<u16>(), any::<u32>())),
            payload in prop::collection::vec(any::<u8>(), 1..100),
        ) {
            let reliability = Reliability::try_from(mode).unwrap().base();
            let [reliable, sequencing, ordering] = numbers;
            let frame = Frame {
                reliability,
                reliable: ReliableIndex(U24::new(if reliability.is_reliable() { reliable } else { 0 })),
                sequencing: SequencingIndex(U24::new(if reliability.is_sequenced() { sequencing } else { 0 })),
                order: if reliability.has_channel() { order(ordering, channel) } else { order(0, 0) },
                split: split.map(|(count, id, index)| SplitPart { count, id: SplitId(id), index: index.checked_rem(count).unwrap_or(0) }),
                payload: &payload,
            };
            let mut buf = vec![];
            frame.emit(&mut buf);
            prop_assert_eq!(buf.len(), frame.encoded_len());
            prop_assert_eq!(Frame::parse(&mut Reader::new(&buf)), Ok(frame));
            for len in 0..buf.len() {
                prop_assert!(Frame::parse(&mut Reader::new(&buf[..len])).is_err());
            }
        }
    }
}
