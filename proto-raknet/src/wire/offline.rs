//! Telling offline messages from the traffic of sessions.

use alloc::vec::Vec;

use proto_core::Reader;

use super::{
    IncompatibleProtocolVersion, MAGIC, MessageId, OpenConnectionReply1, OpenConnectionReply2,
    OpenConnectionRequest1, OpenConnectionRequest2, OutOfBand, ParseError, Refusal, RefusalKind,
    UnconnectedPing, UnconnectedPong,
};

/// A message that needs no session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offline<'a> {
    /// Asks who is there.
    Ping(UnconnectedPing),
    /// Says who is there.
    Pong(UnconnectedPong<'a>),
    /// Probes the MTU.
    Request1(OpenConnectionRequest1),
    /// Answers a probe.
    Reply1(OpenConnectionReply1),
    /// Asks for a session.
    Request2(OpenConnectionRequest2),
    /// Grants a session.
    Reply2(OpenConnectionReply2),
    /// Turns the client away.
    Refusal(Refusal),
    /// Turns the client away because of its version.
    IncompatibleVersion(IncompatibleProtocolVersion),
    /// Carries bytes of the application.
    OutOfBand(OutOfBand<'a>),
}

impl<'a> Offline<'a> {
    /// Parses `datagram` if it is an offline message, that is if its first byte is the id of one *and* the
    /// marker stands where that id has it. Otherwise the answer is `None`, and costs next to nothing for what
    /// sessions send.
    ///
    /// `request2_cookie` says whether this side, as a server, demands a cookie in a second request; see
    /// [`OpenConnectionRequest2::parse`].
    ///
    /// The answer does not depend on whether a session with the sender exists, so a client that restarted on
    /// the same port, or one that repeats its second request, is heard.
    pub fn classify(datagram: &'a [u8], request2_cookie: bool) -> Option<Result<Self, ParseError>> {
        let kind = Kind::of(*datagram.first()?)?;
        let marker = datagram.get(kind.marker_offset()..)?.first_chunk::<16>()?;
        if *marker != MAGIC {
            return None;
        }
        let mut r = Reader::new(datagram.get(1..)?);
        Some(kind.parse(&mut r, request2_cookie))
    }

    /// Appends the message.
    pub fn emit(&self, buf: &mut Vec<u8>) {
        match self {
            Self::Ping(ping) => ping.emit(buf),
            Self::Pong(pong) => pong.emit(buf),
            Self::Request1(request) => request.emit(buf),
            Self::Reply1(reply) => reply.emit(buf),
            Self::Request2(request) => request.emit(buf),
            Self::Reply2(reply) => reply.emit(buf),
            Self::Refusal(refusal) => refusal.emit(buf),
            Self::IncompatibleVersion(refusal) => refusal.emit(buf),
            Self::OutOfBand(message) => message.emit(buf),
        }
    }

    /// Returns the length of the message.
    pub fn encoded_len(&self) -> usize {
        match self {
            Self::Ping(ping) => ping.encoded_len(),
            Self::Pong(pong) => pong.encoded_len(),
            Self::Request1(request) => request.encoded_len(),
            Self::Reply1(reply) => reply.encoded_len(),
            Self::Request2(request) => request.encoded_len(),
            Self::Reply2(reply) => reply.encoded_len(),
            Self::Refusal(refusal) => refusal.encoded_len(),
            Self::IncompatibleVersion(refusal) => refusal.encoded_len(),
            Self::OutOfBand(message) => message.encoded_len(),
        }
    }
}

/// The offline ids, grouped by what they have in common.
#[derive(Clone, Copy)]
enum Kind {
    Ping { open_only: bool },
    Pong,
    Request1,
    Reply1,
    Request2,
    Reply2,
    Refusal(RefusalKind),
    IncompatibleVersion,
    OutOfBand,
}

impl Kind {
    #[inline]
    const fn of(first: u8) -> Option<Self> {
        Some(match first {
            PING => Self::Ping { open_only: false },
            PING_OPEN => Self::Ping { open_only: true },
            PONG => Self::Pong,
            REQUEST_1 => Self::Request1,
            REPLY_1 => Self::Reply1,
            REQUEST_2 => Self::Request2,
            REPLY_2 => Self::Reply2,
            ATTEMPT_FAILED => Self::Refusal(RefusalKind::ConnectionAttemptFailed),
            ALREADY_CONNECTED => Self::Refusal(RefusalKind::AlreadyConnected),
            NO_FREE => Self::Refusal(RefusalKind::NoFreeIncomingConnections),
            BANNED => Self::Refusal(RefusalKind::ConnectionBanned),
            INVALID_PASSWORD => Self::Refusal(RefusalKind::InvalidPassword),
            RECENTLY => Self::Refusal(RefusalKind::IpRecentlyConnected),
            INCOMPATIBLE => Self::IncompatibleVersion,
            OUT_OF_BAND => Self::OutOfBand,
            _ => return None,
        })
    }

    /// Where the marker stands, counted from the start of the datagram.
    const fn marker_offset(self) -> usize {
        match self {
            Self::Request1 | Self::Reply1 | Self::Request2 | Self::Reply2 | Self::Refusal(_) => 1,
            Self::IncompatibleVersion => 1 + 1,
            Self::Ping { .. } | Self::OutOfBand => 1 + 8,
            Self::Pong => 1 + 8 + 8,
        }
    }

    fn parse<'a>(self, r: &mut Reader<'a>, request2_cookie: bool) -> Result<Offline<'a>, ParseError> {
        match self {
            Self::Ping { open_only } => UnconnectedPing::parse(r, open_only).map(Offline::Ping),
            Self::Pong => UnconnectedPong::parse(r).map(Offline::Pong),
            Self::Request1 => OpenConnectionRequest1::parse(r).map(Offline::Request1),
            Self::Reply1 => OpenConnectionReply1::parse(r).map(Offline::Reply1),
            Self::Request2 => OpenConnectionRequest2::parse(r, request2_cookie).map(Offline::Request2),
            Self::Reply2 => OpenConnectionReply2::parse(r).map(Offline::Reply2),
            Self::Refusal(kind) => Refusal::parse(r, kind).map(Offline::Refusal),
            Self::IncompatibleVersion => {
                IncompatibleProtocolVersion::parse(r).map(Offline::IncompatibleVersion)
            }
            Self::OutOfBand => OutOfBand::parse(r).map(Offline::OutOfBand),
        }
    }
}

const PING: u8 = MessageId::UnconnectedPing.byte();
const PING_OPEN: u8 = MessageId::UnconnectedPingOpenConnections.byte();
const PONG: u8 = MessageId::UnconnectedPong.byte();
const REQUEST_1: u8 = MessageId::OpenConnectionRequest1.byte();
const REPLY_1: u8 = MessageId::OpenConnectionReply1.byte();
const REQUEST_2: u8 = MessageId::OpenConnectionRequest2.byte();
const REPLY_2: u8 = MessageId::OpenConnectionReply2.byte();
const ATTEMPT_FAILED: u8 = MessageId::ConnectionAttemptFailed.byte();
const ALREADY_CONNECTED: u8 = MessageId::AlreadyConnected.byte();
const NO_FREE: u8 = MessageId::NoFreeIncomingConnections.byte();
const BANNED: u8 = MessageId::ConnectionBanned.byte();
const INVALID_PASSWORD: u8 = MessageId::InvalidPassword.byte();
const RECENTLY: u8 = MessageId::IpRecentlyConnected.byte();
const INCOMPATIBLE: u8 = MessageId::IncompatibleProtocolVersion.byte();
const OUT_OF_BAND: u8 = MessageId::OutOfBandInternal.byte();

#[cfg(test)]
mod tests {
    use super::super::{ProtocolVersion, UNASSIGNED};
    use super::*;
    use crate::guid::Guid;
    use alloc::vec;
    use proptest::prelude::*;

    const GUID: Guid = Guid(0x0102_0304_0506_0708);

    /// One of each kind, and its id.
    fn one_of_each() -> Vec<(u8, Offline<'static>)> {
        let mut all = vec![
            (0x01, Offline::Ping(UnconnectedPing { open_only: false, time: 1, guid: None })),
            (0x02, Offline::Ping(UnconnectedPing { open_only: true, time: 1, guid: Some(GUID) })),
            (0x1c, Offline::Pong(UnconnectedPong { time: 1, guid: GUID, data: b"data" })),
            (
                0x05,
                Offline::Request1(OpenConnectionRequest1 { protocol: ProtocolVersion(11), datagram_len: 99 }),
            ),
            (0x06, Offline::Reply1(OpenConnectionReply1 { guid: GUID, cookie: Some(7), mtu: 1492 })),
            (
                0x07,
                Offline::Request2(OpenConnectionRequest2 {
                    cookie: Some(7),
                    server: UNASSIGNED,
                    mtu: 1492,
                    guid: GUID,
                }),
            ),
            (
                0x08,
                Offline::Reply2(OpenConnectionReply2 {
                    guid: GUID,
                    client: UNASSIGNED,
                    mtu: 1492,
                    security: false,
                }),
            ),
            (
                0x19,
                Offline::IncompatibleVersion(IncompatibleProtocolVersion {
                    version: ProtocolVersion(11),
                    guid: GUID,
                }),
            ),
            (0x0d, Offline::OutOfBand(OutOfBand { guid: GUID, payload: b"hi" })),
        ];
        all.extend(
            RefusalKind::ALL.map(|kind| (kind.id().byte(), Offline::Refusal(Refusal { kind, guid: GUID }))),
        );
        all
    }

    fn emitted(message: &Offline<'_>) -> Vec<u8> {
        let mut bytes = vec![];
        message.emit(&mut bytes);
        assert_eq!(bytes.len(), message.encoded_len());
        bytes
    }

    #[test]
    fn each_kind_is_told_by_id_and_marker() {
        for (id, message) in one_of_each() {
            let bytes = emitted(&message);
            assert_eq!(bytes[0], id);
            assert_eq!(Offline::classify(&bytes, true), Some(Ok(message)));
        }
    }

    #[test]
    fn no_other_id_is_an_offline_message() {
        let ids: Vec<u8> = one_of_each().iter().map(|(id, _)| *id).collect();
        for first in 0..=u8::MAX {
            let mut datagram = MAGIC.repeat(4);
            datagram.insert(0, first);
            let offline = Offline::classify(&datagram, true).is_some();
            assert!(!offline || ids.contains(&first), "{first:#04x}");
        }
    }

    #[test]
    fn an_id_without_its_marker_is_no_offline_message() {
        for (_, message) in one_of_each() {
            let mut bytes = emitted(&message);
            let at = bytes.windows(16).position(|window| window == MAGIC).unwrap();
            bytes[at..][15] ^= 1;
            assert_eq!(Offline::classify(&bytes, true), None);
            assert_eq!(Offline::classify(&bytes[..at.saturating_add(15)], true), None);
        }
        assert_eq!(Offline::classify(&[], true), None);
        assert_eq!(Offline::classify(&[0x15], true), None);
    }

    #[test]
    fn an_offline_message_cut_behind_its_marker_is_a_malformed_one() {
        let bytes = emitted(&Offline::Refusal(Refusal { kind: RefusalKind::AlreadyConnected, guid: GUID }));
        assert_eq!(Offline::classify(&bytes[..24], true), Some(Err(ParseError::Truncated)));
    }

    proptest! {
        #[test]
        fn any_bytes_behind_a_marker_parse_or_are_refused(
            (id, message) in proptest::sample::select(one_of_each()),
            tail in proptest::collection::vec(any::<u8>(), 0..120),
            with_cookie: bool,
        ) {
            let whole = emitted(&message);
            let marker_end = whole.windows(16).position(|window| window == MAGIC).unwrap().saturating_add(16);
            let datagram = [&whole[..marker_end], &tail].concat();
            prop_assert_eq!(datagram[0], id);
            if let Some(Ok(parsed)) = Offline::classify(&datagram, with_cookie) {
                let written = emitted(&parsed);
                prop_assert_eq!(Offline::classify(&written, with_cookie), Some(Ok(parsed)));
            }
        }
    }
}
