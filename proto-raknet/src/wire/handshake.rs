//! The three messages that turn a granted session into a connection.

use alloc::vec::Vec;
use core::net::SocketAddr;

use proto_core::Reader;

use super::{InternalAddresses, MessageId, ParseError, address};
use crate::guid::Guid;

/// The message id 0x09: the client asks to be connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionRequest<'a> {
    /// Who asks.
    pub guid: Guid,
    /// The client's clock in milliseconds, which the answer echoes.
    pub time: u64,
    /// The password, to the end of the message; empty when there is none.
    pub password: &'a [u8],
}

impl<'a> ConnectionRequest<'a> {
    /// Parses what follows the id; `r` must hold the message to its end.
    ///
    /// # Errors
    /// A [`ParseError`] when the bytes are no such request; [`ParseError::Encrypted`] when the client set the
    /// security flag, behind which the proofs of libcat would stand in front of the password.
    pub fn parse(r: &mut Reader<'a>) -> Result<Self, ParseError> {
        let guid = Guid(r.u64_be()?);
        let time = r.u64_be()?;
        match r.u8()? {
            0 => Ok(Self { guid, time, password: r.take_rest() }),
            _ => Err(ParseError::Encrypted),
        }
    }

    /// Appends the message.
    pub fn emit(&self, buf: &mut Vec<u8>) {
        buf.push(MessageId::ConnectionRequest.byte());
        buf.extend(self.guid.0.to_be_bytes());
        buf.extend(self.time.to_be_bytes());
        buf.push(0);
        buf.extend(self.password);
    }

    /// Returns the length of the message: 18 bytes and the password.
    pub const fn encoded_len(&self) -> usize {
        self.password.len().saturating_add(18)
    }
}

/// The message id 0x10: the server connects the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionRequestAccepted {
    /// The client's address as the server sees it.
    pub client: SocketAddr,
    /// The client's slot in the server's table; some servers always write 0.
    pub system_index: u16,
    /// The addresses the server claims to have.
    pub internal: InternalAddresses,
    /// The time of the request, echoed.
    pub request_time: u64,
    /// The server's clock in milliseconds, which the client echoes.
    pub accepted_time: u64,
}

impl ConnectionRequestAccepted {
    /// Parses what follows the id; `r` must hold the message to its end.
    ///
    /// A message cut off by exactly one address reads like one with an address less, and wrong times.
    ///
    /// # Errors
    /// A [`ParseError`] when the bytes are no such answer.
    pub fn parse(r: &mut Reader<'_>) -> Result<Self, ParseError> {
        Ok(Self {
            client: address::parse(r)?,
            system_index: r.u16_be()?,
            internal: InternalAddresses::parse(r)?,
            request_time: r.u64_be()?,
            accepted_time: r.u64_be()?,
        })
    }

    /// Appends the message.
    pub fn emit(&self, buf: &mut Vec<u8>) {
        buf.push(MessageId::ConnectionRequestAccepted.byte());
        address::emit(self.client, buf);
        buf.extend(self.system_index.to_be_bytes());
        self.internal.emit(buf);
        buf.extend(self.request_time.to_be_bytes());
        buf.extend(self.accepted_time.to_be_bytes());
    }

    /// Returns the length of the message: 166 bytes for 20 internal addresses, all over IPv4.
    pub fn encoded_len(&self) -> usize {
        address::encoded_len(self.client).saturating_add(self.internal.encoded_len()).saturating_add(19)
    }
}

/// The message id 0x13: the client confirms, which proves that the server's answer reached it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewIncomingConnection {
    /// The server's address as the client sees it.
    pub server: SocketAddr,
    /// The addresses the client claims to have.
    pub internal: InternalAddresses,
    /// The server's time from the answer, echoed; clients that misread the answer echo something else.
    pub accepted_time: u64,
    /// The client's clock in milliseconds.
    pub time: u64,
}

impl NewIncomingConnection {
    /// Parses what follows the id; `r` must hold the message to its end.
    ///
    /// A message cut off by exactly one address reads like one with an address less, and wrong times.
    ///
    /// # Errors
    /// A [`ParseError`] when the bytes are no such confirmation.
    pub fn parse(r: &mut Reader<'_>) -> Result<Self, ParseError> {
        Ok(Self {
            server: address::parse(r)?,
            internal: InternalAddresses::parse(r)?,
            accepted_time: r.u64_be()?,
            time: r.u64_be()?,
        })
    }

    /// Appends the message.
    pub fn emit(&self, buf: &mut Vec<u8>) {
        buf.push(MessageId::NewIncomingConnection.byte());
        address::emit(self.server, buf);
        self.internal.emit(buf);
        buf.extend(self.accepted_time.to_be_bytes());
        buf.extend(self.time.to_be_bytes());
    }

    /// Returns the length of the message: 164 bytes for 20 internal addresses, all over IPv4.
    pub fn encoded_len(&self) -> usize {
        address::encoded_len(self.server).saturating_add(self.internal.encoded_len()).saturating_add(17)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{any_address, any_bytes, any_guid, body, joined, refuses_every_truncation};
    use super::*;
    use proptest::prelude::*;

    /// `04 ff ff ff ff 00 00`, `count` times.
    fn fillers(count: usize) -> Vec<u8> {
        [4, 0xff, 0xff, 0xff, 0xff, 0, 0].repeat(count)
    }

    fn any_internal() -> impl Strategy<Value = InternalAddresses> {
        proptest::collection::vec(any_address(), 0..=InternalAddresses::MAX)
            .prop_map(InternalAddresses::from_iter)
    }

    /// Checks every truncation that cannot look like a message with fewer internal addresses.
    fn refuses_ambiguous_truncations_only<T: core::fmt::Debug>(
        body: &[u8],
        parse: impl Fn(&mut Reader<'_>) -> Result<T, ParseError>,
    ) {
        for len in (body.len().saturating_sub(7)..body.len()).skip(1) {
            assert!(parse(&mut Reader::new(&body[..len])).is_err(), "the first {len} bytes");
        }
    }

    #[test]
    fn a_request_is_guid_time_and_no_security() {
        let request = ConnectionRequest { guid: Guid(0x91c7_e465_c5ea_3814), time: 0x1e, password: b"pw" };
        let mut bytes = Vec::new();
        request.emit(&mut bytes);
        let guid = [0x91, 0xc7, 0xe4, 0x65, 0xc5, 0xea, 0x38, 0x14];
        assert_eq!(bytes, joined(&[&[0x09], &guid, &[0, 0, 0, 0, 0, 0, 0, 0x1e, 0], b"pw"]));
    }

    #[test]
    fn a_request_that_wants_security_is_named_encrypted() {
        let bytes = joined(&[&[0; 16], &[1], &[0x55; 33]]);
        assert_eq!(ConnectionRequest::parse(&mut Reader::new(&bytes)), Err(ParseError::Encrypted));
    }

    #[test]
    fn an_acceptance_lists_addresses_between_slot_and_times() {
        let accepted = ConnectionRequestAccepted {
            client: "127.0.0.1:59667".parse().unwrap(),
            system_index: 3,
            internal: InternalAddresses::unassigned(20),
            request_time: 0x1e,
            accepted_time: 0x77f,
        };
        let mut bytes = Vec::new();
        accepted.emit(&mut bytes);
        let head = [0x10, 4, 0x80, 0xff, 0xff, 0xfe, 0xe9, 0x13, 0, 3];
        let times = [0, 0, 0, 0, 0, 0, 0, 0x1e, 0, 0, 0, 0, 0, 0, 0x07, 0x7f];
        assert_eq!(bytes, joined(&[&head, &fillers(20), &times]));
    }

    #[test]
    fn a_confirmation_lists_addresses_between_server_and_times() {
        let confirmation = NewIncomingConnection {
            server: "127.0.0.1:31104".parse().unwrap(),
            internal: InternalAddresses::unassigned(10),
            accepted_time: 0x77f,
            time: 0x33,
        };
        let mut bytes = Vec::new();
        confirmation.emit(&mut bytes);
        let head = [0x13, 4, 0x80, 0xff, 0xff, 0xfe, 0x79, 0x80];
        let times = [0, 0, 0, 0, 0, 0, 0x07, 0x7f, 0, 0, 0, 0, 0, 0, 0, 0x33];
        assert_eq!(bytes, joined(&[&head, &fillers(10), &times]));
    }

    #[test]
    fn an_internal_address_of_an_unknown_family_is_refused() {
        let server = [4, 0x80, 0xff, 0xff, 0xfe, 0x79, 0x80];
        let bytes = joined(&[&server, &[9], &[0; 40]]);
        assert_eq!(NewIncomingConnection::parse(&mut Reader::new(&bytes)), Err(ParseError::Address(9)));
    }

    proptest! {
        #[test]
        fn an_emitted_request_parses_back(guid in any_guid(), time: u64, password in any_bytes()) {
            let request = ConnectionRequest { guid, time, password: &password };
            let mut bytes = Vec::new();
            request.emit(&mut bytes);
            let body = body(&bytes, MessageId::ConnectionRequest, request.encoded_len());
            prop_assert_eq!(ConnectionRequest::parse(&mut Reader::new(body)), Ok(request));
            refuses_every_truncation(&body[..17], ConnectionRequest::parse);
        }

        #[test]
        fn an_emitted_acceptance_parses_back(
            client in any_address(), system_index: u16, internal in any_internal(), request_time: u64,
            accepted_time: u64,
        ) {
            let accepted = ConnectionRequestAccepted { client, system_index, internal, request_time, accepted_time };
            let mut bytes = Vec::new();
            accepted.emit(&mut bytes);
            let body = body(&bytes, MessageId::ConnectionRequestAccepted, accepted.encoded_len());
            prop_assert_eq!(ConnectionRequestAccepted::parse(&mut Reader::new(body)), Ok(accepted));
            refuses_ambiguous_truncations_only(body, ConnectionRequestAccepted::parse);
        }

        #[test]
        fn an_emitted_confirmation_parses_back(
            server in any_address(), internal in any_internal(), accepted_time: u64, time: u64,
        ) {
            let confirmation = NewIncomingConnection { server, internal, accepted_time, time };
            let mut bytes = Vec::new();
            confirmation.emit(&mut bytes);
            let body = body(&bytes, MessageId::NewIncomingConnection, confirmation.encoded_len());
            prop_assert_eq!(NewIncomingConnection::parse(&mut Reader::new(body)), Ok(confirmation));
            refuses_ambiguous_truncations_only(body, NewIncomingConnection::parse);
        }
    }
}
