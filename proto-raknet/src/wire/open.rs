//! The four messages that negotiate an MTU and grant a session, before any session exists.
//!
//! "MTU" on the wire is the size of the IP datagram over IPv4, also where the path is IPv6.

use alloc::vec::Vec;
use core::net::SocketAddr;

use proto_core::Reader;

use super::{MAGIC, MessageId, ParseError, ProtocolVersion, address, magic};
use crate::{guid::Guid, limits};

/// The length of the public key that a libcat server puts into its first reply.
const LIBCAT_PUBLIC_KEY_LEN: usize = 64;

/// The message id 0x05: probes whether a datagram of this size arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenConnectionRequest1 {
    /// The version the client speaks.
    pub protocol: ProtocolVersion,
    /// The length of the whole UDP payload, padding included: the size is the probe.
    ///
    /// Emitting pads with zeros up to it; less than [`MIN_LEN`](Self::MIN_LEN) pads nothing.
    pub datagram_len: usize,
}

impl OpenConnectionRequest1 {
    /// The length without padding: id, marker, version.
    pub const MIN_LEN: usize = 1 + 16 + 1;

    /// Parses what follows the id; `r` must hold the datagram to its end.
    ///
    /// # Errors
    /// A [`ParseError`] when the bytes are no such request.
    pub fn parse(r: &mut Reader<'_>) -> Result<Self, ParseError> {
        let datagram_len = r.remaining().saturating_add(1);
        magic::expect(r)?;
        let protocol = ProtocolVersion(r.u8()?);
        r.take_rest();
        Ok(Self { protocol, datagram_len })
    }

    /// Appends the message and its padding.
    pub fn emit(&self, buf: &mut Vec<u8>) {
        let end = buf.len().saturating_add(self.encoded_len());
        buf.push(MessageId::OpenConnectionRequest1.byte());
        buf.extend(MAGIC);
        buf.push(self.protocol.0);
        buf.resize(end, 0);
    }

    /// Returns the length of the message with its padding.
    pub fn encoded_len(&self) -> usize {
        self.datagram_len.max(Self::MIN_LEN)
    }

    /// Returns the MTU that the arrival of this datagram proves; more than 65,535 counts as that.
    pub fn mtu(&self) -> u16 {
        u16::try_from(self.encoded_len()).unwrap_or(u16::MAX).saturating_add(limits::IP_UDP_HEADERS)
    }
}

/// The message id 0x06: answers a probe without keeping anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenConnectionReply1 {
    /// Who answers.
    pub guid: Guid,
    /// Opaque bytes that the client must bring back to prove that it receives at its address.
    pub cookie: Option<u32>,
    /// The largest MTU both the probe and the server allow.
    pub mtu: u16,
}

impl OpenConnectionReply1 {
    /// Parses what follows the id.
    ///
    /// Some servers pad the reply to the size of the probe; what follows the MTU is ignored.
    ///
    /// # Errors
    /// A [`ParseError`] when the bytes are no such reply; [`ParseError::Encrypted`] when the server sends a
    /// public key, that is when the message has exactly the length of one with a key.
    pub fn parse(r: &mut Reader<'_>) -> Result<Self, ParseError> {
        magic::expect(r)?;
        let guid = Guid(r.u64_be()?);
        let cookie = match r.u8()? {
            0 => None,
            _ => {
                let cookie = r.u32_be()?;
                if r.remaining() == LIBCAT_PUBLIC_KEY_LEN.saturating_add(2) {
                    return Err(ParseError::Encrypted);
                }
                Some(cookie)
            }
        };
        Ok(Self { guid, cookie, mtu: r.u16_be()? })
    }

    /// Appends the message.
    pub fn emit(&self, buf: &mut Vec<u8>) {
        buf.push(MessageId::OpenConnectionReply1.byte());
        buf.extend(MAGIC);
        buf.extend(self.guid.0.to_be_bytes());
        buf.push(self.cookie.is_some().into());
        buf.extend(self.cookie.iter().flat_map(|cookie| cookie.to_be_bytes()));
        buf.extend(self.mtu.to_be_bytes());
    }

    /// Returns the length of the message: 32 bytes with a cookie, 28 without.
    pub const fn encoded_len(&self) -> usize {
        if self.cookie.is_some() { 32 } else { 28 }
    }
}

/// The message id 0x07: asks for a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenConnectionRequest2 {
    /// The cookie of the server's first reply, if it had one.
    pub cookie: Option<u32>,
    /// The server's address as the client sees it.
    pub server: SocketAddr,
    /// The MTU the client settled on.
    pub mtu: u16,
    /// Who asks.
    pub guid: Guid,
}

impl OpenConnectionRequest2 {
    /// The length of libcat's challenge.
    const CHALLENGE: usize = 64;
    /// An IPv4 address, the MTU and the GUID.
    const SHORTEST_AFTER_CHALLENGE: usize = 17;

    /// Parses what follows the id.
    ///
    /// Nothing in the message says whether a cookie is there: `with_cookie` must be whether this server's
    /// first reply carries one.
    ///
    /// # Errors
    /// A [`ParseError`] when the bytes are no such request; [`ParseError::Encrypted`] when a libcat challenge
    /// follows the cookie.
    pub fn parse(r: &mut Reader<'_>, with_cookie: bool) -> Result<Self, ParseError> {
        magic::expect(r)?;
        let cookie = if with_cookie { Some(Self::parse_cookie(r)?) } else { None };
        let server = address::parse(r)?;
        let mtu = r.u16_be()?;
        Ok(Self { cookie, server, mtu, guid: Guid(r.u64_be()?) })
    }

    fn parse_cookie(r: &mut Reader<'_>) -> Result<u32, ParseError> {
        let cookie = r.u32_be()?;
        let announced = r.u8()? != 0;
        // tokio-raknet announces a challenge with every cookie, and sends none: the length tells.
        if announced && r.remaining() >= Self::CHALLENGE + Self::SHORTEST_AFTER_CHALLENGE {
            return Err(ParseError::Encrypted);
        }
        Ok(cookie)
    }

    /// Appends the message.
    pub fn emit(&self, buf: &mut Vec<u8>) {
        buf.push(MessageId::OpenConnectionRequest2.byte());
        buf.extend(MAGIC);
        if let Some(cookie) = self.cookie {
            buf.extend(cookie.to_be_bytes());
            buf.push(0);
        }
        address::emit(self.server, buf);
        buf.extend(self.mtu.to_be_bytes());
        buf.extend(self.guid.0.to_be_bytes());
    }

    /// Returns the length of the message: over IPv4 39 bytes with a cookie, 34 without.
    pub const fn encoded_len(&self) -> usize {
        let fixed: usize = if self.cookie.is_some() { 32 } else { 27 };
        fixed.saturating_add(address::encoded_len(self.server))
    }
}

/// The message id 0x08: grants a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenConnectionReply2 {
    /// Who answers.
    pub guid: Guid,
    /// The client's address as the server sees it.
    pub client: SocketAddr,
    /// The MTU of the session.
    pub mtu: u16,
    /// Whether the server goes on encrypted, if there was a challenge; its answer then follows and is not parsed.
    pub security: bool,
}

impl OpenConnectionReply2 {
    /// The security flag is a single bit in a byte of its own.
    const SECURITY: u8 = 0x80;

    /// Parses what follows the id.
    ///
    /// # Errors
    /// A [`ParseError`] when the bytes are no such reply.
    pub fn parse(r: &mut Reader<'_>) -> Result<Self, ParseError> {
        magic::expect(r)?;
        let guid = Guid(r.u64_be()?);
        let client = address::parse(r)?;
        let mtu = r.u16_be()?;
        Ok(Self { guid, client, mtu, security: r.u8()? != 0 })
    }

    /// Appends the message.
    pub fn emit(&self, buf: &mut Vec<u8>) {
        buf.push(MessageId::OpenConnectionReply2.byte());
        buf.extend(MAGIC);
        buf.extend(self.guid.0.to_be_bytes());
        address::emit(self.client, buf);
        buf.extend(self.mtu.to_be_bytes());
        buf.push(if self.security { Self::SECURITY } else { 0 });
    }

    /// Returns the length of the message: 35 bytes over IPv4.
    pub const fn encoded_len(&self) -> usize {
        address::encoded_len(self.client).saturating_add(28)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{MARK, any_address, any_guid, body, joined, refuses_every_truncation};
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;

    const GUID: Guid = Guid(0x73a7_8352_35c6_66bc);
    const GUID_BYTES: [u8; 8] = [0x73, 0xa7, 0x83, 0x52, 0x35, 0xc6, 0x66, 0xbc];

    #[test]
    fn a_probe_fills_the_datagram_with_zeros() {
        let request = OpenConnectionRequest1 { protocol: ProtocolVersion::BEDROCK, datagram_len: 1464 };
        let mut bytes = Vec::new();
        request.emit(&mut bytes);
        assert_eq!(bytes, joined(&[&[0x05], MARK, &[11], &vec![0; 1446]]));
        assert_eq!(request.mtu(), 1492);
    }

    #[test]
    fn a_probe_that_could_not_hold_its_fields_is_as_long_as_they_are() {
        let request = OpenConnectionRequest1 { protocol: ProtocolVersion::STOCK, datagram_len: 3 };
        let mut bytes = vec![0xaa];
        request.emit(&mut bytes);
        assert_eq!(bytes, joined(&[&[0xaa, 0x05], MARK, &[6]]));
        let huge = OpenConnectionRequest1 { datagram_len: usize::MAX, ..request };
        assert_eq!(huge.mtu(), u16::MAX);
    }

    #[test]
    fn a_first_reply_with_a_cookie_has_32_bytes() {
        let reply = OpenConnectionReply1 { guid: GUID, cookie: Some(0x094e_ce8d), mtu: 1492 };
        let mut bytes = Vec::new();
        reply.emit(&mut bytes);
        assert_eq!(bytes, joined(&[&[0x06], MARK, &GUID_BYTES, &[1, 0x09, 0x4e, 0xce, 0x8d, 0x05, 0xd4]]));
    }

    #[test]
    fn a_first_reply_padded_to_the_probes_size_parses() {
        let padded = joined(&[MARK, &GUID_BYTES, &[0, 0x05, 0xd4], &[0; 1436]]);
        let reply = OpenConnectionReply1 { guid: GUID, cookie: None, mtu: 1492 };
        assert_eq!(OpenConnectionReply1::parse(&mut Reader::new(&padded)), Ok(reply));
    }

    #[test]
    fn a_first_reply_with_a_public_key_is_named_encrypted() {
        let libcat = joined(&[MARK, &GUID_BYTES, &[1, 1, 2, 3, 4], &[0x55; 64], &[0x05, 0xd4]]);
        assert_eq!(OpenConnectionReply1::parse(&mut Reader::new(&libcat)), Err(ParseError::Encrypted));
    }

    #[test]
    fn a_second_request_carries_cookie_and_empty_challenge_before_the_address() {
        let request = OpenConnectionRequest2 {
            cookie: Some(0x094e_ce8d),
            server: "127.0.0.1:31064".parse().unwrap(),
            mtu: 1492,
            guid: GUID,
        };
        let mut bytes = Vec::new();
        request.emit(&mut bytes);
        let (cookie, server) = ([0x09, 0x4e, 0xce, 0x8d, 0], [4, 0x80, 0xff, 0xff, 0xfe, 0x79, 0x58]);
        assert_eq!(bytes, joined(&[&[0x07], MARK, &cookie, &server, &[0x05, 0xd4], &GUID_BYTES]));
    }

    #[test]
    fn a_second_request_with_a_challenge_is_named_encrypted() {
        let rest = joined(&[&[4, 0xf5, 0xff, 0xff, 0xfe, 0x4a, 0xbc], &[0x05, 0xd4], &GUID_BYTES]);
        let libcat = joined(&[MARK, &[1, 2, 3, 4, 1], &[0x55; 64], &rest]);
        assert_eq!(
            OpenConnectionRequest2::parse(&mut Reader::new(&libcat), true),
            Err(ParseError::Encrypted)
        );
    }

    #[test]
    fn a_second_request_that_announces_a_challenge_and_has_none_is_plain() {
        let rest = joined(&[&[4, 0xf5, 0xff, 0xff, 0xfe, 0x4a, 0xbc], &[0x05, 0xd4], &GUID_BYTES]);
        let plain = joined(&[MARK, &[1, 2, 3, 4, 1], &rest]);
        let parsed = OpenConnectionRequest2::parse(&mut Reader::new(&plain), true).unwrap();
        assert_eq!((parsed.cookie, parsed.mtu, parsed.guid), (Some(0x0102_0304), 1492, GUID));
    }

    #[test]
    fn any_bit_of_the_second_replys_flag_means_security() {
        let reply = OpenConnectionReply2 {
            guid: GUID,
            client: "127.0.0.1:7715".parse().unwrap(),
            mtu: 1492,
            security: false,
        };
        let mut bytes = Vec::new();
        reply.emit(&mut bytes);
        let client = [4, 0x80, 0xff, 0xff, 0xfe, 0x1e, 0x23];
        assert_eq!(bytes, joined(&[&[0x08], MARK, &GUID_BYTES, &client, &[0x05, 0xd4, 0]]));
        for flag in [0x01, 0x80] {
            *bytes.last_mut().unwrap() = flag;
            let parsed = OpenConnectionReply2::parse(&mut Reader::new(&bytes[1..]));
            assert_eq!(parsed, Ok(OpenConnectionReply2 { security: true, ..reply }));
        }
    }

    proptest! {
        #[test]
        fn an_emitted_probe_parses_back(protocol: u8, datagram_len in 18..1500_usize) {
            let request = OpenConnectionRequest1 { protocol: ProtocolVersion(protocol), datagram_len };
            let mut bytes = Vec::new();
            request.emit(&mut bytes);
            let body = body(&bytes, MessageId::OpenConnectionRequest1, request.encoded_len());
            prop_assert_eq!(OpenConnectionRequest1::parse(&mut Reader::new(body)), Ok(request));
            refuses_every_truncation(&body[..17], OpenConnectionRequest1::parse);
        }

        #[test]
        fn an_emitted_first_reply_parses_back(guid in any_guid(), cookie: Option<u32>, mtu: u16) {
            let reply = OpenConnectionReply1 { guid, cookie, mtu };
            let mut bytes = Vec::new();
            reply.emit(&mut bytes);
            let body = body(&bytes, MessageId::OpenConnectionReply1, reply.encoded_len());
            prop_assert_eq!(OpenConnectionReply1::parse(&mut Reader::new(body)), Ok(reply));
            refuses_every_truncation(body, OpenConnectionReply1::parse);
        }

        #[test]
        fn an_emitted_second_request_parses_back(
            cookie: Option<u32>, server in any_address(), mtu: u16, guid in any_guid(),
        ) {
            let request = OpenConnectionRequest2 { cookie, server, mtu, guid };
            let mut bytes = Vec::new();
            request.emit(&mut bytes);
            let body = body(&bytes, MessageId::OpenConnectionRequest2, request.encoded_len());
            let parse = |r: &mut Reader<'_>| OpenConnectionRequest2::parse(r, cookie.is_some());
            prop_assert_eq!(parse(&mut Reader::new(body)), Ok(request));
            refuses_every_truncation(body, parse);
        }

        #[test]
        fn an_emitted_second_reply_parses_back(
            guid in any_guid(), client in any_address(), mtu: u16, security: bool,
        ) {
            let reply = OpenConnectionReply2 { guid, client, mtu, security };
            let mut bytes = Vec::new();
            reply.emit(&mut bytes);
            let body = body(&bytes, MessageId::OpenConnectionReply2, reply.encoded_len());
            prop_assert_eq!(OpenConnectionReply2::parse(&mut Reader::new(body)), Ok(reply));
            refuses_every_truncation(body, OpenConnectionReply2::parse);
        }
    }
}
