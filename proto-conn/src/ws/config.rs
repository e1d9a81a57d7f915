//! What can be chosen about a WebSocket connection.

use alloc::{string::String, vec::Vec};
use core::time::Duration;

use super::frame;
use crate::{Code, Error, Headers, Phase, headers::is_token};

/// What can be chosen about a WebSocket connection, in both roles.
///
/// Together the limits bound the memory of a session: one message being received, the events that wait, the write side
/// up to its mark and one message beyond it, and some 300 KiB for compression where that was agreed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Subprotocols that a client offers or a server speaks, the preferred one first.
    pub subprotocols: Vec<String>,
    /// Further header fields of a client's request or a server's response. Those of the handshake itself cannot be set.
    pub headers: Headers,
    /// The origin that a client gives (RFC 6455 §10.2).
    pub origin: Option<String>,
    /// The origins that a server takes.
    pub origins: Origins,
    /// Compression to offer or to accept (RFC 7692). Without the crate's feature `deflate` there is none.
    pub deflate: Option<Deflate>,

    /// The longest frame that is taken, in bytes of payload. A longer one ends the connection with 1009, as do the other
    /// limits on what is received.
    pub max_frame: u64,
    /// The longest message that is taken, unpacked.
    pub max_message: usize,
    /// The largest number of frames that a message may come in.
    pub max_fragments: u32,
    /// How many times its packed length a message may unpack to, once it is longer than 1 MiB.
    pub max_ratio: u32,
    /// How messages are handed out.
    pub receive: Receive,
    /// Whether messages are still handed out after [`close`](super::Session::close) was called; otherwise they are
    /// dropped.
    pub deliver_while_closing: bool,
    /// Whether pings and pongs are handed out as messages too.
    pub deliver_control: bool,
    /// Whether pings are answered.
    pub auto_pong: bool,

    /// Above this many bytes that wait to be sent, [`send`](super::Session::send) refuses with
    /// [`Code::WouldBlock`].
    pub high_water: usize,
    /// The longest frame that is sent; longer messages are sent in several.
    pub fragment_above: Option<usize>,
    /// Pings that watch over the connection.
    pub keepalive: Option<Keepalive>,
    /// How long the close handshake may take.
    pub close_timeout: Duration,
    /// Lets a client send its frames under a mask of zeros, which spares the copy. A page in a browser, or whatever else
    /// chooses the payloads, can then make a proxy on the way take them for something else (RFC 6455 §10.3): for
    /// benchmarks over the loopback interface only.
    pub unsafe_null_mask: bool,
}

/// The origins that a server takes (RFC 6455 §4.2.2): browsers tell them, so this keeps other people's pages away.
#[derive(Clone, Debug, Default)]
pub enum Origins {
    /// All, and requests without one.
    #[default]
    Any,
    /// Those listed, such as `https://example.org`, compared without regard to case; and requests without one, which no
    /// browser makes.
    Listed(Vec<String>),
    /// Those that a function takes.
    Checked(fn(Option<&[u8]>) -> bool),
}

impl PartialEq for Origins {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Any, Self::Any) => true,
            (Self::Listed(a), Self::Listed(b)) => a == b,
            (Self::Checked(a), Self::Checked(b)) => core::ptr::fn_addr_eq(*a, *b),
            (Self::Any | Self::Listed(_) | Self::Checked(_), _) => false,
        }
    }
}

impl Eq for Origins {}

/// How messages are handed out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Receive {
    /// As a whole.
    #[default]
    Whole,
    /// In parts: at the end of each frame, and wherever a part has grown to `part` bytes. The parts are marked
    /// [`STREAMED`](crate::Flags::STREAMED), the last one [`FIN`](crate::Flags::FIN) as well; it may be empty. Parts of
    /// a text may end within a character.
    Streamed {
        /// The longest part.
        part: usize,
    },
}

/// Pings that watch over a connection. RTT is measured with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keepalive {
    /// The time from ping to ping.
    pub interval: Duration,
    /// How long nothing at all may arrive after a ping before the connection counts as dead.
    pub timeout: Duration,
}

impl Default for Keepalive {
    fn default() -> Self {
        Self { interval: Duration::from_secs(20), timeout: Duration::from_secs(20) }
    }
}

/// Compression, as permessage-deflate (RFC 7692).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deflate {
    /// How hard to try, from 1 (fast) to 9 (small).
    pub level: u8,
    /// Messages shorter than this are sent as they are.
    pub threshold: usize,
    /// The largest window of what the client sends, as a power of two: 8 to 15. The memory that it needs grows with it.
    pub client_max_window_bits: u8,
    /// The largest window of what the server sends.
    pub server_max_window_bits: u8,
    /// Whether each message of the client is to be packed for itself: worse, but without memory between messages.
    pub client_no_context_takeover: bool,
    /// Whether each message of the server is to be packed for itself.
    pub server_no_context_takeover: bool,
    /// How long there may be nothing to pack or unpack before memory that can be given back is.
    pub release_after: Duration,
}

impl Default for Deflate {
    fn default() -> Self {
        Self {
            level: 6,
            threshold: 64,
            client_max_window_bits: 15,
            server_max_window_bits: 15,
            client_no_context_takeover: false,
            server_no_context_takeover: false,
            release_after: Duration::from_secs(10),
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            subprotocols: Vec::new(),
            headers: Headers::new(),
            origin: None,
            origins: Origins::Any,
            deflate: None,
            max_frame: 16 << 20,
            max_message: 64 << 20,
            max_fragments: 4_096,
            max_ratio: 1_000,
            receive: Receive::Whole,
            deliver_while_closing: false,
            deliver_control: false,
            auto_pong: true,
            high_water: 1 << 20,
            fragment_above: None,
            keepalive: None,
            close_timeout: Duration::from_secs(1),
            unsafe_null_mask: false,
        }
    }
}

/// Why a configuration cannot be used.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// A subprotocol's name is not a token, or is there twice (RFC 6455 §4.1).
    #[error("subprotocols must be different tokens")]
    Subprotocol,
    /// The origin cannot be sent in a header field.
    #[error("the origin is not a header field's value")]
    Origin,
    /// A further field is one of the handshake's own.
    #[error("a header field belongs to the handshake itself")]
    Header,
    /// A limit leaves no room for anything, or not even for control frames.
    #[error("a limit is too small")]
    Limit,
    /// A time of the keepalive is zero.
    #[error("the keepalive's times must not be zero")]
    Keepalive,
    /// A window or a level that DEFLATE does not have.
    #[error("compression windows are 8 to 15 bits, levels 1 to 9")]
    Deflate,
    /// Compression was agreed on, but this build has none.
    #[error("this build has no compression")]
    NoDeflate,
}

impl From<ConfigError> for Error {
    fn from(error: ConfigError) -> Self {
        Self::new(Code::BadOption, Phase::Arguments).with_detail(alloc::format!("{error}"))
    }
}

impl Config {
    /// Checks that the values fit together.
    ///
    /// # Errors
    /// Says what does not.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.validate_handshake()?;
        let part = match self.receive {
            Receive::Whole => 1,
            Receive::Streamed { part } => part,
        };
        let frame_to_send = self.fragment_above.unwrap_or(1);
        let limits =
            [part, frame_to_send, self.max_message, self.max_fragments as usize, self.max_ratio as usize];
        if limits.contains(&0) || self.max_frame < frame::MAX_CONTROL as u64 {
            return Err(ConfigError::Limit);
        }
        if self.keepalive.is_some_and(|it| it.interval.is_zero() || it.timeout.is_zero()) {
            return Err(ConfigError::Keepalive);
        }
        Ok(())
    }

    fn validate_handshake(&self) -> Result<(), ConfigError> {
        let mut before = self.subprotocols.iter();
        while let Some(last) = before.next_back() {
            if last.is_empty() || !last.bytes().all(is_token) || before.as_slice().contains(last) {
                return Err(ConfigError::Subprotocol);
            }
        }
        if let Some(origin) = &self.origin {
            Headers::new().append("Origin", origin).map_err(|_| ConfigError::Origin)?;
        }
        if self.headers.iter().any(|(name, _)| is_of_handshake(name)) {
            return Err(ConfigError::Header);
        }
        if let Some(deflate) = &self.deflate {
            let windows = [deflate.client_max_window_bits, deflate.server_max_window_bits];
            if !windows.iter().all(|bits| (8..=15).contains(bits)) || !(1..=9).contains(&deflate.level) {
                return Err(ConfigError::Deflate);
            }
        }
        Ok(())
    }
}

/// Says whether a field says something that the handshake decides.
fn is_of_handshake(name: &str) -> bool {
    const PREFIX: &str = "sec-websocket-";
    let own = ["upgrade", "connection", "host", "origin", "content-length", "transfer-encoding"];
    own.iter().any(|own| name.eq_ignore_ascii_case(own))
        || name.get(..PREFIX.len()).is_some_and(|start| start.eq_ignore_ascii_case(PREFIX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn the_default_is_valid_and_each_fault_is_named() {
        assert_eq!(Config::default().validate(), Ok(()));
        let with = |change: fn(&mut Config)| {
            let mut config = Config::default();
            change(&mut config);
            config.validate()
        };
        assert_eq!(with(|c| c.subprotocols = vec!["a b".into()]), Err(ConfigError::Subprotocol));
        assert_eq!(
            with(|c| c.subprotocols = vec!["a".into(), "b".into(), "a".into()]),
            Err(ConfigError::Subprotocol)
        );
        assert_eq!(with(|c| c.origin = Some("a\r\nb".into())), Err(ConfigError::Origin));
        assert_eq!(with(|c| c.headers.append("SEC-WebSocket-Key", "x").unwrap()), Err(ConfigError::Header));
        assert_eq!(with(|c| c.max_message = 0), Err(ConfigError::Limit));
        assert_eq!(with(|c| c.max_frame = 124), Err(ConfigError::Limit));
        assert_eq!(with(|c| c.receive = Receive::Streamed { part: 0 }), Err(ConfigError::Limit));
        let deflate = |c: &mut Config| c.deflate = Some(Deflate { level: 0, ..Deflate::default() });
        assert_eq!(with(deflate), Err(ConfigError::Deflate));
        let never = Keepalive { interval: Duration::ZERO, ..Keepalive::default() };
        let config = Config { keepalive: Some(never), ..Config::default() };
        assert_eq!(config.validate(), Err(ConfigError::Keepalive));
    }
}
