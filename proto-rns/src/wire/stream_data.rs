//! A piece of a stream on a link's channel (spec 1.13).
//!
//! ```text
//! end 1 bit | compressed 1 bit | stream id 14 bits | data
//! ```

use super::Malformed;
use alloc::vec::Vec;
use proto_core::Reader;

/// The data of a channel message of type 0xFF00.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamData<'a> {
    /// The stream.
    pub stream: StreamId,
    /// Whether nothing follows on the stream.
    pub end: bool,
    /// Whether the data are a bz2 stream.
    pub compressed: bool,
    /// The piece; empty where only the end is told.
    pub data: &'a [u8],
}

impl<'a> StreamData<'a> {
    /// The length in front of the data.
    pub const HEADER: usize = 2;

    /// Parses a piece.
    ///
    /// # Errors
    /// It is cut off.
    pub fn parse(message: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(message);
        let header = reader.u16_be()?;
        Ok(Self {
            stream: StreamId(header & StreamId::MAX.0),
            end: header & 0x8000 != 0,
            compressed: header & 0x4000 != 0,
            data: reader.rest(),
        })
    }

    /// Appends the piece.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let flags = u16::from(self.end) << 15 | u16::from(self.compressed) << 14;
        out.extend_from_slice(&(flags | self.stream.0 & StreamId::MAX.0).to_be_bytes());
        out.extend_from_slice(self.data);
    }

    /// Returns the length of the piece.
    pub const fn encoded_len(&self) -> usize {
        Self::HEADER + self.data.len()
    }
}

/// The number of a stream, at most [`StreamId::MAX`]; both directions of a link count for themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId(u16);

impl StreamId {
    /// The largest of 14 bits.
    pub const MAX: Self = Self(0x3fff);

    /// Takes a number; `None` where it needs more than 14 bits.
    pub const fn new(number: u16) -> Option<Self> {
        if number > Self::MAX.0 { None } else { Some(Self(number)) }
    }

    /// Returns the number.
    pub const fn get(self) -> u16 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_piece_is_parsed_as_it_was_emitted(number in 0..0x4000_u16, end: bool, compressed: bool, data: Vec<u8>) {
            let piece = StreamData { stream: StreamId(number), end, compressed, data: &data };
            let mut message = Vec::new();
            piece.emit(&mut message);
            prop_assert_eq!(message.len(), piece.encoded_len());
            prop_assert_eq!(StreamData::parse(&message), Ok(piece));
        }
    }

    #[test]
    fn the_recorded_pieces_are_reproduced() {
        let emitted = |end, compressed, data| {
            let mut message = Vec::new();
            StreamData { stream: StreamId(3), end, compressed, data }.emit(&mut message);
            message
        };
        assert_eq!(emitted(false, false, b"stream bytes"), b"\0\x03stream bytes");
        assert_eq!(emitted(true, false, b""), b"\x80\x03");
        assert_eq!(emitted(false, true, b"BZh9")[..2], [0x40, 0x03]);
    }

    #[test]
    fn every_truncation_of_the_header_is_an_error() {
        assert_eq!(StreamData::parse(&[]), Err(Malformed::Truncated));
        assert_eq!(StreamData::parse(&[0x80]), Err(Malformed::Truncated));
        assert_eq!(StreamId::new(0x4000), None);
    }
}
