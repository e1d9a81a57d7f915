//! Pings, pongs and the bare signals of a connection.

use alloc::vec::Vec;

use proto_core::Reader;

use super::{MessageId, ParseError};
use crate::guid::Guid;

/// The message id 0x00: asks for a [`ConnectedPong`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectedPing {
    /// The sender's clock in milliseconds, which the pong echoes.
    pub time: u64,
}

impl ConnectedPing {
    /// Parses what follows the id.
    ///
    /// # Errors
    /// [`ParseError::Truncated`] when the time is not there.
    pub fn parse(r: &mut Reader<'_>) -> Result<Self, ParseError> {
        Ok(Self { time: r.u64_be()? })
    }

    /// Appends the message.
    pub fn emit(&self, buf: &mut Vec<u8>) {
        buf.push(MessageId::ConnectedPing.byte());
        buf.extend(self.time.to_be_bytes());
    }

    /// Returns the length of the message, 9 bytes.
    pub const fn encoded_len(&self) -> usize {
        9
    }
}

/// The message id 0x03: answers a [`ConnectedPing`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectedPong {
    /// The time of the ping, echoed.
    pub ping_time: u64,
    /// The sender's clock in milliseconds.
    pub pong_time: u64,
}

impl ConnectedPong {
    /// Parses what follows the id.
    ///
    /// # Errors
    /// [`ParseError::Truncated`] when a time is not there.
    pub fn parse(r: &mut Reader<'_>) -> Result<Self, ParseError> {
        Ok(Self { ping_time: r.u64_be()?, pong_time: r.u64_be()? })
    }

    /// Appends the message.
    pub fn emit(&self, buf: &mut Vec<u8>) {
        buf.push(MessageId::ConnectedPong.byte());
        buf.extend(self.ping_time.to_be_bytes());
        buf.extend(self.pong_time.to_be_bytes());
    }

    /// Returns the length of the message, 17 bytes.
    pub const fn encoded_len(&self) -> usize {
        17
    }
}

/// The message id 0x04: asks for nothing but the acknowledgement of the frame it travels in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DetectLostConnections;

impl DetectLostConnections {
    /// Parses what follows the id: nothing that matters.
    ///
    /// # Errors
    /// None; the result is that of all messages.
    pub const fn parse(_: &mut Reader<'_>) -> Result<Self, ParseError> {
        Ok(Self)
    }

    /// Appends the message.
    pub fn emit(&self, buf: &mut Vec<u8>) {
        buf.push(MessageId::DetectLostConnections.byte());
    }

    /// Returns the length of the message, 1 byte.
    pub const fn encoded_len(&self) -> usize {
        1
    }
}

/// The message id 0x15: closes the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DisconnectionNotification;

impl DisconnectionNotification {
    /// Parses what follows the id: nothing that matters.
    ///
    /// # Errors
    /// None; the result is that of all messages.
    pub const fn parse(_: &mut Reader<'_>) -> Result<Self, ParseError> {
        Ok(Self)
    }

    /// Appends the message.
    pub fn emit(&self, buf: &mut Vec<u8>) {
        buf.push(MessageId::DisconnectionNotification.byte());
    }

    /// Returns the length of the message, 1 byte.
    pub const fn encoded_len(&self) -> usize {
        1
    }
}

/// The message id 0x18: the server did not like the password of the connection request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidPassword {
    /// Who refuses.
    pub guid: Guid,
}

impl InvalidPassword {
    /// Parses what follows the id.
    ///
    /// # Errors
    /// [`ParseError::Truncated`] when the GUID is not there.
    pub fn parse(r: &mut Reader<'_>) -> Result<Self, ParseError> {
        Ok(Self { guid: Guid(r.u64_be()?) })
    }

    /// Appends the message.
    pub fn emit(&self, buf: &mut Vec<u8>) {
        buf.push(MessageId::InvalidPassword.byte());
        buf.extend(self.guid.0.to_be_bytes());
    }

    /// Returns the length of the message, 9 bytes.
    pub const fn encoded_len(&self) -> usize {
        9
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{any_guid, body, refuses_every_truncation};
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;

    #[test]
    fn the_messages_have_their_known_bytes() {
        let mut bytes = vec![];
        ConnectedPing { time: 0x1d }.emit(&mut bytes);
        assert_eq!(bytes, [0x00, 0, 0, 0, 0, 0, 0, 0, 0x1d]);
        bytes.clear();
        ConnectedPong { ping_time: 1, pong_time: 2 }.emit(&mut bytes);
        assert_eq!(bytes, [0x03, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2]);
        bytes.clear();
        DetectLostConnections.emit(&mut bytes);
        assert_eq!(bytes, [0x04]);
        bytes.clear();
        DisconnectionNotification.emit(&mut bytes);
        assert_eq!(bytes, [0x15]);
        bytes.clear();
        InvalidPassword { guid: Guid(9) }.emit(&mut bytes);
        assert_eq!(bytes, [0x18, 0, 0, 0, 0, 0, 0, 0, 9]);
    }

    proptest! {
        #[test]
        fn an_emitted_ping_parses_back(time: u64) {
            let ping = ConnectedPing { time };
            let mut bytes = vec![];
            ping.emit(&mut bytes);
            let body = body(&bytes, MessageId::ConnectedPing, ping.encoded_len());
            prop_assert_eq!(ConnectedPing::parse(&mut Reader::new(body)), Ok(ping));
            refuses_every_truncation(body, ConnectedPing::parse);
        }

        #[test]
        fn an_emitted_pong_parses_back(ping_time: u64, pong_time: u64) {
            let pong = ConnectedPong { ping_time, pong_time };
            let mut bytes = vec![];
            pong.emit(&mut bytes);
            let body = body(&bytes, MessageId::ConnectedPong, pong.encoded_len());
            prop_assert_eq!(ConnectedPong::parse(&mut Reader::new(body)), Ok(pong));
            refuses_every_truncation(body, ConnectedPong::parse);
        }

        #[test]
        fn an_emitted_password_refusal_parses_back(guid in any_guid()) {
            let refusal = InvalidPassword { guid };
            let mut bytes = vec![];
            refusal.emit(&mut bytes);
            let body = body(&bytes, MessageId::InvalidPassword, refusal.encoded_len());
            prop_assert_eq!(InvalidPassword::parse(&mut Reader::new(body)), Ok(refusal));
            refuses_every_truncation(body, InvalidPassword::parse);
        }
    }
}
