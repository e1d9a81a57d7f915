//! The six schemes.

use core::fmt;

/// The protocol that a URL asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// HTTP/1.1 over TCP.
    Http,
    /// HTTP/1.1 over TLS.
    Https,
    /// WebSocket over TCP.
    Ws,
    /// WebSocket over TLS.
    Wss,
    /// UDP with one peer.
    Udp,
    /// UDP with a group.
    UdpMulticast,
}

impl Scheme {
    /// Finds the scheme of a name, in letters of any case.
    pub(super) fn of(name: &str) -> Option<Self> {
        let named = Self::ALL.into_iter().find(|scheme| name.eq_ignore_ascii_case(scheme.name()));
        named.or_else(|| name.eq_ignore_ascii_case("udpm").then_some(Self::UdpMulticast))
    }

    /// Returns its name, without the colon.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
            Self::Ws => "ws",
            Self::Wss => "wss",
            Self::Udp => "udp",
            Self::UdpMulticast => "udp_multicast",
        }
    }

    /// Returns the port that a URL need not tell.
    pub const fn default_port(self) -> Option<u16> {
        match self {
            Self::Http | Self::Ws => Some(80),
            Self::Https | Self::Wss => Some(443),
            Self::Udp | Self::UdpMulticast => None,
        }
    }

    /// Says whether it is carried by TLS.
    pub const fn is_tls(self) -> bool {
        matches!(self, Self::Https | Self::Wss)
    }

    /// Says whether it is HTTP that stays HTTP.
    pub const fn is_http(self) -> bool {
        matches!(self, Self::Http | Self::Https)
    }

    /// Says whether it is WebSocket.
    pub const fn is_websocket(self) -> bool {
        matches!(self, Self::Ws | Self::Wss)
    }

    /// Says whether it is UDP.
    pub const fn is_datagram(self) -> bool {
        matches!(self, Self::Udp | Self::UdpMulticast)
    }

    const ALL: [Self; 6] = [Self::Http, Self::Https, Self::Ws, Self::Wss, Self::Udp, Self::UdpMulticast];
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
