//! What applications choose.

use alloc::{string::String, sync::Arc, vec, vec::Vec};
use core::fmt;

use super::{Identity, Roots, TlsVersion};

/// How to be a TLS client.
#[derive(Clone, Debug)]
pub struct TlsConfig {
    /// Whose certificates to believe. Without any, only [`pins`](Self::pins) count.
    pub roots: Roots,
    /// SHA-256 of the keys (`SubjectPublicKeyInfo`) of which the server's certificate must have one, if there are any.
    /// With [`roots`](Self::roots) the certificate must be good as well. Without roots the key alone decides, whatever
    /// the certificate says of names and dates: right for devices with self-signed certificates.
    pub pins: Vec<[u8; 32]>,
    /// The name or address that the certificate must be for, and that the handshake asks for, in place of the URL's.
    pub server_name: Option<String>,
    /// What to present when the server asks for a certificate.
    pub identity: Option<Identity>,
    /// Application protocols to offer, best first (RFC 7301). `http/1.1` unless changed.
    pub alpn: Vec<Vec<u8>>,
    /// The oldest version to accept.
    pub oldest: TlsVersion,
    /// The newest version to offer.
    pub newest: TlsVersion,
    /// Which ciphers to prefer.
    pub ciphers: Ciphers,
    /// For how many servers sessions are remembered to be taken up again, which saves most of the computation; the one
    /// that was heard of longest ago gives way. None are with 0. A session is only taken up by the configuration (with
    /// all its clones) that began it: others may believe other people. Its keys stay in memory meanwhile.
    pub sessions: usize,
    /// Where keys are told, so that recorded traffic can be read.
    pub key_log: Option<KeyLog>,
    /// Believes any certificate: everybody on the way can read and change everything. For laboratories. Pins still
    /// count.
    pub insecure_skip_verify: bool,
}

impl Default for TlsConfig {
    fn default() -> Self {
        Self {
            roots: Roots::default(),
            pins: Vec::new(),
            server_name: None,
            identity: None,
            alpn: vec![b"http/1.1".to_vec()],
            oldest: TlsVersion::V1_2,
            newest: TlsVersion::V1_3,
            ciphers: Ciphers::default(),
            sessions: 256,
            key_log: None,
            insecure_skip_verify: false,
        }
    }
}

/// How to be a TLS server.
#[derive(Clone, Debug)]
pub struct TlsServerConfig {
    /// What to present.
    pub identity: Identity,
    /// Whether clients present certificates too.
    pub client_auth: ClientAuth,
    /// Application protocols to accept, best first. A client that offers others only is refused. `http/1.1` and
    /// `http/1.0` unless changed.
    pub alpn: Vec<Vec<u8>>,
    /// The oldest version to accept.
    pub oldest: TlsVersion,
    /// The newest version to accept.
    pub newest: TlsVersion,
    /// How many sessions are remembered to be taken up again. None are with 0.
    pub sessions: usize,
    /// Where keys are told, so that recorded traffic can be read.
    pub key_log: Option<KeyLog>,
}

impl TlsServerConfig {
    /// Creates one that asks for no client certificates.
    pub fn new(identity: Identity) -> Self {
        Self {
            identity,
            client_auth: ClientAuth::None,
            alpn: vec![b"http/1.1".to_vec(), b"http/1.0".to_vec()],
            oldest: TlsVersion::V1_2,
            newest: TlsVersion::V1_3,
            sessions: 256,
            key_log: None,
        }
    }
}

/// Whether a server asks for client certificates.
#[derive(Clone, Debug)]
pub enum ClientAuth {
    /// It does not.
    None,
    /// It does, and goes on without one. One that is presented must be issued by one of these.
    Optional(Roots),
    /// It does, and refuses clients without one that is issued by one of these.
    Required(Roots),
}

/// Which ciphers a client prefers. All are offered in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ciphers {
    /// The fastest that are strong enough for all known purposes: AES-128-GCM where the processor has instructions for
    /// AES, `ChaCha20-Poly1305` elsewhere.
    #[default]
    Fast,
    /// Those with keys of 256 bits.
    Long,
}

/// Receives the keys of connections, one line for each in the format of `SSLKEYLOGFILE`.
#[derive(Clone)]
pub struct KeyLog(Arc<dyn Fn(&str) + Send + Sync>);

impl KeyLog {
    /// Creates one that calls `write` with each line, which has no line end.
    pub fn new(write: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Arc::new(write))
    }
}

impl fmt::Debug for KeyLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyLog")
    }
}

/// Shows a key log to rustls.
#[derive(Debug)]
pub(super) struct Logged(pub(super) KeyLog);

impl rustls::KeyLog for Logged {
    fn log(&self, label: &str, client_random: &[u8], secret: &[u8]) {
        let line = alloc::format!("{label} {} {}", Hex(client_random), Hex(secret));
        (self.0.0)(&line);
    }
}

struct Hex<'a>(&'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
