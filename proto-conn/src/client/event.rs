//! What a connection tells its application.

use alloc::string::String;
use core::time::Duration;

use crate::{Error, ExchangeId, Headers, Message, Payload};

/// What a [`Connection`](super::Connection) tells.
#[derive(Debug)]
pub enum Event {
    /// The connection's state changed.
    State(State),
    /// A message came: a response, an interim response, a WebSocket message or control frame, a datagram. The body of
    /// one with [`Flags::STREAMED`](crate::Flags::STREAMED) follows.
    Message(Message),
    /// A part of a streamed body.
    Part(Payload),
    /// The end of a streamed body, and the fields behind it.
    End(Headers),
    /// There is room for more after a refusal with [`Code::WouldBlock`](crate::Code::WouldBlock), or after a part of a
    /// streamed request.
    Writable,
    /// Something failed, and the handle can be used further.
    Failed {
        /// The exchange that failed; `None` for what belongs to no exchange, such as a datagram that did not arrive.
        exchange: Option<ExchangeId>,
        /// Why.
        error: Error,
    },
    /// The connection was lost, or could not be made, and will be tried again.
    Reconnecting {
        /// When.
        after: Duration,
        /// Which attempt since the last success, from 1.
        attempt: u32,
        /// Why.
        error: Error,
    },
    /// The handle is closed; nothing more happens.
    Closed(Closed),
}

/// How a connection ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Closed {
    /// The WebSocket close code (RFC 6455 §7.4), 1005 for none, 1006 for an end without one. 0 for other schemes.
    pub code: u16,
    /// The peer's reason, or ours.
    pub reason: String,
    /// Both sides agreed to close.
    pub is_clean: bool,
    /// What went wrong, if something did.
    pub error: Option<Error>,
}

/// The states of a connection.
///
/// ```text
/// Idle -> Resolving -> Connecting -> (ProxyTunnel) -> (TlsHandshake) -> HttpReady
///   ^                                                               \-> WsUpgrading -> Open
///   |  an HTTP connection ended                                                          |
///   +------------------------------------------------ (Waiting) <------------------------+
///                         any -> Closing -> Closed
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// Nothing is open. The next message opens it.
    Idle,
    /// Asking for the addresses of a name.
    Resolving,
    /// Connecting to addresses.
    Connecting,
    /// Asking a proxy for a tunnel.
    ProxyTunnel,
    /// In the TLS handshake.
    TlsHandshake,
    /// Ready for HTTP exchanges.
    HttpReady,
    /// In the WebSocket handshake.
    WsUpgrading,
    /// Open for WebSocket messages or datagrams.
    Open,
    /// Waiting before another attempt.
    Waiting,
    /// Closing.
    Closing,
    /// Closed for good.
    Closed,
}
