//! Pings and pongs outside connections: is a server there, and what does it say about itself?

use alloc::vec::Vec;

use proto_core::Reader;

use super::{MAGIC, MessageId, ParseError, magic};
use crate::guid::Guid;

/// The most bytes of free data a server may put into an [`UnconnectedPong`].
///
/// A pong answers 33 bytes from an unproved address, so this also bounds how far a server can be made to
/// amplify.
pub const MAX_PONG_DATA: usize = 399;

/// The message ids 0x01 and 0x02: asks for an [`UnconnectedPong`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnconnectedPing {
    /// Whether only a server that takes connections shall answer (id 0x02).
    pub open_only: bool,
    /// The sender's clock in milliseconds, which the pong echoes.
    pub time: u64,
    /// Who asks; some callers leave it out.
    pub guid: Option<Guid>,
}

impl UnconnectedPing {
    /// Parses what follows the id; `open_only` is what the id says.
    ///
    /// # Errors
    /// A [`ParseError`] when the bytes are no ping.
    pub fn parse(r: &mut Reader<'_>, open_only: bool) -> Result<Self, ParseError> {
        let time = r.u64_be()?;
        magic::expect(r)?;
        let guid = if r.is_empty() { None } else { Some(Guid(r.u64_be()?)) };
        Ok(Self { open_only, time, guid })
    }

    /// Appends the message.
    pub fn emit(&self, buf: &mut Vec<u8>) {
        buf.push(self.id().byte());
        buf.extend(self.time.to_be_bytes());
        buf.extend(MAGIC);
        buf.extend(self.guid.iter().flat_map(|guid| guid.0.to_be_bytes()));
    }

    /// Returns the length of the message: 33 bytes with a GUID, 25 without.
    pub const fn encoded_len(&self) -> usize {
        if self.guid.is_some() { 33 } else { 25 }
    }

    const fn id(&self) -> MessageId {
        if self.open_only { MessageId::UnconnectedPingOpenConnections } else { MessageId::UnconnectedPing }
    }
}

/// The message id 0x1c: answers an [`UnconnectedPing`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnconnectedPong<'a> {
    /// The time of the ping, echoed.
    pub time: u64,
    /// Who answers.
    pub guid: Guid,
    /// What the server says about itself: free bytes, for Bedrock the encoding of a
    /// [`Motd`](crate::motd::Motd).
    ///
    /// A server sends at most [`MAX_PONG_DATA`]; a reader takes what the datagram holds.
    pub data: &'a [u8],
}

impl<'a> UnconnectedPong<'a> {
    /// Parses what follows the id.
    ///
    /// # Errors
    /// A [`ParseError`] when the bytes are no pong.
    pub fn parse(r: &mut Reader<'a>) -> Result<Self, ParseError> {
        let time = r.u64_be()?;
        let guid = Guid(r.u64_be()?);
        magic::expect(r)?;
        Ok(Self { time, guid, data: r.take_rest() })
    }

    /// Appends the message.
    pub fn emit(&self, buf: &mut Vec<u8>) {
        buf.push(MessageId::UnconnectedPong.byte());
        buf.extend(self.time.to_be_bytes());
        buf.extend(self.guid.0.to_be_bytes());
        buf.extend(MAGIC);
        buf.extend(self.data);
    }

    /// Returns the length of the message: 33 bytes and the data.
    pub const fn encoded_len(&self) -> usize {
        self.data.len().saturating_add(33)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{MARK, any_bytes, any_guid, body, joined, refuses_every_truncation};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_ping_is_time_marker_and_guid() {
        let ping = UnconnectedPing { open_only: false, time: 0x1d, guid: Some(Guid(0x91c7_e465_c5ea_3814)) };
        let mut bytes = Vec::new();
        ping.emit(&mut bytes);
        let guid = [0x91, 0xc7, 0xe4, 0x65, 0xc5, 0xea, 0x38, 0x14];
        assert_eq!(bytes, joined(&[&[0x01, 0, 0, 0, 0, 0, 0, 0, 0x1d], MARK, &guid]));
    }

    #[test]
    fn a_pong_carries_its_guid_before_the_marker() {
        let pong = UnconnectedPong { time: 0x1d, guid: Guid(0x73a7_8352_35c6_66bc), data: b"MCPE" };
        let mut bytes = Vec::new();
        pong.emit(&mut bytes);
        let (time, guid) = ([0, 0, 0, 0, 0, 0, 0, 0x1d], [0x73, 0xa7, 0x83, 0x52, 0x35, 0xc6, 0x66, 0xbc]);
        assert_eq!(bytes, joined(&[&[0x1c], &time, &guid, MARK, b"MCPE"]));
    }

    #[test]
    fn a_ping_without_a_guid_parses_but_half_a_guid_does_not() {
        let bare = joined(&[&[0; 8], MARK]);
        let ping = UnconnectedPing { open_only: true, time: 0, guid: None };
        assert_eq!(UnconnectedPing::parse(&mut Reader::new(&bare), true), Ok(ping));
        let half = joined(&[&bare, &[0; 4]]);
        assert_eq!(UnconnectedPing::parse(&mut Reader::new(&half), true), Err(ParseError::Truncated));
    }

    proptest! {
        #[test]
        fn an_emitted_ping_parses_back(
            open_only: bool, time: u64, guid in proptest::option::of(any_guid()),
        ) {
            let ping = UnconnectedPing { open_only, time, guid };
            let mut bytes = Vec::new();
            ping.emit(&mut bytes);
            let body = body(&bytes, ping.id(), ping.encoded_len());
            prop_assert_eq!(UnconnectedPing::parse(&mut Reader::new(body), open_only), Ok(ping));
            refuses_every_truncation(&body[..24], |r| UnconnectedPing::parse(r, open_only));
        }

        #[test]
        fn an_emitted_pong_parses_back(time: u64, guid in any_guid(), data in any_bytes()) {
            let pong = UnconnectedPong { time, guid, data: &data };
            let mut bytes = Vec::new();
            pong.emit(&mut bytes);
            let body = body(&bytes, MessageId::UnconnectedPong, pong.encoded_len());
            prop_assert_eq!(UnconnectedPong::parse(&mut Reader::new(body)), Ok(pong));
            refuses_every_truncation(&body[..32], UnconnectedPong::parse);
        }
    }
}
