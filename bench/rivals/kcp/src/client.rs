//! The client: one socket per connection, all in one event loop.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bench_peer::{Exchange, Fault, Histogram, Load, Payload, Report, SharedHistogram, Stopwatch};
use mio::net::UdpSocket;
use mio::{Events, Interest, Poll, Token};

use crate::core::Outlet;
use crate::session::{Clock, DATAGRAMS_PER_WAKE, Flush, LARGEST_DATAGRAM, Session};

pub(crate) fn run(server: SocketAddr, policy: Flush, load: &Load) -> Result<(), Fault> {
    let mut client = Client::new(server, policy, load)?;
    client.run_leg(load.warmup, 1, None, None)?;
    let histogram = load.latency.then(Histogram::shared);
    let stopwatch = Stopwatch::start(load);
    client.run_leg(load.count, load.window, histogram.clone(), Some(&stopwatch))?;
    let elapsed = stopwatch.elapsed_at(Instant::now());
    let echoes = client.connections.iter().map(|connection| connection.exchange.received());
    Ok(Report::new(load, elapsed, echoes, histogram.as_ref()).print()?)
}

struct Client {
    poll: Poll,
    events: Events,
    clock: Clock,
    connections: Vec<Connection>,
    /// Connections whose last batch was full: readiness is edge-triggered, more may wait without an event.
    unfinished: Vec<usize>,
    message: Vec<u8>,
}

impl Client {
    fn new(server: SocketAddr, policy: Flush, load: &Load) -> Result<Self, Fault> {
        let poll = Poll::new()?;
        let clock = Clock::new();
        let payload = Arc::new(Payload::new(load.size));
        let mut connections = Vec::with_capacity(load.connections as usize);
        for number in 0..load.connections {
            let mut socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0).into())?;
            socket.connect(server)?;
            poll.registry().register(&mut socket, Token(number as usize), Interest::READABLE)?;
            let socket = Rc::new(socket);
            let session = Session::new(number + 1, policy, Socket(Rc::clone(&socket)), &clock)?;
            let exchange = Exchange::new(Arc::clone(&payload), number);
            connections.push(Connection { socket, session, exchange });
        }
        let (events, message) = (Events::with_capacity(256), Vec::with_capacity(load.size));
        Ok(Self { poll, events, clock, connections, unfinished: Vec::new(), message })
    }

    /// Exchanges `count` messages on every connection, or as many as the stopwatch allows.
    fn run_leg(
        &mut self,
        count: u32,
        window: u32,
        histogram: Option<SharedHistogram>,
        stopwatch: Option<&Stopwatch>,
    ) -> Result<(), Fault> {
        for connection in &mut self.connections {
            connection.exchange.begin(count, window, histogram.clone());
            connection.send(&self.clock, &mut self.message)?;
            connection.session.end_wake(&self.clock);
        }
        let mut open = self.connections.iter().filter(|connection| !connection.exchange.is_done()).count();
        while open > 0 && !stopwatch.is_some_and(Stopwatch::is_over) {
            open -= self.turn()?;
        }
        Ok(())
    }

    /// Waits for datagrams, gives every ready connection one batch of them and counts those that are done now.
    fn turn(&mut self) -> Result<usize, Fault> {
        let patience = if self.unfinished.is_empty() { self.clock.until_tick() } else { Duration::ZERO };
        self.poll.poll(&mut self.events, Some(patience))?;
        let mut ready = std::mem::take(&mut self.unfinished);
        ready.extend(self.events.iter().map(|event| event.token().0));
        let mut done = 0;
        for index in ready {
            let connection = &mut self.connections[index];
            let was_done = connection.exchange.is_done();
            if connection.wake(&self.clock, &mut self.message)? {
                self.unfinished.push(index);
            }
            done += usize::from(!was_done && connection.exchange.is_done());
        }
        if self.clock.is_tick() {
            self.connections.iter_mut().for_each(|connection| connection.session.tick(&self.clock));
        }
        Ok(done)
    }
}

struct Connection {
    socket: Rc<UdpSocket>,
    session: Session<Socket>,
    exchange: Exchange,
}

/// Sends a connection's datagrams over its own connected socket.
struct Socket(Rc<UdpSocket>);

impl Outlet for Socket {
    fn send(&self, datagram: &[u8]) {
        // A datagram that the kernel does not take is a lost one: KCP sends it again.
        let _ = self.0.send(datagram);
    }
}

impl Connection {
    /// Handles one batch of datagrams; true when it was full.
    fn wake(&mut self, clock: &Clock, message: &mut Vec<u8>) -> Result<bool, Fault> {
        let mut datagram = [0; LARGEST_DATAGRAM];
        let mut full = true;
        for _ in 0..DATAGRAMS_PER_WAKE {
            let len = match self.socket.recv(&mut datagram) {
                Ok(len) => len,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    full = false;
                    break;
                }
                Err(error) => return Err(error.into()),
            };
            self.session.input(&datagram[..len])?;
            message.resize(self.exchange.message_size(), 0);
            while let Some(echo) = self.session.recv(message) {
                self.exchange.accept(echo)?;
            }
            self.send(clock, message)?;
            self.session.end_datagram(clock);
        }
        self.session.end_wake(clock);
        Ok(full)
    }

    fn send(&mut self, clock: &Clock, message: &mut Vec<u8>) -> Result<(), Fault> {
        message.clear();
        while self.exchange.append_next(message) {
            self.session.send(message, clock)?;
            message.clear();
        }
        Ok(())
    }
}
