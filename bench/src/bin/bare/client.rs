//! The client: one endpoint and socket a connection, all in one loop.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bench_peer::{Command, Exchange, Fault, Histogram, Load, Payload, Report, SharedHistogram, Stopwatch};
use bytes::Bytes;
use proto_core::{Deadlines, Instant, StdClock};
use proto_raknet::{Endpoint, Event, Message, PeerId};

use super::node::{Application, Node, now, seed, start_clock};
use super::socket::{Scratch, Socket};
use super::waiter::Waiter;
use crate::settings::{Side, config, connect_options};

pub(crate) fn run(command: &Command) -> Result<(), Fault> {
    let load = &command.load;
    let mut client = Client::new()?;
    client.connect_all(command.address, load)?;
    client.begin(load.warmup, 1, None)?;
    client.run_leg(None)?;
    let histogram = load.latency.then(Histogram::shared);
    let stopwatch = Stopwatch::start(load);
    client.begin(load.count, load.window, histogram.as_ref())?;
    client.run_leg(Some(&stopwatch))?;
    let elapsed = stopwatch.elapsed_at(read_clock());
    let echoes = client.connections.iter().map(|(_, connection)| connection.exchange.received());
    Ok(Report::new(load, elapsed, echoes, histogram.as_ref()).print()?)
}

struct Client {
    waiter: Waiter,
    clock: StdClock,
    scratch: Scratch,
    deadlines: Deadlines,
    connections: Vec<(Node, Connection)>,
    /// Connections that were given something to send.
    given: Vec<usize>,
}

impl Client {
    fn new() -> Result<Self, Fault> {
        Ok(Self {
            waiter: Waiter::new()?,
            clock: start_clock(),
            scratch: Scratch::new(),
            deadlines: Deadlines::new(),
            connections: Vec::new(),
            given: Vec::new(),
        })
    }

    /// Opens all connections, with a limited number of handshakes under way.
    fn connect_all(&mut self, server: SocketAddr, load: &Load) -> Result<(), Fault> {
        let payload = Arc::new(Payload::new(load.size));
        let mut connecting = 0;
        for number in 0..load.connections {
            self.open(server, load, Exchange::new(Arc::clone(&payload), number))?;
            connecting += 1;
            while connecting >= CONNECTING_AT_ONCE {
                connecting -= self.turn(Connection::is_connected)?;
            }
        }
        while connecting > 0 {
            connecting -= self.turn(Connection::is_connected)?;
        }
        Ok(())
    }

    fn open(&mut self, server: SocketAddr, load: &Load, exchange: Exchange) -> Result<(), Fault> {
        let index = self.connections.len();
        let socket = Socket::bind((Ipv4Addr::LOCALHOST, 0).into())?;
        self.waiter.watch(socket.inner(), index)?;
        let time = now(&self.clock);
        let mut endpoint = Endpoint::new(config(load, Side::Client), seed()?)?;
        let peer = endpoint.connect(time, server, connect_options(load))?;
        self.connections
            .push((Node::new(endpoint, socket, time)?, Connection { peer, connected: false, exchange }));
        self.given.push(index);
        Ok(())
    }

    /// Starts a leg on every connection.
    fn begin(&mut self, count: u32, window: u32, histogram: Option<&SharedHistogram>) -> Result<(), Fault> {
        let time = now(&self.clock);
        for (index, (node, connection)) in self.connections.iter_mut().enumerate() {
            connection.exchange.begin(count, window, histogram.cloned());
            connection.send(&mut node.endpoint, time)?;
            self.given.push(index);
        }
        Ok(())
    }

    /// Runs until every exchange is done, or the time is over.
    fn run_leg(&mut self, stopwatch: Option<&Stopwatch>) -> Result<(), Fault> {
        let mut open = self.connections.iter().filter(|(_, connection)| !connection.is_done()).count();
        while open > 0 && !stopwatch.is_some_and(Stopwatch::is_over) {
            open -= self.turn(Connection::is_done)?;
        }
        Ok(())
    }

    /// Waits, gives every ready connection its turn and counts those that became `through` by it.
    fn turn(&mut self, through: fn(&Connection) -> bool) -> Result<usize, Fault> {
        let ready = self.wait()?;
        let time = now(&self.clock);
        let mut count = 0;
        for index in ready {
            let Some((node, connection)) = self.connections.get_mut(index) else { continue };
            let was_through = through(connection);
            let (_, due) = node.turn(time, &mut self.scratch, connection)?;
            self.deadlines.set(u32::try_from(index)?, due);
            count += usize::from(!was_through && through(connection));
        }
        Ok(count)
    }

    /// Waits until connections are readable or due; those that were given something are not waited for.
    fn wait(&mut self) -> Result<Vec<usize>, Fault> {
        let time = now(&self.clock);
        let patience = if self.given.is_empty() {
            self.deadlines.next().map(|due| due.saturating_since(time))
        } else {
            Some(Duration::ZERO)
        };
        let mut ready = std::mem::take(&mut self.given);
        ready.extend(self.waiter.wait(patience)?);
        let time = now(&self.clock);
        while let Some(slot) = self.deadlines.expire(time) {
            ready.push(slot as usize);
        }
        Ok(ready)
    }
}

struct Connection {
    peer: PeerId,
    connected: bool,
    exchange: Exchange,
}

impl Connection {
    fn is_connected(&self) -> bool {
        self.connected
    }

    fn is_done(&self) -> bool {
        self.exchange.is_done()
    }

    fn send(&mut self, endpoint: &mut Endpoint, now: Instant) -> Result<(), Fault> {
        let size = self.exchange.message_size();
        let mut batch = Vec::with_capacity(size * self.exchange.sendable() as usize);
        while self.exchange.append_next(&mut batch) {}
        // One allocation a batch: its messages are slices of it.
        let mut batch = Bytes::from(batch);
        while !batch.is_empty() {
            endpoint.send(now, self.peer, Message::new(batch.split_to(size)))?;
        }
        Ok(())
    }
}

impl Application for Connection {
    #[allow(clippy::wildcard_enum_match_arm, reason = "a client that only echoes has no use for the others")]
    fn on_event(&mut self, endpoint: &mut Endpoint, now: Instant, event: Event) -> Result<(), Fault> {
        match event {
            Event::Connected { .. } => self.connected = true,
            Event::Readable { peer } => {
                while let Some(received) = endpoint.recv(peer) {
                    self.exchange.accept(&received.payload)?;
                }
                self.send(endpoint, now)?;
            }
            Event::ConnectFailed { reason, .. } => return Err(reason.into()),
            Event::Disconnected { reason, .. } => return Err(reason.into()),
            _ => {}
        }
        Ok(())
    }
}

#[allow(clippy::disallowed_methods, reason = "measuring reads the clock")]
fn read_clock() -> std::time::Instant {
    std::time::Instant::now()
}

/// As many handshakes as the clients on tokio have under way.
const CONNECTING_AT_ONCE: usize = 32;
