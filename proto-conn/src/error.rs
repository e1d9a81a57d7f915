//! What can go wrong, and in which phase.

use alloc::string::String;
use core::fmt;

/// Why something did not succeed: a code that programs can match on, the phase, and what else is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What happened.
    pub code: Code,
    /// While doing what.
    pub phase: Phase,
    /// The operating system's error number, where there was one.
    pub os: Option<i32>,
    /// The TLS alert that the peer sent (RFC 8446 §6), where there was one.
    pub alert: Option<u8>,
    /// The HTTP status that said no, where there was one.
    pub status: Option<u16>,
    /// A sentence for a person: what exactly, and where.
    pub detail: String,
}

impl Error {
    /// Creates one without further particulars.
    pub const fn new(code: Code, phase: Phase) -> Self {
        Self { code, phase, os: None, alert: None, status: None, detail: String::new() }
    }

    /// Adds a sentence for a person.
    #[must_use]
    pub fn with_detail(self, detail: impl Into<String>) -> Self {
        Self { detail: detail.into(), ..self }
    }

    /// Says whether trying again later may help. What is wrong with the URL, a certificate, a message or the peer's
    /// understanding of the protocol stays wrong.
    pub fn is_transient(&self) -> bool {
        match self.status {
            Some(status) => status == 408 || status == 429 || status >= 500,
            None => self.code.is_transient(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.phase, self.code)?;
        if let Some(status) = self.status {
            write!(f, " (status {status})")?;
        }
        if let Some(alert) = self.alert {
            write!(f, " (alert {alert})")?;
        }
        if !self.detail.is_empty() {
            write!(f, ": {}", self.detail)?;
        }
        match self.os {
            Some(os) => write!(f, " (os error {os})"),
            None => Ok(()),
        }
    }
}

impl core::error::Error for Error {}

/// The phases in the life of a connection and of an exchange on it.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i32)]
pub enum Phase {
    /// Reading the URL, options or message that the application gave.
    Arguments = 1,
    /// Finding the addresses of a name.
    Resolve = 2,
    /// Connecting.
    Connect = 3,
    /// Opening a tunnel through a proxy.
    Proxy = 4,
    /// The TLS handshake.
    Tls = 5,
    /// The WebSocket handshake.
    Upgrade = 6,
    /// Sending a message.
    Send = 7,
    /// Waiting for the first byte of an answer.
    FirstByte = 8,
    /// Receiving a message.
    Receive = 9,
    /// Between messages.
    Idle = 10,
    /// Closing.
    Close = 11,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Arguments => "arguments",
            Self::Resolve => "resolve",
            Self::Connect => "connect",
            Self::Proxy => "proxy",
            Self::Tls => "tls",
            Self::Upgrade => "upgrade",
            Self::Send => "send",
            Self::FirstByte => "first byte",
            Self::Receive => "receive",
            Self::Idle => "idle",
            Self::Close => "close",
        })
    }
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $number:literal, $transient:literal, $text:literal;)*) => {
        /// What happened. The numbers are those of the C interface and do not change.
        #[non_exhaustive]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(i32)]
        pub enum Code { $($(#[$doc])* $name = $number,)* }

        impl Code {
            /// All codes.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// Returns it in words.
            pub const fn text(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// Says whether trying again later may help.
            pub const fn is_transient(self) -> bool {
                match self { $(Self::$name => $transient,)* }
            }
        }
    };
}

codes! {
    // Arguments.
    /// The URL is not one, or has a scheme that is not one of the six.
    BadUrl = -1, false, "not a usable URL";
    /// An option has a value that it cannot have.
    BadOption = -2, false, "an option cannot have this value";
    /// A field name or value would change the message's meaning, or is not the application's to set.
    BadHeader = -3, false, "a header field that cannot be sent";
    /// The message is of a kind that this scheme or state does not send, or is malformed.
    BadMessage = -4, false, "a message that cannot be sent here";
    /// The connection is not in a state for this.
    BadState = -5, false, "not possible in this state";
    /// Nothing is there, or there is no room: try again when the connection is ready.
    WouldBlock = -6, true, "not ready";
    /// The message is longer than it may be.
    TooLong = -7, false, "too long";
    /// The application withdrew it.
    Cancelled = -8, false, "cancelled";
    /// The caller's deadline passed. What was begun goes on.
    TimedOut = -9, true, "the deadline passed";
    /// The whole exchange took longer than it may.
    TotalTimeout = -10, true, "took longer than allowed altogether";

    // Resolving and connecting.
    /// The name has no address.
    NoAddress = -20, true, "the name has no address";
    /// Resolving took too long.
    ResolveTimeout = -21, true, "resolving took too long";
    /// Nobody listens there.
    ConnectRefused = -22, true, "connection refused";
    /// There is no way there.
    Unreachable = -23, true, "unreachable";
    /// Connecting took too long.
    ConnectTimeout = -24, true, "connecting took too long";
    /// The operating system said no for another reason.
    Io = -25, true, "the operating system said no";
    /// The driver has no such link.
    Unsupported = -26, false, "not supported by this driver";
    /// The peer reset the connection.
    Reset = -27, true, "connection reset by the peer";
    /// The peer closed the connection where it should have answered.
    ClosedEarly = -28, true, "the peer closed the connection without an answer";
    /// The connection ended before the request was sent: the peer has not seen it.
    NotSent = -29, true, "not sent";

    // Proxy.
    /// The proxy did not open the tunnel.
    ProxyRefused = -40, false, "the proxy refused";
    /// The proxy took too long.
    ProxyTimeout = -41, true, "the proxy took too long";
    /// The proxy wants other credentials.
    ProxyAuth = -42, false, "the proxy wants credentials";
    /// The proxy's answer is not HTTP.
    ProxyProtocol = -43, false, "the proxy does not speak HTTP";

    // TLS.
    /// The handshake took too long.
    TlsTimeout = -60, true, "the TLS handshake took too long";
    /// The peer does not speak TLS as it must.
    TlsProtocol = -61, false, "the peer does not speak TLS properly";
    /// The peer sent an alert.
    TlsAlert = -62, false, "the peer refused with an alert";
    /// No version or cipher in common.
    TlsIncompatible = -63, false, "no TLS version or cipher in common";
    /// The certificate has expired.
    CertExpired = -64, false, "the certificate has expired";
    /// The certificate is not valid yet.
    CertNotYetValid = -65, false, "the certificate is not valid yet";
    /// Nobody we trust issued the certificate.
    CertUnknownIssuer = -66, false, "the certificate's issuer is not trusted";
    /// The certificate is for another name.
    CertWrongName = -67, false, "the certificate is for another name";
    /// The certificate was revoked.
    CertRevoked = -68, false, "the certificate was revoked";
    /// A signature is wrong.
    CertBadSignature = -69, false, "a certificate's signature is wrong";
    /// The certificate is not for this use.
    CertWrongUse = -70, false, "the certificate is not for this use";
    /// The certificate cannot be read, or breaks a rule that has no code of its own.
    CertInvalid = -71, false, "the certificate is invalid";
    /// None of the pinned keys.
    PinMismatch = -72, false, "the certificate's key is not a pinned one";
    /// A client certificate is wanted, and there is none.
    ClientCertRequired = -73, false, "a client certificate is required";
    /// No application protocol in common.
    NoAlpn = -74, false, "no application protocol in common";
    /// The stream ended without close_notify in the middle of something.
    TlsTruncated = -75, true, "the stream was cut off";
    /// Keys or certificates of ours cannot be used.
    TlsConfig = -76, false, "a key or certificate of ours cannot be used";
    /// A certificate is signed in a way that is not safe any more, or not known.
    CertWeak = -77, false, "a certificate's signature is of a kind that is not accepted";
    /// The server issued its certificate itself.
    CertSelfSigned = -78, false, "the certificate is self-signed";

    // HTTP.
    /// Not HTTP, or malformed.
    HttpSyntax = -80, false, "malformed HTTP";
    /// The message's length is told in two ways, or in none that is safe.
    HttpFraming = -81, false, "the message's length is ambiguous";
    /// A transfer coding other than chunked.
    UnsupportedTe = -82, false, "a transfer coding that is not supported";
    /// Another major version.
    HttpVersion = -83, false, "another HTTP version";
    /// The start line is too long.
    StartLineTooLong = -84, false, "the start line is too long";
    /// The header fields are too many or too long.
    HeadersTooLong = -85, false, "the header fields are too many or too long";
    /// The body is longer than it may be.
    BodyTooLong = -86, false, "the body is too long";
    /// The connection ended before the body did.
    IncompleteBody = -87, true, "the body was cut off";
    /// More interim responses than there may be.
    TooManyInformational = -88, false, "too many interim responses";
    /// The compressed body is broken.
    BadEncoding = -89, false, "the content coding is broken";
    /// The compressed body unpacks to more than it may.
    Bomb = -90, false, "unpacks to more than allowed";
    /// No byte of an answer within the time.
    FirstByteTimeout = -91, true, "no answer in time";
    /// Too long a pause in an answer.
    BetweenBytesTimeout = -92, true, "the answer stopped";
    /// The peer does not take what is sent.
    SendTimeout = -93, true, "the peer does not take what is sent";
    /// More redirects than there may be, or in a circle.
    TooManyRedirects = -94, false, "too many redirects";
    /// A redirect that is not followed: to a weaker scheme, or with a body that cannot be sent again.
    RedirectRefused = -95, false, "a redirect that is not followed";
    /// Bytes where none should be.
    Unexpected = -96, false, "the peer spoke unasked";

    // WebSocket.
    /// The server did not switch protocols.
    UpgradeRefused = -110, false, "the server did not switch to WebSocket";
    /// The server's handshake is wrong.
    UpgradeInvalid = -111, false, "the WebSocket handshake is wrong";
    /// A frame breaks the protocol (1002).
    WsProtocol = -112, false, "a frame breaks the WebSocket protocol";
    /// Text that is not UTF-8 (1007).
    WsUtf8 = -113, false, "text that is not UTF-8";
    /// A message longer than it may be (1009).
    WsTooBig = -114, false, "a message longer than allowed";
    /// Compressed data that is broken.
    WsDeflate = -115, false, "compressed data that is broken";
    /// No pong in time.
    PongTimeout = -116, true, "no pong in time";
    /// The peer did not finish the close handshake in time.
    CloseTimeout = -117, true, "closing took too long";
    /// The connection ended without a close frame (1006).
    AbnormalClosure = -118, true, "ended without a close frame";
    /// The handshake took too long.
    UpgradeTimeout = -119, true, "the WebSocket handshake took too long";

    // Multicast.
    /// There is no such network interface.
    NoInterface = -130, true, "no such network interface";
    /// The group cannot be joined.
    JoinFailed = -131, true, "the group cannot be joined";

    // The C interface.
    /// A bug of ours was caught at the edge; the handle is of no use any more.
    Panic = -150, false, "an internal error";
    /// There is not enough memory.
    NoMemory = -151, true, "not enough memory";
    /// The caller's buffer is too small; the message is kept.
    TooSmall = -152, false, "the buffer is too small";
    /// The caller and the library do not speak the same version.
    AbiMismatch = -153, false, "another ABI version";
    /// A pointer or handle that cannot be used.
    BadHandle = -154, false, "not a usable handle";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString as _;

    #[test]
    fn codes_are_distinct_and_an_error_reads_as_a_sentence() {
        for (n, code) in Code::ALL.iter().enumerate() {
            assert!((*code as i32) < 0);
            assert!(Code::ALL.iter().skip(n + 1).all(|other| *other as i32 != *code as i32));
        }
        let error = Error::new(Code::ConnectRefused, Phase::Connect).with_detail("127.0.0.1:1");
        let error = Error { os: Some(111), ..error };
        assert_eq!(error.to_string(), "connect: connection refused: 127.0.0.1:1 (os error 111)");
    }

    #[test]
    fn a_busy_server_is_worth_another_try_and_a_bad_request_is_not() {
        let refused = Error::new(Code::UpgradeRefused, Phase::Upgrade);
        assert!(Error { status: Some(503), ..refused.clone() }.is_transient());
        assert!(!Error { status: Some(404), ..refused }.is_transient());
    }
}
