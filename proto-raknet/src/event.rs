//! What an endpoint tells the application.

use alloc::collections::VecDeque;
use bytes::Bytes;
use core::{net::SocketAddr, time::Duration};
use thiserror::Error;

use crate::{Guid, ReceiptId, Received, wire::ProtocolVersion};

/// A peer of an endpoint: a session, or the attempt to open one. Never used again for another peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PeerId {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

impl PeerId {
    /// Returns a small number that no other peer of the endpoint has at the same time: fit as an index.
    pub const fn index(self) -> u32 {
        self.index
    }
}

/// Who opened a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// This endpoint did.
    Client,
    /// The peer did.
    Server,
}

/// What is known of an established peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerInfo {
    /// Its address.
    pub address: SocketAddr,
    /// Its identifier, as it says.
    pub guid: Guid,
    /// The agreed MTU: the largest IP datagram, 28 bytes of headers included.
    pub mtu: u16,
    /// The protocol version that the client asked for; 0 where a server without cookies could not know it
    /// (Network#66).
    pub protocol_version: ProtocolVersion,
    /// Who opened the session.
    pub role: Role,
}

/// Something the application should know.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A session is established, whichever side opened it.
    Connected {
        /// The peer.
        peer: PeerId,
        /// What is known of it.
        info: PeerInfo,
    },
    /// An attempt to open a session failed. The last event of its peer.
    ConnectFailed {
        /// The peer that [`connect`](crate::Endpoint::connect) returned.
        peer: PeerId,
        /// Why.
        reason: ConnectFailure,
    },
    /// Messages wait where none did before: call [`recv`](crate::Endpoint::recv) until it returns `None`.
    Readable {
        /// The peer.
        peer: PeerId,
    },
    /// A send queue that refused a message has room again.
    Writable {
        /// The peer.
        peer: PeerId,
    },
    /// A session is over. The last event of its peer.
    Disconnected {
        /// The peer.
        peer: PeerId,
        /// Why.
        reason: CloseReason,
        /// The messages that arrived before the end and were not yet taken.
        unread: VecDeque<Received>,
    },
    /// A message sent with a receipt arrived (C++ `ID_SND_RECEIPT_ACKED`).
    ReceiptAcked {
        /// The peer.
        peer: PeerId,
        /// The number that `send` returned.
        receipt: ReceiptId,
    },
    /// A message sent with a receipt did not arrive, or its session ended first (C++ `ID_SND_RECEIPT_LOSS`).
    ReceiptLost {
        /// The peer.
        peer: PeerId,
        /// The number that `send` returned.
        receipt: ReceiptId,
    },
    /// Parts of an incoming split message arrived (C++ `ID_DOWNLOAD_PROGRESS`).
    SplitProgress {
        /// The peer.
        peer: PeerId,
        /// The sender's number for the split message.
        split: u16,
        /// Parts that arrived.
        parts: u32,
        /// Parts in all.
        total: u32,
    },
    /// An unconnected ping was answered.
    Pong {
        /// Who answered.
        from: SocketAddr,
        /// Its identifier.
        guid: Guid,
        /// The time from ping to pong, by the echoed time.
        rtt: Duration,
        /// What the answer carried; see [`Motd::parse`](crate::Motd::parse).
        data: Bytes,
    },
    /// A message outside any session arrived; its sender is not verified.
    OutOfBand {
        /// The source address.
        from: SocketAddr,
        /// The sender's identifier, as it says.
        guid: Guid,
        /// The payload. `AdvertiseSystem` messages begin with 0x1d.
        payload: Bytes,
    },
}

/// Why a session could not be opened.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
pub enum ConnectFailure {
    /// Nobody answered at any MTU.
    #[error("no answer from the server")]
    NoAnswer,
    /// The server answered at first, but the handshake did not finish in time.
    #[error("the handshake did not finish in time")]
    HandshakeTimeout,
    /// The server speaks another protocol version.
    #[error("the server speaks RakNet protocol version {}", .server.0)]
    IncompatibleProtocolVersion {
        /// The version it announced.
        server: ProtocolVersion,
    },
    /// The server has a session with this address or identifier.
    #[error("the server already has a session with this address or identifier")]
    AlreadyConnected,
    /// The server is full.
    #[error("the server is full")]
    NoFreeIncomingConnections,
    /// The server banned this address.
    #[error("the server has banned this address")]
    Banned,
    /// The server wants more time between connections from one address.
    #[error("this address connected to the server a moment ago")]
    IpRecentlyConnected,
    /// The password was wrong.
    #[error("the password is wrong")]
    InvalidPassword,
    /// The server demands libcat encryption, which is not supported.
    #[error("the server demands encryption (libcat), which is not supported")]
    EncryptionRequired,
    /// The server refused without saying why (`ConnectionAttemptFailed`), or ended the session during the handshake.
    #[error("the server refused the connection")]
    Refused,
    /// The application gave up.
    #[error("the attempt was cancelled")]
    Cancelled,
    /// The socket is gone.
    #[error("the socket is closed")]
    LinkDown,
}

/// Why a session ended.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
pub enum CloseReason {
    /// We closed it and the peer acknowledged.
    #[error("closed")]
    LocalClose,
    /// We closed it, and the peer did not acknowledge in time.
    #[error("closed without the peer's acknowledgement")]
    LocalCloseUnacknowledged,
    /// We dropped it without telling the peer.
    #[error("aborted")]
    Aborted,
    /// The peer closed it.
    #[error("closed by the peer")]
    PeerClose,
    /// A notification that could be forged said that the peer closed it, and the peer did not answer any more.
    #[error("the peer seems to have closed the session")]
    PeerVanished,
    /// The peer fell silent.
    #[error("the peer has fallen silent")]
    Timeout,
    /// The peer opened a new session from the same address.
    #[error("replaced by a new session of the same peer")]
    Replaced,
    /// The address was banned.
    #[error("the address was banned")]
    Banned,
    /// The socket is gone.
    #[error("the socket is closed")]
    LinkDown,
}
