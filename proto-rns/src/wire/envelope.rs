//! A message of a link's channel (spec 1.13).
//!
//! ```text
//! message type 2 | sequence 2 | length 2 | data
//! ```

use super::Malformed;
use alloc::vec::Vec;
use proto_core::Reader;

/// The plaintext of a channel packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope<'a> {
    /// What kind of message it is, for the application; from 0xF000 for the protocol itself.
    pub message_type: MessageType,
    /// Its number on the channel, modulo 65,536.
    pub sequence: u16,
    /// The message, at most [`Envelope::MAX_DATA`] bytes.
    pub data: &'a [u8],
}

impl<'a> Envelope<'a> {
    /// The length in front of the data.
    pub const HEADER: usize = 6;
    /// The most data that the length field can say.
    pub const MAX_DATA: usize = 65_535;

    /// Parses an envelope.
    ///
    /// # Errors
    /// It is cut off, or its length is not that of the data.
    pub fn parse(plaintext: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(plaintext);
        let (message_type, sequence) = (MessageType(reader.u16_be()?), reader.u16_be()?);
        let data = {
            let len = usize::from(reader.u16_be()?);
            reader.take(len)?
        };
        if !reader.is_empty() {
            return Err(Malformed::TooLong);
        }
        Ok(Self { message_type, sequence, data })
    }

    /// Appends the envelope. Data beyond [`Envelope::MAX_DATA`] are cut off.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let len = u16::try_from(self.data.len()).unwrap_or(u16::MAX);
        out.extend_from_slice(&self.message_type.0.to_be_bytes());
        out.extend_from_slice(&self.sequence.to_be_bytes());
        out.extend_from_slice(&len.to_be_bytes());
        out.extend_from_slice(self.data.get(..usize::from(len)).unwrap_or(self.data));
    }

    /// Returns the length of the envelope.
    pub const fn encoded_len(&self) -> usize {
        Self::HEADER + self.data.len()
    }
}

/// The kind of a channel's message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageType(pub u16);

impl MessageType {
    /// A piece of a stream (see [`StreamData`](super::StreamData)).
    pub const STREAM_DATA: Self = Self(0xff00);

    /// Says whether the kind belongs to the protocol rather than to applications.
    pub const fn is_reserved(self) -> bool {
        self.0 >= 0xf000
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_envelope_is_parsed_as_it_was_emitted(kind: u16, sequence: u16, data: Vec<u8>) {
            let envelope = Envelope { message_type: MessageType(kind), sequence, data: &data };
            let mut plaintext = Vec::new();
            envelope.emit(&mut plaintext);
            prop_assert_eq!(plaintext.len(), envelope.encoded_len());
            prop_assert_eq!(Envelope::parse(&plaintext), Ok(envelope));
            for len in 0..plaintext.len() {
                prop_assert!(Envelope::parse(&plaintext[..len]).is_err());
            }
            plaintext.push(0);
            prop_assert_eq!(Envelope::parse(&plaintext), Err(Malformed::TooLong));
        }
    }

    #[test]
    fn the_recorded_envelope_is_reproduced() {
        let envelope = Envelope { message_type: MessageType(0x0101), sequence: 0, data: b"chan!" };
        let mut plaintext = Vec::new();
        envelope.emit(&mut plaintext);
        assert_eq!(plaintext, b"\x01\x01\0\0\0\x05chan!");
    }

    #[test]
    fn data_beyond_the_length_field_are_cut_off_rather_than_misread() {
        let long = alloc::vec![7; 70_000];
        let mut plaintext = Vec::new();
        Envelope { message_type: MessageType(1), sequence: 2, data: &long }.emit(&mut plaintext);
        assert_eq!(Envelope::parse(&plaintext).map(|envelope| envelope.data.len()), Ok(65_535));
    }
}
