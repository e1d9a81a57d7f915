//! Telling a connection's own messages from the application's.

use alloc::vec::Vec;

use proto_core::Reader;

use super::{
    ConnectedPing, ConnectedPong, ConnectionRequest, ConnectionRequestAccepted, DetectLostConnections,
    DisconnectionNotification, InvalidPassword, MessageId, NewIncomingConnection, ParseError,
};

/// A message by which the two ends of a session run it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Connected<'a> {
    /// Asks for an answer.
    Ping(ConnectedPing),
    /// Answers a ping.
    Pong(ConnectedPong),
    /// Only wants to be acknowledged.
    DetectLost(DetectLostConnections),
    /// The client asks to be connected.
    Request(ConnectionRequest<'a>),
    /// The server connects the client.
    Accepted(ConnectionRequestAccepted),
    /// The client confirms.
    NewIncoming(NewIncomingConnection),
    /// The sender closes the connection.
    Disconnection(DisconnectionNotification),
    /// The server refuses the password.
    InvalidPassword(InvalidPassword),
}

impl<'a> Connected<'a> {
    /// Parses `payload`, a whole message out of frames, if its id is one of the above; `None` means that the
    /// message is the application's.
    #[inline]
    pub fn classify(payload: &'a [u8]) -> Option<Result<Self, ParseError>> {
        let (&id, body) = payload.split_first()?;
        let mut r = Reader::new(body);
        let r = &mut r;
        Some(match id {
            PING => ConnectedPing::parse(r).map(Self::Ping),
            PONG => ConnectedPong::parse(r).map(Self::Pong),
            DETECT_LOST => DetectLostConnections::parse(r).map(Self::DetectLost),
            REQUEST => ConnectionRequest::parse(r).map(Self::Request),
            ACCEPTED => ConnectionRequestAccepted::parse(r).map(Self::Accepted),
            NEW_INCOMING => NewIncomingConnection::parse(r).map(Self::NewIncoming),
            DISCONNECTION => DisconnectionNotification::parse(r).map(Self::Disconnection),
            INVALID_PASSWORD => InvalidPassword::parse(r).map(Self::InvalidPassword),
            _ => return None,
        })
    }

    /// Says whether a message that begins with this byte is one of the above.
    pub const fn is_id(id: u8) -> bool {
        matches!(
            id,
            PING | PONG | DETECT_LOST | REQUEST | ACCEPTED | NEW_INCOMING | DISCONNECTION | INVALID_PASSWORD
        )
    }

    /// Appends the message.
    pub fn emit(&self, buf: &mut Vec<u8>) {
        match self {
            Self::Ping(ping) => ping.emit(buf),
            Self::Pong(pong) => pong.emit(buf),
            Self::DetectLost(signal) => signal.emit(buf),
            Self::Request(request) => request.emit(buf),
            Self::Accepted(accepted) => accepted.emit(buf),
            Self::NewIncoming(confirmation) => confirmation.emit(buf),
            Self::Disconnection(notification) => notification.emit(buf),
            Self::InvalidPassword(refusal) => refusal.emit(buf),
        }
    }

    /// Returns the length of the message.
    pub fn encoded_len(&self) -> usize {
        match self {
            Self::Ping(ping) => ping.encoded_len(),
            Self::Pong(pong) => pong.encoded_len(),
            Self::DetectLost(signal) => signal.encoded_len(),
            Self::Request(request) => request.encoded_len(),
            Self::Accepted(accepted) => accepted.encoded_len(),
            Self::NewIncoming(confirmation) => confirmation.encoded_len(),
            Self::Disconnection(notification) => notification.encoded_len(),
            Self::InvalidPassword(refusal) => refusal.encoded_len(),
        }
    }
}

const PING: u8 = MessageId::ConnectedPing.byte();
const PONG: u8 = MessageId::ConnectedPong.byte();
const DETECT_LOST: u8 = MessageId::DetectLostConnections.byte();
const REQUEST: u8 = MessageId::ConnectionRequest.byte();
const ACCEPTED: u8 = MessageId::ConnectionRequestAccepted.byte();
const NEW_INCOMING: u8 = MessageId::NewIncomingConnection.byte();
const DISCONNECTION: u8 = MessageId::DisconnectionNotification.byte();
const INVALID_PASSWORD: u8 = MessageId::InvalidPassword.byte();

#[cfg(test)]
mod tests {
    use super::super::{InternalAddresses, UNASSIGNED};
    use super::*;
    use crate::guid::Guid;
    use alloc::vec;
    use proptest::prelude::*;

    #[test]
    fn every_message_of_the_connection_is_told_by_its_id() {
        let internal = InternalAddresses::unassigned(10);
        let messages = [
            Connected::Ping(ConnectedPing { time: 1 }),
            Connected::Pong(ConnectedPong { ping_time: 1, pong_time: 2 }),
            Connected::DetectLost(DetectLostConnections),
            Connected::Request(ConnectionRequest { guid: Guid(1), time: 2, password: b"pw" }),
            Connected::Accepted(ConnectionRequestAccepted {
                client: UNASSIGNED,
                system_index: 0,
                internal: internal.clone(),
                request_time: 1,
                accepted_time: 2,
            }),
            Connected::NewIncoming(NewIncomingConnection {
                server: UNASSIGNED,
                internal,
                accepted_time: 1,
                time: 2,
            }),
            Connected::Disconnection(DisconnectionNotification),
            Connected::InvalidPassword(InvalidPassword { guid: Guid(1) }),
        ];
        for message in messages {
            let mut bytes = vec![];
            message.emit(&mut bytes);
            assert_eq!(bytes.len(), message.encoded_len());
            assert_eq!(Connected::classify(&bytes), Some(Ok(message)));
        }
    }

    #[test]
    fn the_applications_messages_are_left_alone() {
        assert_eq!(Connected::classify(&[]), None);
        for id in [0x1b, 0x1c, 0x1d, 0x86, 0xfe] {
            assert_eq!(Connected::classify(&[id, 0, 0]), None);
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_classified(payload in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Some(Ok(message)) = Connected::classify(&payload) {
                let mut bytes = vec![];
                message.emit(&mut bytes);
                prop_assert_eq!(Connected::classify(&bytes), Some(Ok(message)));
            }
        }
    }
}
