//! A server of all six schemes in a thread of its own, that answers with what it gets.

use proto_conn::{
    Message, Method,
    http::BodyKind,
    server::{Config, Event, PeerId, Server as Machine},
    tls::{Identity, Roots, TlsClient, TlsConfig, TlsServer, TlsServerConfig},
};
use proto_core::{DatagramOptions, Instant, Interface};
use runtime_blocking::{Waker, conn::Server};
use std::{
    net::SocketAddr,
    num::NonZeroU32,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc::channel,
    },
    thread::JoinHandle,
};

/// What it answers to [`Method::Get`]s of `/slow`: nothing.
pub(crate) struct Echo {
    pub(crate) address: SocketAddr,
    /// Peers that are there.
    peers: Arc<AtomicUsize>,
    is_over: Arc<AtomicBool>,
    waker: Waker,
    thread: Option<JoinHandle<()>>,
    certificate: Option<Vec<u8>>,
}

impl Echo {
    /// Starts one for the streams of `scheme`, or its datagrams.
    pub(crate) fn start(scheme: &str) -> Self {
        let mut config = Config::default();
        let mut certificate = None;
        if scheme == "https" || scheme == "wss" {
            let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
            let (chain, key) = (made.cert.der().to_vec(), made.signing_key.serialize_der());
            let identity = Identity::from_der(vec![chain.clone()], key).unwrap();
            config.tls = Some(
                TlsServer::new(TlsServerConfig::new(identity), &runtime_core::conn::wall_clock()).unwrap(),
            );
            certificate = Some(chain);
        }
        let mut server = Server::new(config).unwrap();
        server.with(|machine, _| listen(machine, scheme));
        let first = server.event(None).unwrap();
        let Some(Event::Listening { local: Some(address), .. }) = first else { panic!("{first:?}") };
        let waker = server.waker().unwrap();
        let (is_over, peers) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let (over, count) = (Arc::clone(&is_over), Arc::clone(&peers));
        let (ready, is_ready) = channel();
        let thread = std::thread::spawn(move || {
            ready.send(()).unwrap();
            while !over.load(Ordering::Acquire) {
                if let Some(event) = server.event(None).unwrap() {
                    server.with(|machine, now| answer(machine, now, event));
                }
                count.store(server.with(|machine, _| machine.peers()), Ordering::Release);
            }
        });
        is_ready.recv().unwrap();
        Self { address, peers, is_over, waker, thread: Some(thread), certificate }
    }

    /// Returns the URL of a target on it.
    pub(crate) fn url(&self, scheme: &str, target: &str) -> String {
        let host =
            if self.certificate.is_some() { "localhost".to_owned() } else { self.address.ip().to_string() };
        format!("{scheme}://{host}:{}{target}", self.address.port())
    }

    /// Returns TLS that trusts it.
    pub(crate) fn tls(&self) -> Option<TlsClient> {
        let roots = Roots { own: vec![self.certificate.clone()?], ..Roots::none() };
        Some(
            TlsClient::new(TlsConfig { roots, ..TlsConfig::default() }, &runtime_core::conn::wall_clock())
                .unwrap(),
        )
    }

    pub(crate) fn peers(&self) -> usize {
        self.peers.load(Ordering::Acquire)
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
        self.waker.wake();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

/// The group of the multicast scenarios, on the loopback interface.
pub(crate) const GROUP: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(239, 255, 71, 9)), 42_719);

fn listen(machine: &mut Machine, scheme: &str) {
    let bind = SocketAddr::from(([127, 0, 0, 1], 0));
    match scheme {
        "udp" => drop(machine.listen_udp(bind, DatagramOptions::default())),
        "udp_multicast" => {
            let loopback = Interface::Index(NonZeroU32::MIN);
            machine.join(GROUP, loopback, None, DatagramOptions::default());
        }
        _ => drop(machine.listen(bind)),
    }
}

fn answer(machine: &mut Machine, now: Instant, event: Event) {
    match event {
        Event::Request { message, .. } if message.target == "/slow" => {}
        Event::Request { peer, message } => respond(machine, now, peer, &message),
        Event::Message { peer, message } => machine.send(now, peer, &message).unwrap(),
        Event::Datagram { socket, message } if message.body.as_str() == Some("hello") => {
            let to = if message.local_addr.is_some_and(|local| local.ip().is_multicast()) {
                GROUP
            } else {
                message.peer_addr.unwrap()
            };
            machine.send_datagram(socket, to, "and you".into()).unwrap();
        }
        Event::Datagram { socket, message } if message.body.is_empty() => {
            machine.send_datagram(socket, message.peer_addr.unwrap(), "".into()).unwrap();
        }
        Event::Datagram { .. }
        | Event::Listening { .. }
        | Event::Down { .. }
        | Event::Connected { .. }
        | Event::Part { .. }
        | Event::End { .. }
        | Event::Opened { .. }
        | Event::Writable { .. }
        | Event::Closed { .. } => {}
    }
}

fn respond(machine: &mut Machine, now: Instant, peer: PeerId, request: &Message) {
    let response = if request.method == Method::Get {
        Message::response(200, vec![7; request.target.len() * 100_000])
    } else {
        Message::response(200, request.body.clone())
    };
    machine.respond(now, peer, &response, BodyKind::Whole).unwrap();
}
