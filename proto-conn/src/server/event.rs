//! What a server tells its application.

use alloc::string::String;
use core::net::SocketAddr;
use proto_core::LinkId;

use crate::{Error, Headers, Message, Payload};

/// One of a server's peers: the stream that it came by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PeerId(pub LinkId);

/// What a [`Server`](super::Server) tells.
#[derive(Debug)]
pub enum Event {
    /// A listener or datagram socket is open.
    Listening {
        /// Its number.
        listener: LinkId,
        /// Where.
        local: Option<SocketAddr>,
    },
    /// A listener or datagram socket could not be opened, or is gone.
    Down {
        /// Its number.
        listener: LinkId,
        /// Why.
        error: Error,
    },
    /// A peer is there.
    Connected {
        /// Who.
        peer: PeerId,
        /// From where.
        from: Option<SocketAddr>,
    },
    /// A peer asks something; it wants one answer. The body of one with
    /// [`Flags::STREAMED`](crate::Flags::STREAMED) follows.
    Request {
        /// Who.
        peer: PeerId,
        /// What.
        message: Message,
    },
    /// A part of a streamed request's body.
    Part {
        /// Whose.
        peer: PeerId,
        /// What.
        part: Payload,
    },
    /// The end of a streamed request's body, and the fields behind it.
    End {
        /// Whose.
        peer: PeerId,
        /// What.
        trailers: Headers,
    },
    /// A peer speaks WebSocket from here on.
    Opened {
        /// Who.
        peer: PeerId,
        /// The agreed subprotocol.
        subprotocol: Option<String>,
    },
    /// A WebSocket message or control frame.
    Message {
        /// Whose.
        peer: PeerId,
        /// What.
        message: Message,
    },
    /// A datagram; its sender is the message's `peer_addr`.
    Datagram {
        /// The socket that it came by.
        socket: LinkId,
        /// What.
        message: Message,
    },
    /// There is room for more to this peer.
    Writable {
        /// To whom.
        peer: PeerId,
    },
    /// A peer is gone.
    Closed {
        /// Who.
        peer: PeerId,
        /// The WebSocket close code; 0 for HTTP.
        code: u16,
        /// The peer's reason.
        reason: String,
        /// What went wrong, if something did.
        error: Option<Error>,
    },
}
