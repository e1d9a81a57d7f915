//! A machine that speaks over streams.

use super::toy::{Desk, Finishing, until};
use bytes::Bytes;
use proto_core::{
    Datagram, DownReason, Instant, LinkEvent, LinkId, LinkRequest, LinkSpec, Machine, Transmit,
};
use runtime_core::{Driver, DriverConfig, Handle, Runtime};
use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    net::SocketAddr,
    num::NonZeroUsize,
};

/// Sends what it is told to, keeps or echoes what arrives, and notes all that is reported, link by link.
#[derive(Default)]
pub(crate) struct StreamToy {
    pub(crate) echo: bool,
    /// Bytes kept of a link, or to be echoed on it, beyond which it wants to read no more.
    pub(crate) room: Option<usize>,
    /// The length of the buffer that it lends for each link.
    pub(crate) lends: Option<usize>,
    /// Bytes that came in lent buffers.
    pub(crate) filled: usize,
    pub(crate) arrived: BTreeMap<LinkId, Vec<u8>>,
    pub(crate) requests: VecDeque<LinkRequest>,
    pub(crate) reports: Vec<(LinkId, LinkEvent)>,
    pub(crate) finished: bool,
    pub(crate) to_send: BTreeMap<LinkId, VecDeque<Write>>,
    pub(crate) blocked: BTreeSet<LinkId>,
    pub(crate) lent: BTreeMap<LinkId, Vec<u8>>,
    pub(crate) pieces: Vec<Bytes>,
    pub(crate) news: bool,
}

/// What leaves as one transmit.
pub(crate) struct Write {
    pub(crate) bytes: Vec<u8>,
    pub(crate) pieces: Vec<Bytes>,
}

impl StreamToy {
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
        self.to_send.entry(link).or_default().push_back(Write { bytes: bytes.into(), pieces });
    }

    pub(crate) fn take(&mut self, link: LinkId) -> Vec<u8> {
        self.arrived.get_mut(&link).map(std::mem::take).unwrap_or_default()
    }

    pub(crate) fn arrived_len(&self, link: LinkId) -> usize {
        self.arrived.get(&link).map_or(0, Vec::len)
    }

    pub(crate) fn reports_of(&self, link: LinkId) -> Vec<LinkEvent> {
        self.reports.iter().filter(|(of, _)| *of == link).map(|(_, event)| event.clone()).collect()
    }

    /// Returns the links that a listener took in.
    pub(crate) fn accepted(&self) -> Vec<LinkId> {
        let is_accepted = |event: &LinkEvent| matches!(event, LinkEvent::Accepted { .. });
        self.reports.iter().filter(|(_, event)| is_accepted(event)).map(|(link, _)| *link).collect()
    }

    fn on_bytes(&mut self, link: LinkId, bytes: &[u8]) {
        if self.echo {
            self.send(link, bytes);
        } else {
            self.arrived.entry(link).or_default().extend_from_slice(bytes);
            self.news = true;
        }
    }
}

impl Machine for StreamToy {
    type Event = ();

    fn handle_datagram(&mut self, _now: Instant, _datagram: Datagram<'_>) {}

    fn handle_stream(&mut self, _now: Instant, link: LinkId, data: &mut [u8]) {
        self.on_bytes(link, data);
    }

    fn handle_link(&mut self, _now: Instant, link: LinkId, event: LinkEvent) {
        match event {
            LinkEvent::Blocked => assert!(self.blocked.insert(link), "{link:?} is blocked twice"),
            LinkEvent::Writable => assert!(self.blocked.remove(&link), "{link:?} was not blocked"),
            LinkEvent::Down(_) => {
                self.blocked.remove(&link);
                self.to_send.remove(&link);
            }
            _ => {}
        }
        self.reports.push((link, event));
        self.news = true;
    }

    fn handle_timeout(&mut self, _now: Instant) {}

    fn poll_link(&mut self) -> Option<LinkRequest> {
        self.requests.pop_front()
    }

    fn poll_transmit(&mut self, _now: Instant, _max: NonZeroUsize, buf: &mut Vec<u8>) -> Option<Transmit> {
        let Self { to_send, blocked, pieces, .. } = self;
        to_send.retain(|_, writes| !writes.is_empty());
        let (&link, writes) = to_send.iter_mut().find(|(link, _)| !blocked.contains(link))?;
        let write = writes.pop_front()?;
        buf.extend_from_slice(&write.bytes);
        *pieces = write.pieces;
        self.news = true;
        Some(Transmit::stream(link, write.bytes.len()))
    }

    fn poll_gather(&mut self, pieces: &mut Vec<Bytes>) {
        pieces.append(&mut self.pieces);
    }

    fn poll_event(&mut self) -> Option<()> {
        std::mem::take(&mut self.news).then_some(())
    }

    fn poll_timeout(&self) -> Option<Instant> {
        None
    }

    fn wants_read(&self, link: LinkId) -> bool {
        let waiting = |writes: &VecDeque<Write>| writes.iter().map(|write| write.bytes.len()).sum();
        // One that waits with reading for its own writes would wait forever for another that does the same.
        let queued: usize = self.to_send.get(&link).filter(|_| self.echo).map_or(0, waiting);
        self.room.is_none_or(|room| self.arrived_len(link) + queued < room)
    }

    fn recv_buffer(&mut self, link: LinkId) -> Option<&mut [u8]> {
        let len = self.lends?;
        let buffer = self.lent.entry(link).or_default();
        buffer.resize(len, 0);
        Some(buffer)
    }

    fn handle_filled(&mut self, _now: Instant, link: LinkId, len: usize) {
        self.filled += len;
        let buffer = self.lent.remove(&link).unwrap();
        self.on_bytes(link, &buffer[..len]);
    }
}

impl Finishing for StreamToy {
    fn finish(&mut self) {
        self.finished = true;
    }

    fn is_finished(&self) -> bool {
        self.finished
    }
}

pub(crate) type StreamHandle = Handle<StreamToy, Desk>;

/// A driver that is not running yet.
pub(crate) fn driver<R: Runtime>(machine: StreamToy) -> (Driver<StreamToy, Desk, R>, StreamHandle) {
    Driver::new(machine, Desk::default(), DriverConfig::default()).unwrap()
}

/// Runs a machine that asks for one link.
pub(crate) fn run_with<R: Runtime>(mut machine: StreamToy, link: LinkId, spec: LinkSpec) -> StreamHandle {
    machine.open(link, spec);
    let (driver, handle) = driver::<R>(machine);
    driver.spawn();
    handle
}

/// Waits until `link` is up and returns its local address.
pub(crate) async fn up<R: Runtime>(handle: &StreamHandle, link: LinkId) -> Option<SocketAddr> {
    until::<R, _, _>(handle, |machine| {
        machine.reports.iter().find_map(|report| match report {
            (of, LinkEvent::Up { local, .. }) if *of == link => Some(*local),
            (of, LinkEvent::Down(reason)) if *of == link => panic!("{link:?} is down: {reason:?}"),
            _ => None,
        })
    })
    .await
}

/// Waits until `link` is down and says why.
pub(crate) async fn down<R: Runtime>(handle: &StreamHandle, link: LinkId) -> DownReason {
    until::<R, _, _>(handle, |machine| {
        machine.reports.iter().find_map(|report| match report {
            (of, LinkEvent::Down(reason)) if *of == link => Some(*reason),
            _ => None,
        })
    })
    .await
}

/// Waits until a listener took in a stream.
pub(crate) async fn accepted<R: Runtime>(handle: &StreamHandle) -> LinkId {
    until::<R, _, _>(handle, |machine| machine.accepted().pop()).await
}

/// Waits until `len` bytes arrived on `link`, and takes them.
pub(crate) async fn receive<R: Runtime>(handle: &StreamHandle, link: LinkId, len: usize) -> Vec<u8> {
    until::<R, _, _>(handle, |machine| (machine.arrived_len(link) >= len).then(|| machine.take(link))).await
}
