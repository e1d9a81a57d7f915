//! Datagrams of the application outside connections.

use alloc::vec::Vec;

use proto_core::Reader;

use super::{MAGIC, MessageId, ParseError, magic};
use crate::guid::Guid;

/// The message id 0x0d: carries an application's bytes to a system that need not be connected.
///
/// It is neither ordered nor resent, and its sender is not proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfBand<'a> {
    /// Who sends.
    pub guid: Guid,
    /// The application's bytes, at most [`MAX_OUT_OF_BAND`](crate::limits::MAX_OUT_OF_BAND) by a well-behaved
    /// sender.
    pub payload: &'a [u8],
}

impl<'a> OutOfBand<'a> {
    /// Parses what follows the id.
    ///
    /// # Errors
    /// A [`ParseError`] when the bytes are no such message.
    pub fn parse(r: &mut Reader<'a>) -> Result<Self, ParseError> {
        let guid = Guid(r.u64_be()?);
        magic::expect(r)?;
        Ok(Self { guid, payload: r.take_rest() })
    }

    /// Returns the advertisement that the payload is, if it is one.
    pub fn advertisement(&self) -> Option<AdvertiseSystem<'a>> {
        let (&ADVERTISE, data) = self.payload.split_first()? else { return None };
        Some(AdvertiseSystem { guid: self.guid, data })
    }

    /// Appends the message.
    pub fn emit(&self, buf: &mut Vec<u8>) {
        emit_header(self.guid, buf);
        buf.extend(self.payload);
    }

    /// Returns the length of the message: 25 bytes and the payload.
    pub const fn encoded_len(&self) -> usize {
        self.payload.len().saturating_add(HEADER_LEN)
    }
}

/// An [`OutOfBand`] message whose payload starts with the id 0x1d: a system makes itself known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdvertiseSystem<'a> {
    /// Who makes itself known.
    pub guid: Guid,
    /// What it says about itself, at most [`MAX_OUT_OF_BAND`](crate::limits::MAX_OUT_OF_BAND) less the id by
    /// a well-behaved sender.
    pub data: &'a [u8],
}

impl<'a> AdvertiseSystem<'a> {
    /// Parses what follows the out-of-band id.
    ///
    /// # Errors
    /// A [`ParseError`] when the bytes are no advertisement; [`ParseError::Id`] when the payload is another.
    pub fn parse(r: &mut Reader<'a>) -> Result<Self, ParseError> {
        let message = OutOfBand::parse(r)?;
        message.advertisement().ok_or_else(|| match message.payload.first() {
            Some(&other) => ParseError::Id(other),
            None => ParseError::Truncated,
        })
    }

    /// Appends the message.
    pub fn emit(&self, buf: &mut Vec<u8>) {
        emit_header(self.guid, buf);
        buf.push(ADVERTISE);
        buf.extend(self.data);
    }

    /// Returns the length of the message: 26 bytes and the data.
    pub const fn encoded_len(&self) -> usize {
        self.data.len().saturating_add(HEADER_LEN).saturating_add(1)
    }
}

fn emit_header(guid: Guid, buf: &mut Vec<u8>) {
    buf.push(MessageId::OutOfBandInternal.byte());
    buf.extend(guid.0.to_be_bytes());
    buf.extend(MAGIC);
}

const ADVERTISE: u8 = MessageId::AdvertiseSystem.byte();

/// Id, GUID, marker.
const HEADER_LEN: usize = 1 + 8 + 16;

#[cfg(test)]
mod tests {
    use super::super::testing::{MARK, any_bytes, any_guid, body, joined, refuses_every_truncation};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_guid_stands_before_the_marker() {
        let mut bytes = Vec::new();
        OutOfBand { guid: Guid(5), payload: b"hi" }.emit(&mut bytes);
        assert_eq!(bytes, joined(&[&[0x0d, 0, 0, 0, 0, 0, 0, 0, 5], MARK, b"hi"]));
    }

    #[test]
    fn an_advertisement_is_an_out_of_band_payload_with_its_own_id() {
        let mut bytes = Vec::new();
        AdvertiseSystem { guid: Guid(5), data: b"hi" }.emit(&mut bytes);
        let outer = OutOfBand::parse(&mut Reader::new(&bytes[1..])).unwrap();
        assert_eq!(outer.payload, b"\x1dhi");
    }

    #[test]
    fn another_payload_is_no_advertisement() {
        let mut bytes = Vec::new();
        OutOfBand { guid: Guid(5), payload: b"hi" }.emit(&mut bytes);
        assert_eq!(AdvertiseSystem::parse(&mut Reader::new(&bytes[1..])), Err(ParseError::Id(b'h')));
    }

    proptest! {
        #[test]
        fn an_emitted_message_parses_back(guid in any_guid(), payload in any_bytes()) {
            let message = OutOfBand { guid, payload: &payload };
            let mut bytes = Vec::new();
            message.emit(&mut bytes);
            let body = body(&bytes, MessageId::OutOfBandInternal, message.encoded_len());
            prop_assert_eq!(OutOfBand::parse(&mut Reader::new(body)), Ok(message));
            refuses_every_truncation(&body[..24], OutOfBand::parse);
        }

        #[test]
        fn an_emitted_advertisement_parses_back(guid in any_guid(), data in any_bytes()) {
            let message = AdvertiseSystem { guid, data: &data };
            let mut bytes = Vec::new();
            message.emit(&mut bytes);
            let body = body(&bytes, MessageId::OutOfBandInternal, message.encoded_len());
            prop_assert_eq!(AdvertiseSystem::parse(&mut Reader::new(body)), Ok(message));
            refuses_every_truncation(&body[..25], AdvertiseSystem::parse);
        }
    }
}
