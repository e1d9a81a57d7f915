//! URLs of the six schemes.
//!
//! Parsing is strict by RFC 3986: what has to be percent-encoded must be, there is exactly one way to read the
//! authority, and an IPv4 address is four decimal numbers and nothing else. What leaves here can be put into a request
//! line and a `Host` field as it is.

mod error;
mod host;
mod parse;
mod percent;
mod reference;
mod scheme;

use alloc::{
    borrow::{Cow, ToOwned as _},
    string::String,
};
use core::{fmt, net::IpAddr, str::FromStr};

pub use error::{UrlError, UrlProblem};
pub use host::Host;
pub use scheme::Scheme;

/// Where a connection leads, and what the first request asks for.
///
/// Its forms for people hide the password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    /// The protocol.
    pub scheme: Scheme,
    /// Credentials in front of the host. Datagram schemes have none.
    pub userinfo: Option<UserInfo>,
    /// The only sender that is listened to (`udp_multicast://source@group:port`).
    pub source: Option<IpAddr>,
    /// The host, or a multicast group.
    pub host: Host,
    /// The port; never 0.
    pub port: u16,
    /// Path and query, as given and never empty. A fragment is not part of it: it is for nobody but the reader.
    pub target: String,
}

impl Url {
    /// Longer URLs are refused, in bytes.
    pub const MAX_LEN: usize = 8 << 10;

    /// Reads an absolute URL.
    ///
    /// # Errors
    ///
    /// When it is not one of the six schemes' URLs; the error says what is wrong and at which byte.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        parse::absolute(text)
    }

    /// Resolves a reference, such as a redirect's `Location`, against this URL (RFC 3986 §5.2).
    ///
    /// A reference without an authority of its own keeps the credentials. Whether a reference to somewhere else may be
    /// followed, and what may be told there, is the caller's to decide, with [`origin_eq`](Self::origin_eq).
    ///
    /// # Errors
    ///
    /// When the reference is not a valid one, or leads to a scheme that is not one of the six.
    pub fn join(&self, reference: &str) -> Result<Self, UrlError> {
        reference::resolve(self, reference)
    }

    /// Returns what a `Host` field says: the host, and the port unless it is the scheme's own. Zone ids stay here
    /// (RFC 6874 §4).
    pub fn authority(&self) -> String {
        let host = match &self.host {
            Host::V6 { ip, .. } => Host::V6 { ip: *ip, zone: None },
            host @ (Host::Name(_) | Host::V4(_)) => host.clone(),
        };
        alloc::format!("{host}{}", PortSuffix(self))
    }

    /// Returns the decoded value of the first `name=value` of the query.
    pub fn query_value(&self, name: &str) -> Option<Cow<'_, str>> {
        self.query_values(name).next()
    }

    /// Returns the decoded values of all `name=value` of the query, in order. Bytes that are not UTF-8 become U+FFFD.
    pub fn query_values<'a>(&'a self, name: &str) -> impl Iterator<Item = Cow<'a, str>> {
        let query = self.target.split_once('?').map_or("", |(_, query)| query);
        let pairs = query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        pairs
            .filter(move |(key, _)| percent::decode_lossy(key) == name)
            .map(|(_, value)| percent::decode_lossy(value))
    }

    /// Says whether the other has the same scheme, host and port (RFC 6454 §5).
    pub fn origin_eq(&self, other: &Self) -> bool {
        self.scheme == other.scheme && self.host == other.host && self.port == other.port
    }
}

impl FromStr for Url {
    type Err = UrlError;

    fn from_str(text: &str) -> Result<Self, UrlError> {
        Self::parse(text)
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://", self.scheme)?;
        if let Some(userinfo) = &self.userinfo {
            write!(f, "{userinfo}@")?;
        }
        match self.source {
            Some(IpAddr::V4(source)) => write!(f, "{source}@")?,
            Some(IpAddr::V6(source)) => write!(f, "[{source}]@")?,
            None => {}
        }
        write!(f, "{}{}", self.host, PortSuffix(self))?;
        f.write_str(if self.scheme.is_datagram() {
            self.target.trim_start_matches('/')
        } else {
            &self.target
        })
    }
}

/// Credentials of a URL, decoded.
#[derive(Clone, PartialEq, Eq)]
pub struct UserInfo {
    /// The user's name; may be empty.
    pub user: String,
    /// What follows the first colon.
    pub password: Option<String>,
}

impl UserInfo {
    fn parse(text: &str) -> Option<Self> {
        let (user, password) = match text.split_once(':') {
            Some((user, password)) => (user, Some(password)),
            None => (text, None),
        };
        Some(Self {
            user: percent::decode(user)?.into_owned(),
            password: match password {
                Some(password) => Some(percent::decode(password)?.into_owned()),
                None => None,
            },
        })
    }
}

impl fmt::Display for UserInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", percent::Encoded(&self.user))?;
        f.write_str(if self.password.is_some() { ":***" } else { "" })
    }
}

impl fmt::Debug for UserInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let password = self.password.as_ref().map(|_| "***".to_owned());
        f.debug_struct("UserInfo").field("user", &self.user).field("password", &password).finish()
    }
}

/// A colon and the port, or nothing where the scheme says it.
struct PortSuffix<'a>(&'a Url);

impl fmt::Display for PortSuffix<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.scheme.default_port() == Some(self.0.port) { Ok(()) } else { write!(f, ":{}", self.0.port) }
    }
}
