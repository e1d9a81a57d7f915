//! The six schemes.

use std::fmt;
use std::str::FromStr;

use crate::Fault;

/// How a message and its echo travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scheme {
    /// POST of the message, a response with the same body.
    Http,
    /// The same inside TLS 1.3.
    Https,
    /// A binary message each way.
    Ws,
    /// The same inside TLS 1.3.
    Wss,
    /// A datagram each way.
    Udp,
    /// A datagram each way, both to multicast groups on the loopback interface.
    UdpMulticast,
}

impl Scheme {
    /// All schemes, in the order in which they are measured.
    pub const ALL: [Self; 6] = [Self::Http, Self::Https, Self::Ws, Self::Wss, Self::Udp, Self::UdpMulticast];

    /// The scheme as a URL has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
            Self::Ws => "ws",
            Self::Wss => "wss",
            Self::Udp => "udp",
            Self::UdpMulticast => "udp_multicast",
        }
    }

    /// Whether TLS is below.
    pub fn is_secure(self) -> bool {
        matches!(self, Self::Https | Self::Wss)
    }

    /// Whether messages are datagrams.
    pub fn is_datagram(self) -> bool {
        matches!(self, Self::Udp | Self::UdpMulticast)
    }

    /// Whether messages are WebSocket messages.
    pub fn is_web_socket(self) -> bool {
        matches!(self, Self::Ws | Self::Wss)
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Scheme {
    type Err = Fault;

    fn from_str(name: &str) -> Result<Self, Fault> {
        let known = Self::ALL.into_iter().find(|scheme| scheme.name() == name);
        known.ok_or_else(|| format!("`{name}` is none of the schemes").into())
    }
}
