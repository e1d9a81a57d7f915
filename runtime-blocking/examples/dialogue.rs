//! Measures question and answer over one link, each side in a thread of its own:
//! `dialogue [tcp|udp|floor] [BYTES] [ROUNDS] [park|poll|MICROSECONDS] [forever|deadline|waker]`.
//!
//! `floor` is what two plain TCP sockets of the standard library need.
//!
//! Under `strace -f -c` it shows that a message costs one system call to send and one to receive.

use bytes::Bytes;
use proto_core::{
    Datagram, DatagramOptions, Instant, LinkEvent, LinkId, LinkRequest, LinkSpec, Machine, Transmit,
};
use runtime_blocking::{Blocking, Config, ReceiveMode};
use std::{
    env,
    io::{self, Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    num::NonZeroUsize,
    thread,
    time::Duration,
};

/// Says a message and waits for one that is as long.
struct Speaker {
    message: Bytes,
    request: Option<LinkRequest>,
    link: LinkId,
    peer: Option<SocketAddr>,
    is_datagram: bool,
    /// It is to speak.
    turn: bool,
    arrived: usize,
    events: usize,
    local: Option<SocketAddr>,
    is_up: bool,
    pieces: bool,
    buffer: Vec<u8>,
}

const LINK: LinkId = LinkId(0);

impl Speaker {
    fn new(len: usize, spec: LinkSpec, peer: Option<SocketAddr>) -> Self {
        Self {
            message: vec![7; len].into(),
            request: Some(LinkRequest::Open { link: LINK, spec }),
            link: LINK,
            peer,
            is_datagram: peer.is_some(),
            turn: false,
            arrived: 0,
            events: 0,
            local: None,
            is_up: false,
            pieces: false,
            buffer: vec![0; len],
        }
    }

    fn heard(&mut self, len: usize) {
        self.arrived += len;
        if self.arrived >= self.message.len() {
            self.arrived = 0;
            self.events += 1;
        }
    }
}

impl Machine for Speaker {
    type Event = ();

    fn handle_datagram(&mut self, _now: Instant, datagram: Datagram<'_>) {
        self.peer = Some(datagram.from);
        self.is_datagram = true;
        self.heard(datagram.data.len());
    }

    fn handle_link(&mut self, _now: Instant, link: LinkId, event: LinkEvent) {
        match event {
            LinkEvent::Up { local, .. } => (self.local, self.is_up) = (local, true),
            LinkEvent::Accepted { .. } => self.link = link,
            LinkEvent::Resolved { .. }
            | LinkEvent::Blocked
            | LinkEvent::Writable
            | LinkEvent::TooBig { .. }
            | LinkEvent::Unreachable(_)
            | LinkEvent::Eof
            | LinkEvent::Down(_)
            | _ => {}
        }
    }

    fn handle_timeout(&mut self, _now: Instant) {}

    fn poll_link(&mut self) -> Option<LinkRequest> {
        self.request.take()
    }

    fn poll_transmit(&mut self, _now: Instant, _max: NonZeroUsize, buf: &mut Vec<u8>) -> Option<Transmit> {
        if !std::mem::take(&mut self.turn) {
            return None;
        }
        if self.is_datagram {
            buf.extend_from_slice(&self.message);
            return self.peer.map(|peer| Transmit::datagram(self.link, peer, self.message.len()));
        }
        let head = self.message.len().min(16);
        buf.extend_from_slice(self.message.get(..head)?);
        self.pieces = true;
        Some(Transmit::stream(self.link, head))
    }

    fn poll_gather(&mut self, pieces: &mut Vec<Bytes>) {
        if std::mem::take(&mut self.pieces) && self.message.len() > 16 {
            pieces.push(self.message.slice(16..));
        }
    }

    fn poll_event(&mut self) -> Option<()> {
        self.events = self.events.checked_sub(1)?;
        Some(())
    }

    fn poll_timeout(&self) -> Option<Instant> {
        None
    }

    fn recv_buffer(&mut self, _link: LinkId) -> Option<&mut [u8]> {
        self.buffer.get_mut(self.arrived..)
    }

    fn handle_filled(&mut self, _now: Instant, _link: LinkId, len: usize) {
        self.heard(len);
    }
}

fn main() -> io::Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let argument = |at: usize, default: &'static str| arguments.get(at).map_or(default, String::as_str);
    let number = |at, default| argument(at, default).parse::<usize>().map_err(io::Error::other);
    let is_udp = argument(0, "tcp") == "udp";
    let (len, rounds) = (number(1, "64")?, number(2, "20000")?);
    if argument(0, "tcp") == "floor" {
        return floor(len, rounds);
    }
    let mode = match argument(3, "park") {
        "park" => ReceiveMode::Park,
        "poll" => ReceiveMode::Poll,
        micros => ReceiveMode::Spin(Duration::from_micros(micros.parse().map_err(io::Error::other)?)),
    };
    let (deadline, waker) = (argument(4, "forever") == "deadline", argument(4, "forever") == "waker");
    let config = Config { mode, segments_per_send: NonZeroUsize::MIN, ..Config::default() };
    let loopback = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let udp = |peer| LinkSpec::Udp { bind: loopback, peer, options: DatagramOptions::default() };

    let listen = if is_udp { udp(None) } else { LinkSpec::TcpListen { bind: loopback } };
    let mut server = Blocking::new(Speaker::new(len, listen, None), config.clone())?;
    server.poll()?;
    let address = server.machine().local.ok_or(io::ErrorKind::NotConnected)?;
    let connect = if is_udp { udp(Some(address)) } else { LinkSpec::TcpConnect { peer: address } };
    let mut client = Blocking::new(Speaker::new(len, connect, is_udp.then_some(address)), config)?;
    while !client.machine().is_up {
        client.poll()?;
    }
    while !is_udp && server.machine().link == LINK {
        server.poll()?;
    }
    if !is_udp {
        // The dialogue is over one link.
        server.with(|machine, _| machine.request = Some(LinkRequest::Close { link: LINK }));
    }
    let answering = thread::spawn(move || -> io::Result<()> {
        for _ in 0..rounds {
            server.event(None)?;
            server.with(|machine, _| machine.turn = true);
        }
        Ok(())
    });
    let _waker = if waker { Some(client.waker()?) } else { None };
    let start = now();
    for _ in 0..rounds {
        client.with(|machine, _| machine.turn = true);
        while client.event(deadline.then(|| now() + Duration::from_secs(5)))?.is_none() {}
    }
    let took = start.elapsed();
    answering.join().map_err(|_| io::Error::other("the server panicked"))??;
    println!("{:.2} us a round, {:?}", took.as_secs_f64() * 1e6 / rounds as f64, client.stats().received);
    Ok(())
}

/// Measures the same without a machine and a driver.
fn floor(len: usize, rounds: usize) -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let mut client = TcpStream::connect(listener.local_addr()?)?;
    let (mut server, _) = listener.accept()?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let answering = thread::spawn(move || -> io::Result<()> {
        let mut message = vec![7; len];
        for _ in 0..rounds {
            server.read_exact(&mut message)?;
            server.write_all(&message)?;
        }
        Ok(())
    });
    let mut message = vec![7; len];
    let start = now();
    for _ in 0..rounds {
        client.write_all(&message)?;
        client.read_exact(&mut message)?;
    }
    let took = start.elapsed();
    answering.join().map_err(|_| io::Error::other("the server panicked"))??;
    println!("{:.2} us a round", took.as_secs_f64() * 1e6 / rounds as f64);
    Ok(())
}

#[allow(clippy::disallowed_methods, reason = "a measurement reads the clock")]
fn now() -> std::time::Instant {
    std::time::Instant::now()
}
