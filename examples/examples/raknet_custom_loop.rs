//! RakNet on an event loop of your own: a blocking `std::net::UdpSocket`, the machine, and `proto_core::pump`.
//!
//! A server in one thread sends back what a client in the other says. No async runtime takes part.
//!
//! Run it with `cargo run -p examples --example raknet_custom_loop`.
#![allow(clippy::disallowed_methods, reason = "an event loop is where the clock is read")]
#![allow(clippy::wildcard_enum_match_arm, reason = "an application looks at the events that it is about")]

use proto_core::{Datagram, Flow, Instant, LinkRequest, Machine, Sink, StdClock, Transmit, pump};
use proto_raknet::{Config, ConnectOptions, Endpoint, Event, SOCKET};
use std::{
    collections::VecDeque,
    error::Error,
    io::{self, ErrorKind},
    net::UdpSocket,
    thread,
    time::Duration,
};

/// A machine with what it must not have itself: a socket and a clock.
struct Node {
    endpoint: Endpoint,
    port: Port,
    clock: StdClock,
    /// When the machine wants to be called, if nothing arrives before.
    next: Option<Instant>,
    inbox: Vec<u8>,
    scratch: Vec<u8>,
}

/// Where the machine's output goes.
struct Port {
    socket: UdpSocket,
    events: VecDeque<Event>,
}

impl Sink<Event> for Port {
    fn link(&mut self, _: LinkRequest) {
        // RakNet lives on the one socket that it was given.
    }

    fn transmit(&mut self, transmit: &Transmit, bytes: &[u8]) -> Flow {
        if let Some(to) = transmit.to {
            // A datagram that cannot leave is a lost one: the machine sends again what matters.
            let _ = self.socket.send_to(bytes, to);
        }
        Flow::Sent
    }

    fn event(&mut self, event: Event) {
        self.events.push_back(event);
    }
}

impl Node {
    fn bind(config: Config) -> Result<Self, Box<dyn Error>> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed)?;
        Ok(Self {
            endpoint: Endpoint::new(config, seed)?,
            port: Port { socket: UdpSocket::bind("127.0.0.1:0")?, events: VecDeque::new() },
            clock: StdClock::new(std::time::Instant::now()),
            next: None,
            inbox: vec![0; 65_535],
            scratch: Vec::new(),
        })
    }

    fn now(&self) -> Instant {
        self.clock.to_machine(std::time::Instant::now())
    }

    /// Sends what is to be sent, then waits for a datagram or the machine's deadline.
    fn turn(&mut self) -> io::Result<()> {
        let now = self.now();
        self.next = pump(&mut self.endpoint, now, usize::MAX, &mut self.scratch, &mut self.port).next;
        if !self.port.events.is_empty() {
            return Ok(());
        }
        let wait = self.next.map_or(Duration::from_secs(1), |next| next.saturating_since(now));
        // A timeout of zero would mean to wait for ever.
        self.port.socket.set_read_timeout(Some(wait.max(Duration::from_micros(100))))?;
        match self.port.socket.recv_from(&mut self.inbox) {
            Ok((len, from)) => {
                let now = self.now();
                let data = self.inbox.get_mut(..len).unwrap_or_default();
                self.endpoint.handle_datagram(now, Datagram::new(SOCKET, from, data));
                Ok(())
            }
            // Time is up, or the other side has closed its port already.
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::ConnectionReset => Ok(()),
                _ => Err(error),
            },
        }
    }

    /// Turns until something happens.
    fn next_event(&mut self) -> io::Result<Event> {
        loop {
            if let Some(event) = self.port.events.pop_front() {
                return Ok(event);
            }
            self.turn()?;
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut server = Node::bind(Config::default())?;
    let address = server.port.socket.local_addr()?;
    let serving = thread::spawn(move || serve(&mut server).map_err(|error| error.to_string()));

    let mut client = Node::bind(Config::client())?;
    client.endpoint.connect(client.now(), address, ConnectOptions::default())?;
    loop {
        match client.next_event()? {
            Event::Connected { peer, .. } => {
                client.endpoint.send(client.now(), peer, "hello from a loop of one's own")?;
            }
            Event::Readable { peer } => {
                while let Some(message) = client.endpoint.recv(peer) {
                    println!("echo: {}", String::from_utf8_lossy(&message.payload));
                    client.endpoint.disconnect(client.now(), peer);
                }
            }
            Event::ConnectFailed { reason, .. } => return Err(reason.into()),
            Event::Disconnected { reason, .. } => {
                println!("client: {reason}");
                break;
            }
            _ => {}
        }
    }
    serving.join().map_err(|_| "the server panicked")??;
    Ok(())
}

/// Sends back what arrives until the first session is over.
fn serve(server: &mut Node) -> Result<(), Box<dyn Error>> {
    loop {
        match server.next_event()? {
            Event::Readable { peer } => {
                while let Some(message) = server.endpoint.recv(peer) {
                    server.endpoint.send(server.now(), peer, message.payload)?;
                }
            }
            Event::Disconnected { reason, .. } => {
                println!("server: {reason}");
                // What the machine still owes the peer: the acknowledgement of its farewell.
                while !server.endpoint.is_idle() {
                    server.turn()?;
                }
                return Ok(());
            }
            _ => {}
        }
    }
}
