//! How messages are sent.

/// How a client sends a request.
#[derive(Clone, Copy, Debug)]
pub struct SendOptions<'a> {
    /// How the target is written.
    pub form: TargetForm<'a>,
    /// The target of a message that has none.
    pub target: &'a str,
    /// The Host field's value: host, and port unless it is the scheme's. A message's own Host goes before.
    pub host: &'a str,
    /// Whether the connection is to last beyond the answer.
    pub keep_alive: bool,
    /// Where the body comes from.
    pub body: BodyKind,
    /// How the answer is handed out.
    pub response: ResponseMode,
    /// Whether content codings are asked for and undone (feature `deflate`).
    pub decode: bool,
    /// Whether the body waits for a `100 Continue` (RFC 9110 §10.1.1).
    pub expect_continue: bool,
    /// Whether this is another try: its answer gets [`Flags::FROM_RETRY`](crate::Flags::FROM_RETRY).
    pub is_retry: bool,
}

impl Default for SendOptions<'_> {
    fn default() -> Self {
        Self {
            form: TargetForm::Origin,
            target: "/",
            host: "",
            keep_alive: true,
            body: BodyKind::Whole,
            response: ResponseMode::Buffered,
            decode: false,
            expect_continue: false,
            is_retry: false,
        }
    }
}

/// How a request's target is written (RFC 9112 §3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetForm<'a> {
    /// Path and query: to the server itself.
    Origin,
    /// With scheme and host before: to a proxy.
    Absolute {
        /// The scheme.
        scheme: &'a str,
    },
    /// Host and port: CONNECT.
    Authority,
    /// `*`: OPTIONS of the server as a whole.
    Asterisk,
}

/// Where a body comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BodyKind {
    /// It is the message's.
    #[default]
    Whole,
    /// It follows in parts.
    Streamed {
        /// How long it will be; chunked if that is not known.
        length: Option<u64>,
    },
}

/// How a response is handed out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResponseMode {
    /// Whole, if it is not longer than [`Limits::body`](super::Limits::body).
    #[default]
    Buffered,
    /// Its head, and its body in parts.
    Streamed,
}

/// How far an exchange has come: what decides whether it may be tried again (RFC 9110 §9.2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Progress {
    /// Nothing of the request has left: the peer has not seen it. Also if there is no request.
    NothingSent,
    /// The head is leaving or has left, and the body was not begun.
    HeadSent,
    /// The body is leaving.
    Sending,
    /// All of the request has left.
    Sent,
    /// Bytes of an answer have arrived.
    Answering,
}
