//! Our server, in a thread of its own, as a peer for the clients of others.

use runtime_blocking::{
    Waker,
    conn::{
        Code, Headers, Kind, Message, Method, Payload, Server,
        http::BodyKind,
        machine::{Config, Event, PeerId},
        tls::TlsServer,
        ws::{self, Deflate},
    },
};
use std::{
    collections::{HashMap, VecDeque},
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
};

use super::ports;
use crate::peers::patience::PATIENCE;

/// Our server, running. It gives WebSocket messages and bodies of requests back as they came; requests without a body
/// find these:
///
/// | target | answer |
/// |---|---|
/// | `/large` | [`Echo::LARGE`] bytes |
/// | `/chunked` | a body in chunks, and a trailer field |
/// | `/early` | 103 Early Hints, and then the answer |
/// | anything else | `METHOD target` |
#[derive(Debug)]
pub struct Echo {
    address: SocketAddr,
    is_tls: bool,
    waker: Waker,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Echo {
    /// How long the body of `/large` is.
    pub const LARGE: usize = 3_000_000;

    /// Starts one that compresses WebSocket messages for clients that ask for it.
    ///
    /// # Panics
    /// It cannot be started.
    pub fn start(tls: Option<TlsServer>) -> Self {
        let is_tls = tls.is_some();
        let ws = ws::Config {
            deflate: Some(Deflate::default()),
            // Autobahn cuts four megabytes into pieces of 64 bytes.
            max_fragments: 1 << 17,
            subprotocols: vec!["echo".into()],
            ..ws::Config::default()
        };
        let mut server = Server::new(Config { ws, tls, ..Config::default() }).expect("a good configuration");
        server.with(|machine, _| machine.listen(ports::local(0)));
        let address = match server.event(Some(PATIENCE)) {
            Ok(Some(Event::Listening { local: Some(address), .. })) => address,
            other => panic!("not listening: {other:?}"),
        };
        let waker = server.waker().expect("a waker");
        let is_over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&is_over);
        let thread = thread::spawn(move || {
            let mut echoing = Echoing { server, owed: HashMap::new() };
            while !seen.load(Ordering::Relaxed) {
                if let Some(event) = echoing.server.event(None).expect("a working server") {
                    echoing.on_event(event);
                }
            }
        });
        Self { address, is_tls, waker, is_over, thread: Some(thread) }
    }

    /// Returns the port that it listens on.
    pub const fn port(&self) -> u16 {
        self.address.port()
    }

    /// Returns the URL of a target by HTTP.
    pub fn http(&self, target: &str) -> String {
        let scheme = if self.is_tls { "https" } else { "http" };
        format!("{scheme}://localhost:{}{target}", self.port())
    }

    /// Returns the URL by WebSocket.
    pub fn ws(&self) -> String {
        let scheme = if self.is_tls { "wss" } else { "ws" };
        format!("{scheme}://localhost:{}/", self.port())
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.waker.wake();
        let ended = self.thread.take().map(JoinHandle::join);
        if matches!(ended, Some(Err(_))) && !thread::panicking() {
            panic!("the echo server panicked");
        }
    }
}

/// The server in its thread.
struct Echoing {
    server: Server,
    /// Messages for peers that do not keep up.
    owed: HashMap<PeerId, VecDeque<Message>>,
}

impl Echoing {
    fn on_event(&mut self, event: Event) {
        match event {
            Event::Request { peer, message } => self.answer(peer, &message),
            Event::Message { peer, message } => {
                self.owed.entry(peer).or_default().push_back(message);
                self.send_owed(peer);
            }
            Event::Writable { peer } => self.send_owed(peer),
            Event::Closed { peer, .. } => drop(self.owed.remove(&peer)),
            Event::Listening { .. }
            | Event::Down { .. }
            | Event::Connected { .. }
            | Event::Part { .. }
            | Event::End { .. }
            | Event::Opened { .. }
            | Event::Datagram { .. } => {}
        }
    }

    fn send_owed(&mut self, peer: PeerId) {
        let Some(owed) = self.owed.get_mut(&peer) else { return };
        while let Some(message) = owed.front() {
            match self.server.with(|machine, now| machine.send(now, peer, message)) {
                Err(error) if error.code == Code::WouldBlock => return,
                // A peer that closes wants no answers any more.
                Ok(()) | Err(_) => drop(owed.pop_front()),
            }
        }
    }

    fn answer(&mut self, peer: PeerId, request: &Message) {
        let plain = |body: Payload| Message::response(200, body).with_header("Content-Type", "text/plain");
        let response = match request.target.as_str() {
            _ if !request.body.is_empty() => {
                let kind = request.headers.get_str("Content-Type").unwrap_or("application/octet-stream");
                Message::response(200, request.body.clone()).with_header("Content-Type", kind)
            }
            "/large" => plain(vec![b'x'; Echo::LARGE].into()),
            "/chunked" => return self.answer_in_chunks(peer),
            "/early" => {
                let hints = Message { kind: Kind::Informational, status: 103, ..Message::default() };
                let hints = hints.with_header("Link", "</style.css>; rel=preload").expect("a good field");
                self.server.with(|machine, now| machine.inform(now, peer, &hints)).expect("room for hints");
                plain("after the hints".into())
            }
            target => plain(format!("{} {target}", request.method).into()),
        };
        let response = response.expect("good fields");
        let answered =
            self.server.with(|machine, now| machine.respond(now, peer, &response, BodyKind::Whole));
        assert!(answered.is_ok() || request.method == Method::Connect, "{answered:?} to {request:?}");
    }

    fn answer_in_chunks(&mut self, peer: PeerId) {
        let response = Message::response(200, "").with_header("Trailer", "X-Sum").expect("a good field");
        let mut trailers = Headers::new();
        trailers.append("X-Sum", "6").expect("a good field");
        self.server
            .with(|machine, now| {
                machine.respond(now, peer, &response, BodyKind::Streamed { length: None })?;
                for part in ["one", "two", "six"] {
                    machine.send_part(now, peer, part.into())?;
                }
                machine.finish_body(now, peer, &trailers)
            })
            .expect("room for an answer");
    }
}
