//! A machine that does just enough to show what a driver does.

#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "tests, each of which uses a part of it"
)]

use bytes::Bytes;
use proto_core::{
    Datagram, DownReason, Instant, LinkEvent, LinkId, LinkRequest, LinkSpec, Machine, Transmit,
};
use runtime_blocking::{Blocking, Config};
use std::{
    collections::{BTreeSet, VecDeque},
    net::{Ipv4Addr, SocketAddr},
    num::{NonZeroU32, NonZeroUsize},
    time::Duration,
};

/// What the machine tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Link(LinkId, LinkEvent),
    Bytes(LinkId, Vec<u8>),
    Datagram { link: LinkId, from: SocketAddr, interface: Option<NonZeroU32>, bytes: Vec<u8> },
    Fired,
}

/// Sends what it is told to, tells or echoes what arrives, and tells all that is reported.
#[derive(Default)]
pub(crate) struct Toy {
    pub(crate) echo: bool,
    /// The length of the buffer that it lends.
    pub(crate) lends: Option<usize>,
    /// It wants to read nothing.
    pub(crate) is_full: bool,
    pub(crate) deadline: Option<Instant>,
    pub(crate) requests: VecDeque<LinkRequest>,
    pub(crate) events: VecDeque<Event>,
    pub(crate) to_send: VecDeque<Write>,
    pub(crate) blocked: BTreeSet<LinkId>,
    pub(crate) lent: Vec<u8>,
    pub(crate) pieces: Vec<Bytes>,
}

/// What leaves as one transmit.
pub(crate) struct Write {
    link: LinkId,
    to: Option<SocketAddr>,
    bytes: Vec<u8>,
    pieces: Vec<Bytes>,
}

impl Toy {
    pub(crate) fn open(&mut self, link: LinkId, spec: LinkSpec) {
        self.requests.push_back(LinkRequest::Open { link, spec });
    }

    pub(crate) fn close(&mut self, link: LinkId) {
        self.requests.push_back(LinkRequest::Close { link });
    }

    pub(crate) fn send(&mut self, link: LinkId, bytes: impl Into<Vec<u8>>) {
        self.gather(link, bytes, Vec::new());
    }

    pub(crate) fn gather(&mut self, link: LinkId, bytes: impl Into<Vec<u8>>, pieces: Vec<Bytes>) {
        self.to_send.push_back(Write { link, to: None, bytes: bytes.into(), pieces });
    }

    pub(crate) fn send_to(&mut self, link: LinkId, to: SocketAddr, bytes: impl Into<Vec<u8>>) {
        self.to_send.push_back(Write { link, to: Some(to), bytes: bytes.into(), pieces: Vec::new() });
    }

    pub(crate) fn is_blocked(&self, link: LinkId) -> bool {
        self.blocked.contains(&link)
    }

    fn on_bytes(&mut self, link: LinkId, bytes: &[u8]) {
        if self.echo {
            self.send(link, bytes);
        } else {
            self.events.push_back(Event::Bytes(link, bytes.to_vec()));
        }
    }
}

impl Machine for Toy {
    type Event = Event;

    fn handle_datagram(&mut self, _now: Instant, datagram: Datagram<'_>) {
        let Datagram { link, from, interface, data, .. } = datagram;
        if self.echo {
            self.send_to(link, from, &*data);
        } else {
            self.events.push_back(Event::Datagram { link, from, interface, bytes: data.to_vec() });
        }
    }

    fn handle_stream(&mut self, _now: Instant, link: LinkId, data: &mut [u8]) {
        self.on_bytes(link, data);
    }

    fn handle_link(&mut self, _now: Instant, link: LinkId, event: LinkEvent) {
        match event {
            LinkEvent::Blocked => assert!(self.blocked.insert(link), "{link:?} is blocked twice"),
            LinkEvent::Writable => assert!(self.blocked.remove(&link), "{link:?} was not blocked"),
            LinkEvent::Down(_) => {
                self.blocked.remove(&link);
                self.to_send.retain(|write| write.link != link);
            }
            _ => {}
        }
        self.events.push_back(Event::Link(link, event));
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.deadline.is_some_and(|deadline| deadline <= now) {
            self.deadline = None;
            self.events.push_back(Event::Fired);
        }
    }

    fn poll_link(&mut self) -> Option<LinkRequest> {
        self.requests.pop_front()
    }

    fn poll_transmit(&mut self, _now: Instant, _max: NonZeroUsize, buf: &mut Vec<u8>) -> Option<Transmit> {
        let at = self.to_send.iter().position(|write| !self.blocked.contains(&write.link))?;
        let Write { link, to, bytes, pieces } = self.to_send.remove(at)?;
        buf.extend_from_slice(&bytes);
        self.pieces = pieces;
        Some(Transmit { to, ..Transmit::stream(link, bytes.len()) })
    }

    fn poll_gather(&mut self, pieces: &mut Vec<Bytes>) {
        pieces.append(&mut self.pieces);
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.deadline
    }

    fn wants_read(&self, _link: LinkId) -> bool {
        !self.is_full
    }

    fn recv_buffer(&mut self, _link: LinkId) -> Option<&mut [u8]> {
        let len = self.lends?;
        self.lent.resize(len, 0);
        Some(&mut self.lent)
    }

    fn handle_filled(&mut self, _now: Instant, link: LinkId, len: usize) {
        let bytes = std::mem::take(&mut self.lent);
        self.on_bytes(link, &bytes[..len]);
    }
}

pub(crate) const LINK: LinkId = LinkId(0);
pub(crate) const LISTENER: LinkId = LinkId(1);
pub(crate) const LOOPBACK: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

pub(crate) type Driver = Blocking<Toy>;

pub(crate) fn driver(machine: Toy) -> Driver {
    Blocking::new(machine, Config::default()).unwrap()
}

/// Runs a machine that asks for one link.
pub(crate) fn opening(mut machine: Toy, link: LinkId, spec: LinkSpec) -> Driver {
    machine.open(link, spec);
    driver(machine)
}

#[allow(clippy::disallowed_methods, reason = "a test of drivers needs a clock")]
pub(crate) fn now() -> std::time::Instant {
    std::time::Instant::now()
}

/// Waits for the next event, at most ten seconds.
pub(crate) fn event(driver: &mut Driver) -> Event {
    driver.event(Some(now() + Duration::from_secs(10))).unwrap().expect("no event within ten seconds")
}

/// Waits until `question` has an answer to an event, and forgets those before.
pub(crate) fn until<T>(driver: &mut Driver, mut question: impl FnMut(Event) -> Option<T>) -> T {
    loop {
        if let Some(answer) = question(event(driver)) {
            return answer;
        }
    }
}

/// Waits until `link` is up and returns its local address.
pub(crate) fn up(driver: &mut Driver, link: LinkId) -> Option<SocketAddr> {
    until(driver, |event| match event {
        Event::Link(of, LinkEvent::Up { local, .. }) if of == link => Some(local),
        Event::Link(of, LinkEvent::Down(reason)) if of == link => panic!("{link:?} is down: {reason:?}"),
        _ => None,
    })
}

/// Waits until `link` is down and says why.
pub(crate) fn down(driver: &mut Driver, link: LinkId) -> DownReason {
    until(driver, |event| match event {
        Event::Link(of, LinkEvent::Down(reason)) if of == link => Some(reason),
        _ => None,
    })
}

/// Waits until `len` bytes of a link have arrived.
pub(crate) fn bytes(driver: &mut Driver, link: LinkId, len: usize) -> Vec<u8> {
    let mut all = Vec::new();
    while all.len() < len {
        let more = until(driver, |event| match event {
            Event::Bytes(of, bytes) if of == link => Some(bytes),
            Event::Link(of, LinkEvent::Down(reason)) if of == link => panic!("{link:?} is down: {reason:?}"),
            _ => None,
        });
        all.extend(more);
    }
    all
}

/// Runs an echoing machine in a thread until `stop` of it is dropped.
pub(crate) struct Server {
    pub(crate) local: Option<SocketAddr>,
    waker: runtime_blocking::Waker,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Server {
    pub(crate) fn start(spec: LinkSpec) -> Self {
        let mut driver = opening(Toy { echo: true, ..Toy::default() }, LISTENER, spec);
        let local = up(&mut driver, LISTENER);
        let waker = driver.waker().unwrap();
        let thread = std::thread::spawn(move || {
            while driver.wait(None).unwrap() == runtime_blocking::Waited::Event {
                while driver.next_event().is_some() {}
            }
        });
        Self { local, waker, thread: Some(thread) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.waker.wake();
        self.thread.take().unwrap().join().unwrap();
    }
}
