//! How a connection behaves.

use alloc::{string::String, vec, vec::Vec};
use core::{net::SocketAddr, time::Duration};
use proto_core::{DatagramOptions, Interface};

use super::reconnect::Reconnect;
use crate::{Code, Error, Headers, Phase, Scheme, Url, http, tls::TlsClient, ws};

/// How a [`Connection`](super::Connection) behaves. The default suits a client of a service that is near.
#[derive(Clone, Debug)]
pub struct Options {
    /// How long each phase may take.
    pub timeouts: Timeouts,
    /// Use a connection for several exchanges (`keepAlive` = 1), or close it after one. Has no meaning for datagrams.
    pub keep_alive: bool,
    /// How long an unused HTTP connection is kept.
    pub idle_limit: Duration,
    /// How long an HTTP connection is used altogether.
    pub max_age: Option<Duration>,
    /// For how many exchanges an HTTP connection is used.
    pub max_exchanges: u32,
    /// Messages that wait for the connection, or for their turn. More are refused with
    /// [`Code::WouldBlock`](crate::Code::WouldBlock).
    pub max_waiting: usize,
    /// Events that wait for the application. Nothing more is read from a stream while there are as many; datagrams
    /// beyond are dropped and counted.
    pub max_events: usize,
    /// Limits and rules of HTTP.
    pub http: http::Config,
    /// Limits and rules of WebSocket.
    pub ws: ws::Config,
    /// Fields for each request, and for the WebSocket handshake, that does not have them itself.
    pub headers: Headers,
    /// How many redirects an exchange follows. 0 hands them out as they are.
    pub max_redirects: u8,
    /// Whether a redirect may lead from `https` to `http`.
    pub allow_downgrade: bool,
    /// Bodies of at least this many bytes wait for the server's consent (`Expect: 100-continue`).
    pub expect_continue_from: Option<u64>,
    /// Ask for compressed bodies, and unpack them.
    pub decode: bool,
    /// Hand bodies of responses out in parts, as they come.
    pub stream_responses: bool,
    /// Ask the way through this proxy.
    pub proxy: Option<Proxy>,
    /// TLS for `https` and `wss`.
    pub tls: Option<TlsClient>,
    /// What happens when a WebSocket or its server goes away; `None` closes the handle.
    pub reconnect: Option<Reconnect>,
    /// Settings of a datagram socket.
    pub datagram: DatagramOptions,
    /// The local address of a datagram socket.
    pub bind: Option<SocketAddr>,
    /// The interfaces on which a group is joined, and on which each datagram is sent. The URL's `iface` adds to them.
    pub interfaces: Vec<Interface>,
    /// Whether members of the group on this host hear what is sent.
    pub loopback: bool,
}

/// How long each phase may take. The clock of a phase starts with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Finding a name's addresses.
    pub resolve: Duration,
    /// Connecting, all addresses together.
    pub connect: Duration,
    /// How long one address is tried alone before the next joins in (RFC 8305 §5).
    pub stagger: Duration,
    /// The TLS handshake.
    pub tls: Duration,
    /// Opening a tunnel through a proxy.
    pub proxy: Duration,
    /// The WebSocket handshake.
    pub upgrade: Duration,
    /// How long the peer may take nothing of what is sent.
    pub send: Duration,
    /// An exchange altogether, from its call to the last byte of its answer.
    pub total: Option<Duration>,
    /// Closing.
    pub close: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            resolve: Duration::from_secs(5),
            connect: Duration::from_secs(5),
            stagger: Duration::from_millis(250),
            tls: Duration::from_secs(5),
            proxy: Duration::from_secs(5),
            upgrade: Duration::from_secs(5),
            send: Duration::from_secs(10),
            total: None,
            close: Duration::from_secs(1),
        }
    }
}

/// A forward proxy (RFC 9110 §3.7): plain requests are sent to it whole, others through a tunnel. It also resolves the
/// names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proxy {
    /// Where it is: an `http` URL. Its user information becomes `Proxy-Authorization`.
    pub url: Url,
    /// Hosts that are reached without it: names, names with a leading dot for all below, addresses, or `*`.
    pub except: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            timeouts: Timeouts::default(),
            keep_alive: true,
            idle_limit: Duration::from_secs(30),
            max_age: None,
            max_exchanges: u32::MAX,
            max_waiting: 64,
            max_events: 256,
            http: http::Config::default(),
            ws: ws::Config::default(),
            headers: Headers::new(),
            max_redirects: 0,
            allow_downgrade: false,
            expect_continue_from: None,
            decode: false,
            stream_responses: false,
            proxy: None,
            tls: None,
            reconnect: None,
            datagram: DatagramOptions::default(),
            bind: None,
            interfaces: vec![],
            loopback: true,
        }
    }
}

impl Options {
    /// Checks them for a URL.
    ///
    /// # Errors
    /// [`Code::BadOption`] and which one.
    pub fn validate(&self, url: &Url) -> Result<(), Error> {
        let bad = |detail: &str| Err(Error::new(Code::BadOption, Phase::Arguments).with_detail(detail));
        if self.max_waiting == 0 || self.max_events == 0 {
            return bad("max_waiting and max_events must be at least 1");
        }
        if url.scheme.is_tls() && self.tls.is_none() {
            return bad("this scheme needs `tls`");
        }
        if self.proxy.as_ref().is_some_and(|proxy| proxy.url.scheme != Scheme::Http) {
            return bad("a proxy is reached by an http URL");
        }
        if let Err(error) = self.http.validate() {
            return bad(&alloc::format!("http: {error}"));
        }
        if let Err(error) = self.ws.validate() {
            return bad(&alloc::format!("ws: {error}"));
        }
        Ok(())
    }

    /// Returns the proxy for a URL, if there is one and the host is not excepted.
    pub(super) fn proxy_for(&self, url: &Url) -> Option<&Proxy> {
        self.proxy.as_ref().filter(|proxy| !proxy.excepts(url))
    }
}

impl Proxy {
    /// Says whether a URL's host is reached without the proxy. An exception may have a port.
    pub fn excepts(&self, url: &Url) -> bool {
        let host = alloc::format!("{}", url.host);
        let host = host.trim_matches(['[', ']']);
        self.except.iter().any(|exception| {
            let (name, port) = match exception.rsplit_once(':') {
                Some((name, port)) if !name.contains(':') => (name, port.parse().ok()),
                _ => (exception.as_str(), None),
            };
            let name = name.trim_start_matches('.');
            let below = host.len().checked_sub(name.len() + 1);
            let is_below = below.is_some_and(|dot| {
                host.as_bytes().get(dot) == Some(&b'.')
                    && host.get(dot + 1..).is_some_and(|tail| tail.eq_ignore_ascii_case(name))
            });
            (name == "*" || host.eq_ignore_ascii_case(name) || is_below)
                && port.is_none_or(|port: u16| port == url.port)
        })
    }
}
