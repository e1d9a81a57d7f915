//! A peer that sends back what it gets, in a thread of this process.

#![allow(dead_code, reason = "each of its users uses a part of it")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a peer that cannot be set up is none, and its test fails"
)]

use proto_conn::{
    Message,
    http::BodyKind,
    server::{Config, Event, PeerId},
    tls::{Identity, TlsServer, TlsServerConfig},
    ws,
};
use proto_core::DatagramOptions;
use runtime_blocking::{
    ReceiveMode, Waker,
    conn::{Server, system_clock},
};
use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

/// A running peer, which ends when it is dropped.
pub(crate) struct Echo {
    /// Where it speaks HTTP and WebSocket, with TLS if it has an identity.
    pub(crate) stream: SocketAddr,
    /// Where it takes datagrams.
    pub(crate) datagram: SocketAddr,
    waker: Waker,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// What a peer is to be.
#[derive(Default)]
pub(crate) struct Choice {
    /// Speak TLS, with this certificate and key in PEM.
    pub(crate) identity: Option<(String, String)>,
    /// How to wait.
    pub(crate) mode: ReceiveMode,
}

impl Echo {
    /// Starts a plain peer.
    pub(crate) fn start() -> Self {
        Self::with(Choice::default())
    }

    /// Starts a peer.
    pub(crate) fn with(choice: Choice) -> Self {
        let tls = choice.identity.map(|(chain, key)| {
            let identity = Identity::from_pem(chain.as_bytes(), key.as_bytes()).unwrap();
            TlsServer::new(TlsServerConfig::new(identity), &system_clock()).unwrap()
        });
        let ws = ws::Config { deflate: Some(ws::Deflate::default()), ..ws::Config::default() };
        let mut server = Server::new(Config { tls, ws, ..Config::default() }).unwrap();
        server.set_receive_mode(choice.mode);
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let (stream, datagram) = server
            .with(|machine, _| (machine.listen(any), machine.listen_udp(any, DatagramOptions::default())));
        let mut places = [(stream, None), (datagram, None)];
        while places.iter().any(|(_, place)| place.is_none()) {
            let event = server.event(Some(Duration::from_secs(5))).unwrap().expect("it listens in time");
            if let Event::Listening { listener, local } = event {
                let place = places.iter_mut().find(|(link, _)| *link == listener).unwrap();
                place.1 = local;
            }
        }
        let waker = server.waker().unwrap();
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        let thread = std::thread::spawn(move || {
            while !over.load(Ordering::Acquire) {
                if let Some(event) = server.event(None).unwrap() {
                    answer(&mut server, event);
                }
            }
        });
        let place = |n: usize| places[n].1.unwrap();
        Self { stream: place(0), datagram: place(1), waker, is_over, thread: Some(thread) }
    }

    /// Waits for ever.
    pub(crate) fn run(mut self) {
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
        self.waker.wake();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Sends back what came. A peer that is gone meanwhile does not want it any more.
fn answer(server: &mut Server, event: Event) {
    match event {
        Event::Request { peer, message } => respond(server, peer, message),
        Event::Message { peer, message } => {
            let _ = server.with(|machine, now| machine.send(now, peer, &message));
        }
        Event::Datagram { socket, message } => {
            if let Some(peer) = message.peer_addr {
                let _ = server.with(|machine, _| machine.send_datagram(socket, peer, message.body));
            }
        }
        Event::Listening { .. }
        | Event::Down { .. }
        | Event::Connected { .. }
        | Event::Part { .. }
        | Event::End { .. }
        | Event::Opened { .. }
        | Event::Writable { .. }
        | Event::Closed { .. } => {}
    }
}

/// Answers `/bytes/N` with N bytes, `/status/N` with that status, `/slow` never, and the rest with the request's body.
fn respond(server: &mut Server, peer: PeerId, request: Message) {
    let number = |prefix| request.target.strip_prefix(prefix).and_then(|rest: &str| rest.parse().ok());
    if request.target == "/slow" {
        return;
    }
    let mut response = match (number("/bytes/"), number("/status/")) {
        (Some(len), _) => Message::response(200, vec![b'x'; len]),
        (_, Some(status)) => Message::response(u16::try_from(status).unwrap_or(500), "told to"),
        (None, None) => Message::response(200, request.body.clone()),
    };
    response.headers.append("X-Method", request.method.name()).unwrap();
    for (name, value) in request.headers.iter().filter(|(name, _)| name.starts_with("X-Echo")) {
        response.headers.append(name, value).unwrap();
    }
    let _ = server.with(|machine, now| machine.respond(now, peer, &response, BodyKind::Whole));
    server.with(|machine, _| machine.recycle(peer, request));
}

/// Makes a certificate of its own for localhost and 127.0.0.1: certificate and key in PEM.
pub(crate) fn certificate() -> (String, String) {
    let made = rcgen::generate_simple_self_signed(["localhost".into(), "127.0.0.1".into()]).unwrap();
    (made.cert.pem(), made.signing_key.serialize_pem())
}
