//! How a server behaves.

use core::time::Duration;

use crate::{http, tls::TlsServer, ws};

/// How a [`Server`](super::Server) behaves.
#[derive(Clone, Debug)]
pub struct Config {
    /// Limits and rules of HTTP.
    pub http: http::Config,
    /// Limits and rules of WebSocket.
    pub ws: ws::Config,
    /// Speak TLS on the streams of every listener.
    pub tls: Option<TlsServer>,
    /// Accept every well-formed WebSocket handshake at once. Otherwise it is a request like any other, for
    /// [`accept_websocket`](super::Server::accept_websocket) or an answer that refuses.
    pub accept_websockets: bool,
    /// Hand bodies of requests out in parts, as they come.
    pub stream_requests: bool,
    /// Peers at the same time. More are closed at once, and counted.
    pub max_peers: usize,
    /// Events that wait for the application, of all peers. Nothing is read from streams while there are as many;
    /// datagrams beyond are dropped and counted.
    pub max_events: usize,
    /// Datagrams that wait to be sent. More are refused.
    pub max_waiting: usize,
    /// How long a TLS handshake may take.
    pub tls_timeout: Duration,
    /// How long a peer may take nothing of what is sent.
    pub send_timeout: Duration,
    /// How long an HTTP connection may be idle.
    pub idle_timeout: Duration,
    /// How long the last bytes of a closing stream may take.
    pub close_timeout: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            http: http::Config::default(),
            ws: ws::Config::default(),
            tls: None,
            accept_websockets: true,
            stream_requests: false,
            max_peers: 1_024,
            max_events: 1_024,
            max_waiting: 256,
            tls_timeout: Duration::from_secs(5),
            send_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(60),
            close_timeout: Duration::from_secs(1),
        }
    }
}

impl Config {
    /// Checks it.
    ///
    /// # Errors
    /// [`Code::BadOption`](crate::Code::BadOption) and which one.
    pub fn validate(&self) -> Result<(), crate::Error> {
        let bad = |detail: &str| {
            let error = crate::Error::new(crate::Code::BadOption, crate::Phase::Arguments);
            Err(error.with_detail(detail))
        };
        if self.max_peers == 0 || self.max_events == 0 || self.max_waiting == 0 {
            return bad("max_peers, max_events and max_waiting must be at least 1");
        }
        if let Err(error) = self.http.validate() {
            return bad(&alloc::format!("http: {error}"));
        }
        if let Err(error) = self.ws.validate() {
            return bad(&alloc::format!("ws: {error}"));
        }
        Ok(())
    }
}
