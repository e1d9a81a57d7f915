//! The offline messages by which a server turns a client away.
//!
//! They carry no nonce, so whoever can forge the server's address can send them too.

use alloc::vec::Vec;

use proto_core::Reader;

use super::{MAGIC, MessageId, ParseError, ProtocolVersion, magic};
use crate::guid::Guid;

/// Why a server refuses, where nothing but its GUID comes with the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RefusalKind {
    /// The attempt failed for a reason the server does not tell (id 0x11).
    ConnectionAttemptFailed,
    /// The address or GUID is in use by another session (id 0x12).
    AlreadyConnected,
    /// The server is full (id 0x14).
    NoFreeIncomingConnections,
    /// The address is banned (id 0x17).
    ConnectionBanned,
    /// The password was wrong (id 0x18).
    InvalidPassword,
    /// The address connected too short a time ago (id 0x1a).
    IpRecentlyConnected,
}

impl RefusalKind {
    /// Every kind.
    pub const ALL: [Self; 6] = [
        Self::ConnectionAttemptFailed,
        Self::AlreadyConnected,
        Self::NoFreeIncomingConnections,
        Self::ConnectionBanned,
        Self::InvalidPassword,
        Self::IpRecentlyConnected,
    ];

    /// Returns the message id that says so.
    pub const fn id(self) -> MessageId {
        match self {
            Self::ConnectionAttemptFailed => MessageId::ConnectionAttemptFailed,
            Self::AlreadyConnected => MessageId::AlreadyConnected,
            Self::NoFreeIncomingConnections => MessageId::NoFreeIncomingConnections,
            Self::ConnectionBanned => MessageId::ConnectionBanned,
            Self::InvalidPassword => MessageId::InvalidPassword,
            Self::IpRecentlyConnected => MessageId::IpRecentlyConnected,
        }
    }
}

/// Turns a client away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Why.
    pub kind: RefusalKind,
    /// Who refuses.
    pub guid: Guid,
}

impl Refusal {
    /// Parses what follows the id; `kind` is what the id says.
    ///
    /// # Errors
    /// A [`ParseError`] when the bytes are no refusal.
    pub fn parse(r: &mut Reader<'_>, kind: RefusalKind) -> Result<Self, ParseError> {
        magic::expect(r)?;
        Ok(Self { kind, guid: Guid(r.u64_be()?) })
    }

    /// Appends the message.
    pub fn emit(&self, buf: &mut Vec<u8>) {
        buf.push(self.kind.id().byte());
        buf.extend(MAGIC);
        buf.extend(self.guid.0.to_be_bytes());
    }

    /// Returns the length of the message, 25 bytes.
    pub const fn encoded_len(&self) -> usize {
        25
    }
}

/// The message id 0x19: turns away a client whose protocol version the server does not speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IncompatibleProtocolVersion {
    /// The version the server speaks.
    pub version: ProtocolVersion,
    /// Who refuses.
    pub guid: Guid,
}

impl IncompatibleProtocolVersion {
    /// Parses what follows the id.
    ///
    /// # Errors
    /// A [`ParseError`] when the bytes are no such refusal.
    pub fn parse(r: &mut Reader<'_>) -> Result<Self, ParseError> {
        let version = ProtocolVersion(r.u8()?);
        magic::expect(r)?;
        Ok(Self { version, guid: Guid(r.u64_be()?) })
    }

    /// Appends the message.
    pub fn emit(&self, buf: &mut Vec<u8>) {
        buf.push(MessageId::IncompatibleProtocolVersion.byte());
        buf.push(self.version.0);
        buf.extend(MAGIC);
        buf.extend(self.guid.0.to_be_bytes());
    }

    /// Returns the length of the message, 26 bytes.
    pub const fn encoded_len(&self) -> usize {
        26
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{MARK, any_guid, body, joined, refuses_every_truncation};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_refusal_is_marker_and_guid_behind_its_id() {
        for (kind, id) in RefusalKind::ALL.into_iter().zip([0x11, 0x12, 0x14, 0x17, 0x18, 0x1a]) {
            let mut bytes = Vec::new();
            Refusal { kind, guid: Guid(0x0102) }.emit(&mut bytes);
            assert_eq!(bytes, joined(&[&[id], MARK, &[0, 0, 0, 0, 0, 0, 1, 2]]));
        }
    }

    #[test]
    fn the_servers_version_stands_before_the_marker() {
        let mut bytes = Vec::new();
        IncompatibleProtocolVersion { version: ProtocolVersion(11), guid: Guid(1) }.emit(&mut bytes);
        assert_eq!(bytes, joined(&[&[0x19, 11], MARK, &[0, 0, 0, 0, 0, 0, 0, 1]]));
    }

    proptest! {
        #[test]
        fn an_emitted_refusal_parses_back(
            kind in proptest::sample::select(&RefusalKind::ALL), guid in any_guid(),
        ) {
            let refusal = Refusal { kind, guid };
            let mut bytes = Vec::new();
            refusal.emit(&mut bytes);
            let body = body(&bytes, kind.id(), refusal.encoded_len());
            prop_assert_eq!(Refusal::parse(&mut Reader::new(body), kind), Ok(refusal));
            refuses_every_truncation(body, |r| Refusal::parse(r, kind));
        }

        #[test]
        fn an_emitted_version_refusal_parses_back(version: u8, guid in any_guid()) {
            let refusal = IncompatibleProtocolVersion { version: ProtocolVersion(version), guid };
            let mut bytes = Vec::new();
            refusal.emit(&mut bytes);
            let body = body(&bytes, MessageId::IncompatibleProtocolVersion, refusal.encoded_len());
            prop_assert_eq!(IncompatibleProtocolVersion::parse(&mut Reader::new(body)), Ok(refusal));
            refuses_every_truncation(body, IncompatibleProtocolVersion::parse);
        }
    }
}
