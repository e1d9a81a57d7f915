//! TLS 1.2 and 1.3 under the byte-stream protocols, in both roles.
//!
//! [`TlsLayer`] stands between the carrier and a [`Talk`](crate::Talk): ciphertext goes in and plaintext comes out,
//! what is [`Outgoing`] goes in and records come out. It neither reads nor writes by itself, and knows the wall time only
//! from a [`WallClock`]. Randomness for keys is the one thing that the cryptography takes from the operating system.
//!
//! Configurations are prepared once ([`TlsClient`], [`TlsServer`]) and shared by connections. The implementation
//! behind the trait is rustls; nothing of it is seen from outside.
//!
//! | file | what |
//! |---|---|
//! | `config`, `roots`, `identity` | what applications choose |
//! | `prepared`, `provider`, `time` | how rustls is set up for it |
//! | `verify`, `der`, `fault` | whom to trust, and what an error says |
//! | `layer`, `received` | records |

#[cfg(not(feature = "tls"))]
mod absent;
#[cfg(feature = "tls")]
mod config;
#[cfg(feature = "tls")]
mod der;
#[cfg(feature = "tls")]
mod fault;
#[cfg(feature = "tls")]
mod identity;
#[cfg(feature = "tls")]
mod layer;
#[cfg(feature = "tls")]
mod prepared;
#[cfg(feature = "tls")]
mod provider;
#[cfg(feature = "tls")]
mod received;
#[cfg(feature = "tls")]
mod roots;
#[cfg(feature = "tls")]
mod time;
#[cfg(feature = "tls")]
mod verify;

use alloc::{boxed::Box, vec::Vec};

use crate::{Error, Host, Outgoing, StreamEnd};

#[cfg(not(feature = "tls"))]
pub use absent::{TlsClient, TlsServer};
#[cfg(feature = "tls")]
pub use config::{Ciphers, ClientAuth, KeyLog, TlsConfig, TlsServerConfig};
#[cfg(feature = "tls")]
pub use identity::Identity;
#[cfg(feature = "tls")]
pub use prepared::{TlsClient, TlsServer};
#[cfg(feature = "tls")]
pub use roots::Roots;
#[cfg(feature = "tls")]
pub use time::WallClock;

/// One side of a TLS connection.
///
/// ```text
/// handshaking ──► open ──► close_notify sent and received, in any order
///      └───────────┴─────► failed: an alert waits in the output, and every input is answered with the same error
/// ```
///
/// Errors are of [`Phase::Tls`](crate::Phase::Tls). After one, what [`encrypt`](Self::encrypt) still has to say (the
/// alert) should be sent before the carrier is closed.
pub trait TlsLayer: Send + core::fmt::Debug {
    /// Lends the place into which the next ciphertext is read; it is decrypted there. Never empty while
    /// [`wants_input`](Self::wants_input).
    fn spare(&mut self) -> &mut [u8];

    /// Takes note that `len` bytes of ciphertext lie in the lent place, and gives what they contain to `plain`, which
    /// returns how many bytes it took. What it does not take is kept and offered again by [`resume`](Self::resume).
    ///
    /// # Errors
    ///
    /// When the peer breaks the protocol, cannot be trusted, or sent an alert.
    fn advance(&mut self, len: usize, plain: &mut dyn FnMut(&[u8]) -> usize) -> Result<(), Error>;

    /// Offers what was kept, and what lies in the receive buffer behind it.
    ///
    /// # Errors
    ///
    /// As [`advance`](Self::advance).
    fn resume(&mut self, plain: &mut dyn FnMut(&[u8]) -> usize) -> Result<(), Error> {
        self.advance(0, plain)
    }

    /// Does the same for ciphertext that was read elsewhere, and returns how much of it was taken: less than all when
    /// `plain` does not take what it contains.
    ///
    /// # Errors
    ///
    /// As [`advance`](Self::advance).
    fn handle_ciphertext(
        &mut self,
        data: &[u8],
        plain: &mut dyn FnMut(&[u8]) -> usize,
    ) -> Result<usize, Error> {
        let mut rest = data;
        while !rest.is_empty() && self.wants_input() {
            let spare = self.spare();
            let (now, later) = rest.split_at(spare.len().min(rest.len()));
            spare.iter_mut().zip(now).for_each(|(to, from)| *to = *from);
            rest = later;
            self.advance(now.len(), plain)?;
        }
        Ok(data.len() - rest.len())
    }

    /// Says whether it takes ciphertext: nothing waits to be taken from it.
    fn wants_input(&self) -> bool;

    /// Moves bytes from `from` into records that it appends to `buf`, behind handshake messages and alerts that wait.
    ///
    /// What is appended stays within `limit` bytes, but for handshake messages, in whole records where there is enough
    /// for one; [`WRITE_LIMIT`] is a good limit. Bytes that wait together leave in one record if they fit. Nothing is
    /// moved before the handshake is over, and nothing after `close_notify`.
    ///
    /// # Errors
    ///
    /// When the keys are used up and cannot be replaced (TLS 1.2 after 2^24 records or more).
    fn encrypt(&mut self, from: &mut Outgoing, limit: usize, buf: &mut Vec<u8>) -> Result<(), Error>;

    /// Says whether [`encrypt`](Self::encrypt) has something of its own to say.
    fn wants_output(&self) -> bool;

    /// Says whether the handshake is not over.
    fn is_handshaking(&self) -> bool;

    /// Has `close_notify` sent by the call of [`encrypt`](Self::encrypt) that moves the last bytes.
    fn send_close_notify(&mut self);

    /// Takes note that the carrier brings no more, and tells what that means.
    fn handle_eof(&mut self) -> StreamEnd {
        self.has_ended().unwrap_or(StreamEnd::Truncated)
    }

    /// Returns [`StreamEnd::Closed`] once the peer's `close_notify` was seen.
    fn has_ended(&self) -> Option<StreamEnd>;

    /// Returns what was agreed on, once the handshake is over.
    fn info(&self) -> Option<&TlsInfo>;
}

/// Creates the client's side of a connection to `host`. The name goes into the handshake (SNI) unless it is an address;
/// the certificate must be for it either way.
///
/// # Errors
///
/// When no certificate can be for such a name.
pub fn client(config: &TlsClient, host: &Host) -> Result<Box<dyn TlsLayer>, Error> {
    config.connect(host)
}

/// Creates the server's side of a connection.
///
/// # Errors
///
/// When the configuration is of no use.
pub fn server(config: &TlsServer) -> Result<Box<dyn TlsLayer>, Error> {
    config.accept()
}

/// Returns what pins a certificate's key: SHA-256 of its `SubjectPublicKeyInfo`, as for `TlsConfig::pins`.
///
/// # Errors
///
/// [`Code::TlsConfig`](crate::Code::TlsConfig) when `certificate` is not one in DER.
#[cfg(feature = "tls")]
pub fn pin(certificate: &[u8]) -> Result<[u8; 32], Error> {
    verify::pin(certificate).map_err(|error| fault::configuration(&error))
}

/// The best size of one write of ciphertext, in bytes: three whole records. Writes of little more than 64 KiB cost
/// twice as much on Linux as those of less.
pub const WRITE_LIMIT: usize = 60_000;

/// What the two sides agreed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsInfo {
    /// The version.
    pub version: TlsVersion,
    /// The cipher suite's name by IANA.
    pub cipher: &'static str,
    /// The application protocol (RFC 7301), if one was negotiated.
    pub alpn: Option<Vec<u8>>,
    /// Whether an earlier session was taken up again.
    pub resumed: bool,
    /// The peer's certificates in DER, its own first. Of a resumed session those of the first one.
    pub peer_chain: Vec<Vec<u8>>,
}

/// The versions of TLS that are spoken. Older ones are broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TlsVersion {
    /// TLS 1.2 (RFC 5246).
    V1_2,
    /// TLS 1.3 (RFC 8446).
    V1_3,
}
