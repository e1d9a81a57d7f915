//! The one message.

use alloc::{borrow::ToOwned as _, string::String};
use core::{
    fmt,
    net::SocketAddr,
    num::{NonZeroU32, NonZeroU64},
};
use proto_core::Instant;

use crate::{Headers, Payload};

/// What all six schemes send and receive. Fields that a kind does not have are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// What it is.
    pub kind: Kind,
    /// A request's method.
    pub method: Method,
    /// A request's target: path and query. Empty in a request to send: the URL's.
    pub target: String,
    /// A response's status code, or a [`Kind::Close`]'s code (RFC 6455 §7.4); otherwise 0.
    pub status: u16,
    /// Header fields.
    pub headers: Headers,
    /// The content, or a frame's or datagram's payload, or a close's reason.
    pub body: Payload,
    /// Fields behind a chunked body (RFC 9112 §7.1.2).
    pub trailers: Headers,
    /// The other side.
    pub peer_addr: Option<SocketAddr>,
    /// Our side: for a datagram the address it was sent to, such as a group's.
    pub local_addr: Option<SocketAddr>,
    /// The index of the network interface by which a datagram came, or is to leave.
    pub interface: Option<NonZeroU32>,
    /// What else is to be known about it.
    pub flags: Flags,
    /// When it was complete.
    pub received: Option<Instant>,
    /// Which request a response answers.
    pub exchange: Option<ExchangeId>,
}

/// The number of a request and its answer, from 1 on in the order of their calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExchangeId(pub NonZeroU64);

/// The kinds of message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Kind {
    /// An HTTP request.
    #[default]
    Request,
    /// A final HTTP response.
    Response,
    /// An interim HTTP response (1xx).
    Informational,
    /// A WebSocket text message: UTF-8.
    Text,
    /// A WebSocket binary message.
    Binary,
    /// A WebSocket ping.
    Ping,
    /// A WebSocket pong.
    Pong,
    /// The end of a WebSocket connection.
    Close,
    /// A UDP datagram.
    Datagram,
}

/// What else is to be known about a message.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Flags(u32);

impl Flags {
    /// The datagram was longer than the buffer; its end is missing.
    pub const TRUNCATED: Self = Self(1);
    /// The last part of a message that was handed out in parts.
    pub const FIN: Self = Self(1 << 1);
    /// The payload travelled compressed.
    pub const COMPRESSED: Self = Self(1 << 2);
    /// The answer to a request that was sent a second time.
    pub const FROM_RETRY: Self = Self(1 << 3);
    /// The body ended with the connection, for want of another mark (RFC 9112 §6.3, rule 8).
    pub const BODY_BY_CLOSE: Self = Self(1 << 4);
    /// The answer came from another place than the one asked, after at least one redirect.
    pub const REDIRECTED: Self = Self(1 << 5);
    /// The body follows in parts.
    pub const STREAMED: Self = Self(1 << 6);
    /// The body of the answer to this request is to come in parts.
    pub const ANSWER_IN_PARTS: Self = Self(1 << 7);

    /// Says whether all flags of `other` are set.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns both together.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the flags as bits: those of the C interface.
    pub const fn bits(self) -> u32 {
        self.0
    }
}

impl fmt::Debug for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [
            (Self::TRUNCATED, "TRUNCATED"),
            (Self::FIN, "FIN"),
            (Self::COMPRESSED, "COMPRESSED"),
            (Self::FROM_RETRY, "FROM_RETRY"),
            (Self::BODY_BY_CLOSE, "BODY_BY_CLOSE"),
            (Self::REDIRECTED, "REDIRECTED"),
            (Self::STREAMED, "STREAMED"),
            (Self::ANSWER_IN_PARTS, "ANSWER_IN_PARTS"),
        ];
        f.debug_set().entries(names.iter().filter(|(flag, _)| self.has(*flag)).map(|(_, name)| name)).finish()
    }
}

/// A request method (RFC 9110 §9). Others than the known ones keep their name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Method {
    /// `GET`.
    #[default]
    Get,
    /// `HEAD`.
    Head,
    /// `POST`.
    Post,
    /// `PUT`.
    Put,
    /// `DELETE`.
    Delete,
    /// `CONNECT`.
    Connect,
    /// `OPTIONS`.
    Options,
    /// `TRACE`.
    Trace,
    /// `PATCH` (RFC 5789).
    Patch,
    /// Another one. It must be a token.
    Other(String),
}

impl Method {
    /// Returns the method of a name, which is compared with regard to case (RFC 9110 §9.1).
    pub fn from_name(name: &str) -> Self {
        let known = Self::KNOWN.iter().find(|method| method.name() == name);
        known.cloned().unwrap_or_else(|| Self::Other(name.to_owned()))
    }

    /// Returns its name.
    pub fn name(&self) -> &str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Delete => "DELETE",
            Self::Connect => "CONNECT",
            Self::Options => "OPTIONS",
            Self::Trace => "TRACE",
            Self::Patch => "PATCH",
            Self::Other(name) => name,
        }
    }

    /// Says whether asking twice means the same as asking once (RFC 9110 §9.2.2).
    pub const fn is_idempotent(&self) -> bool {
        matches!(self, Self::Get | Self::Head | Self::Options | Self::Trace | Self::Put | Self::Delete)
    }

    /// Says whether a request usually has a body, so that an empty one is announced (RFC 9110 §8.6).
    pub const fn expects_body(&self) -> bool {
        matches!(self, Self::Post | Self::Put | Self::Patch)
    }

    const KNOWN: [Self; 9] = [
        Self::Get,
        Self::Head,
        Self::Post,
        Self::Put,
        Self::Delete,
        Self::Connect,
        Self::Options,
        Self::Trace,
        Self::Patch,
    ];
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Message {
    /// Creates a request. An empty `target` means the URL's.
    pub fn request(method: Method, target: impl Into<String>, body: impl Into<Payload>) -> Self {
        Self { kind: Kind::Request, method, target: target.into(), body: body.into(), ..Self::default() }
    }

    /// Creates a `GET` of the URL's target.
    pub fn get() -> Self {
        Self::default()
    }

    /// Creates a response.
    pub fn response(status: u16, body: impl Into<Payload>) -> Self {
        Self { kind: Kind::Response, status, body: body.into(), ..Self::default() }
    }

    /// Creates a text message.
    pub fn text(text: impl Into<String>) -> Self {
        Self { kind: Kind::Text, body: text.into().into(), ..Self::default() }
    }

    /// Creates a binary message.
    pub fn binary(body: impl Into<Payload>) -> Self {
        Self { kind: Kind::Binary, body: body.into(), ..Self::default() }
    }

    /// Creates a ping with at most 125 bytes.
    pub fn ping(body: impl Into<Payload>) -> Self {
        Self { kind: Kind::Ping, body: body.into(), ..Self::default() }
    }

    /// Creates a datagram to the URL's address.
    pub fn datagram(body: impl Into<Payload>) -> Self {
        Self { kind: Kind::Datagram, body: body.into(), ..Self::default() }
    }

    /// Adds a header field.
    ///
    /// # Errors
    /// The field is not well-formed.
    pub fn with_header(mut self, name: &str, value: impl AsRef<[u8]>) -> Result<Self, crate::HeaderError> {
        self.headers.append(name, value)?;
        Ok(self)
    }

    /// Makes it as new, and keeps its memory.
    pub fn clear(&mut self) {
        let Self {
            kind,
            method,
            target,
            status,
            headers,
            body,
            trailers,
            peer_addr,
            local_addr,
            interface,
            flags,
            received,
            exchange,
        } = self;
        (*kind, *method, *status, *flags) = (Kind::default(), Method::default(), 0, Flags::default());
        (*peer_addr, *local_addr, *interface, *received) = (None, None, None, None);
        *exchange = None;
        *body = Payload::new();
        target.clear();
        headers.clear();
        trailers.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn methods_are_compared_with_regard_to_case() {
        assert_eq!(Method::from_name("DELETE"), Method::Delete);
        assert_eq!(Method::from_name("delete"), Method::Other("delete".into()));
        assert_eq!(Method::from_name("PURGE").name(), "PURGE");
    }

    #[test]
    fn flags_are_a_set() {
        let flags = Flags::FIN.with(Flags::COMPRESSED);
        assert!(flags.has(Flags::FIN) && !flags.has(Flags::TRUNCATED));
        assert_eq!(format!("{flags:?}"), "{\"FIN\", \"COMPRESSED\"}");
    }
}
