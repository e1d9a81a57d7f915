//! The first byte of every message.

use super::ParseError;

/// The first id that stock RakNet leaves to applications; smaller ones may be reserved for its plugins.
pub const FIRST_USER_ID: u8 = 0x86;

/// Declares the ids once: as an enum and as its way back from a byte.
macro_rules! message_ids {
    ($($(#[$doc:meta])+ $name:ident = $byte:literal,)+) => {
        /// An id that means something to the transport, and [`GamePacket`](Self::GamePacket).
        ///
        /// Ids that only ever appear as local events of the original (receipts, connection lost, download
        /// progress) are not on the wire and not here.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum MessageId {
            $($(#[$doc])+ $name = $byte,)+
        }

        impl TryFrom<u8> for MessageId {
            type Error = ParseError;

            fn try_from(byte: u8) -> Result<Self, ParseError> {
                match byte {
                    $($byte => Ok(Self::$name),)+
                    _ => Err(ParseError::Id(byte)),
                }
            }
        }
    };
}

message_ids! {
    /// A ping inside a connection.
    ConnectedPing = 0x00,
    /// A ping outside connections that is always answered.
    UnconnectedPing = 0x01,
    /// A ping outside connections that is answered only while the server takes connections.
    UnconnectedPingOpenConnections = 0x02,
    /// The answer to a ping inside a connection.
    ConnectedPong = 0x03,
    /// A reliable message whose acknowledgement is its whole point.
    DetectLostConnections = 0x04,
    /// The client's MTU probe, which opens the offline handshake.
    OpenConnectionRequest1 = 0x05,
    /// The server's answer to a probe.
    OpenConnectionReply1 = 0x06,
    /// The client's request for a session.
    OpenConnectionRequest2 = 0x07,
    /// The server's grant of a session.
    OpenConnectionReply2 = 0x08,
    /// The client's first message inside a session.
    ConnectionRequest = 0x09,
    /// The server wants encryption and the client did not bring the server's public key.
    RemoteSystemRequiresPublicKey = 0x0a,
    /// This side wants encryption and the other side does not.
    OurSystemRequiresSecurity = 0x0b,
    /// The server's public key is not the one the client was given.
    PublicKeyMismatch = 0x0c,
    /// An application's datagram outside connections.
    OutOfBandInternal = 0x0d,
    /// The server's answer to a [`ConnectionRequest`](Self::ConnectionRequest).
    ConnectionRequestAccepted = 0x10,
    /// A connection attempt failed.
    ConnectionAttemptFailed = 0x11,
    /// The address or GUID is already in use.
    AlreadyConnected = 0x12,
    /// The client's last message of the handshake.
    NewIncomingConnection = 0x13,
    /// The server is full.
    NoFreeIncomingConnections = 0x14,
    /// The sender closes the connection.
    DisconnectionNotification = 0x15,
    /// The client's address is banned.
    ConnectionBanned = 0x17,
    /// The password was wrong.
    InvalidPassword = 0x18,
    /// The server speaks other protocol versions.
    IncompatibleProtocolVersion = 0x19,
    /// The address connected too recently.
    IpRecentlyConnected = 0x1a,
    /// A time that travels in front of an application's message.
    Timestamp = 0x1b,
    /// The answer to a ping outside connections.
    UnconnectedPong = 0x1c,
    /// An out-of-band payload by which a system makes itself known.
    AdvertiseSystem = 0x1d,
    /// Bedrock's wrapper around its game packets.
    GamePacket = 0xfe,
}

impl MessageId {
    /// Returns the id as it stands on the wire.
    pub const fn byte(self) -> u8 {
        self as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_an_id_of_its_own_or_refused() {
        let known = (0..=u8::MAX).filter(|&byte| match MessageId::try_from(byte) {
            Ok(id) => {
                assert_eq!(id.byte(), byte);
                true
            }
            Err(error) => {
                assert_eq!(error, ParseError::Id(byte));
                false
            }
        });
        assert_eq!(known.count(), 28);
    }
}
