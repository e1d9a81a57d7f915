//! An event loop of one's own: a RakNet endpoint on a plain blocking socket.
//!
//! It is what somebody writes who embeds Iolite into a program without an async runtime: wait for a datagram or the
//! machine's deadline, feed the machine, let [`pump`] drain it. The interop tests run on it as well as on tokio, so
//! that a fault of the machine can be told from a fault of the async driver.

use proto_core::{Datagram, Flow, Instant, LinkRequest, Machine, Sink, StdClock, Transmit, pump};
use proto_raknet::{Config, Endpoint, Event, SOCKET};
use std::{
    collections::VecDeque,
    io,
    net::{SocketAddr, UdpSocket},
    time::Duration,
};

/// A RakNet endpoint with its socket and its clock.
#[derive(Debug)]
pub struct BlockingEndpoint {
    endpoint: Endpoint,
    port: Port,
    clock: StdClock,
    /// When the machine must be called, if nothing arrives before.
    next: Option<Instant>,
    inbox: Box<[u8]>,
    scratch: Vec<u8>,
}

impl BlockingEndpoint {
    /// Binds a socket to `address` and puts an endpoint on it. The seed should come from the operating system.
    ///
    /// # Errors
    /// The address cannot be bound, or the configuration cannot work.
    pub fn bind(address: SocketAddr, config: Config, seed: [u8; 32]) -> io::Result<Self> {
        let socket = UdpSocket::bind(address)?;
        let endpoint = Endpoint::new(config, seed)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error.to_string()))?;
        Ok(Self {
            endpoint,
            port: Port { socket, events: VecDeque::new() },
            clock: StdClock::new(clock_now()),
            next: None,
            inbox: vec![0; MAX_DATAGRAM].into(),
            scratch: Vec::new(),
        })
    }

    /// Runs a command on the machine and sends what it causes.
    pub fn with<T>(&mut self, command: impl FnOnce(&mut Endpoint, Instant) -> T) -> T {
        let result = command(&mut self.endpoint, self.clock.to_machine(clock_now()));
        self.drain();
        result
    }

    /// Waits for a datagram, the machine's deadline or the end of `patience`, and does what is then to do.
    ///
    /// # Errors
    /// The socket is broken. That nobody listens at a peer's port is not an error: the machine finds out by itself.
    pub fn turn(&mut self, patience: Duration) -> io::Result<()> {
        let now = self.clock.to_machine(clock_now());
        let until_deadline = self.next.map_or(patience, |next| next.saturating_since(now));
        // A timeout of zero would mean to wait for ever.
        let wait = patience.min(until_deadline).max(SHORTEST_WAIT);
        self.port.socket.set_read_timeout(Some(wait))?;
        if self.receive()? {
            self.receive_what_is_there()?;
        }
        self.drain();
        Ok(())
    }

    /// Takes the next event. Readable sessions are emptied through [`with`](Self::with) and [`Endpoint::recv`].
    pub fn poll_event(&mut self) -> Option<Event> {
        self.port.events.pop_front()
    }

    /// Returns the socket's address.
    ///
    /// # Errors
    /// The operating system does not say.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.port.socket.local_addr()
    }

    /// Takes the datagrams that wait already, so that one acknowledgement serves them all.
    fn receive_what_is_there(&mut self) -> io::Result<()> {
        self.port.socket.set_nonblocking(true)?;
        let mut result = Ok(true);
        for _ in 0..MAX_BATCH {
            result = self.receive();
            if !matches!(result, Ok(true)) {
                break;
            }
        }
        self.port.socket.set_nonblocking(false)?;
        result.map(|_| ())
    }

    /// Feeds one datagram to the machine and says whether there was one.
    fn receive(&mut self) -> io::Result<bool> {
        match self.port.socket.recv_from(&mut self.inbox) {
            Ok((len, from)) => {
                let now = self.clock.to_machine(clock_now());
                let data = self.inbox.get_mut(..len).unwrap_or_default();
                self.endpoint.handle_datagram(now, Datagram::new(SOCKET, from, data));
                Ok(true)
            }
            Err(error) if is_harmless(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn drain(&mut self) {
        let now = self.clock.to_machine(clock_now());
        self.next = pump(&mut self.endpoint, now, usize::MAX, &mut self.scratch, &mut self.port).next;
    }
}

/// Where the machine's output goes.
#[derive(Debug)]
struct Port {
    socket: UdpSocket,
    events: VecDeque<Event>,
}

impl Sink<Event> for Port {
    fn link(&mut self, _request: LinkRequest) {
        // An endpoint has one link, the socket that is open already.
    }

    fn transmit(&mut self, transmit: &Transmit, bytes: &[u8]) -> Flow {
        if let Some(to) = transmit.to {
            // A datagram that the operating system refuses is as good as lost on the way.
            drop(self.socket.send_to(bytes, to));
        }
        Flow::Sent
    }

    fn event(&mut self, event: Event) {
        self.events.push_back(event);
    }
}

/// Says whether a receive error stands for "nothing there" or for an earlier datagram that nobody took.
fn is_harmless(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionRefused, ConnectionReset, Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), WouldBlock | TimedOut | Interrupted | ConnectionRefused | ConnectionReset)
}

#[allow(clippy::disallowed_methods, reason = "this is a driver: it reads the clock for its machine")]
fn clock_now() -> std::time::Instant {
    std::time::Instant::now()
}

/// No UDP datagram is longer.
const MAX_DATAGRAM: usize = 65_535;

/// Datagrams taken before the machine is drained.
const MAX_BATCH: usize = 64;

/// What the operating system's timers can tell from zero.
const SHORTEST_WAIT: Duration = Duration::from_micros(50);
