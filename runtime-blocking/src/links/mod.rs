//! The links of a driver: what a machine's link numbers stand for.

mod datagrams;
mod listener;
mod patience;
mod port;
mod receive;
mod round;
mod stream;
mod watch;

pub(crate) use receive::Wait;
pub(crate) use round::Round;
pub use round::Wants;

use bytes::Bytes;
use proto_core::{Deadlines, DownReason, Flow, Instant, LinkEvent, LinkId, LinkRequest, Machine, Transmit};
use runtime_core::{
    Stats,
    sockets::{DatagramSource, ListenerSource, Lookup, Opened, Outbox, StreamSource, ip, open, reason_of},
};
use slab::Slab;
use std::{
    cell::OnceCell,
    collections::HashMap,
    io::{self, ErrorKind},
    num::NonZeroUsize,
    sync::Arc,
    task,
};

use crate::{Config, Waker, waker::Bell};
use datagrams::Datagrams;
use listener::Listener;
use port::{Entry, Port};
use stream::Stream;
use watch::Watch;

/// All links of a driver, with what they have to report. Finding one costs O(1), and a wait costs what is ready.
#[derive(Debug)]
pub(crate) struct Links {
    entries: Slab<Entry>,
    /// Where the links that the machine knows stand in `entries`.
    slots: HashMap<LinkId, usize>,
    /// The link that was asked for last, which most often is the next as well.
    last: Option<(LinkId, usize)>,
    /// What the machine is to be told next.
    reports: Vec<(LinkId, LinkEvent)>,
    /// When slots want a turn even if nothing happens.
    deadlines: Deadlines,
    /// Slots that want a turn now.
    due: Vec<usize>,
    /// Slots whose watching may have to change.
    changed: Vec<usize>,
    /// Slots of links that the machine wants nothing from at present.
    held_back: Vec<usize>,
    /// Slots of names that are being resolved.
    lookups: Vec<usize>,
    /// The set of watched descriptors, once there is more than one.
    watch: Option<Watch>,
    bell: OnceCell<Arc<Bell>>,
    bell_is_watched: bool,
    /// What is ready, for reuse.
    ready: Vec<u64>,
    /// Room for what a machine did not lend a buffer for.
    scratch: Box<[u8]>,
    next_accepted: LinkId,
    /// How many streams are closed for the machine and not yet for the peer.
    leaving: usize,
    /// How many equal-sized datagrams a transmit may hold.
    segments: NonZeroUsize,
    config: Config,
}

impl Links {
    pub(crate) fn new(config: Config) -> Self {
        Self {
            entries: Slab::new(),
            slots: HashMap::new(),
            last: None,
            reports: Vec::new(),
            deadlines: Deadlines::new(),
            due: Vec::new(),
            changed: Vec::new(),
            held_back: Vec::new(),
            lookups: Vec::new(),
            watch: None,
            bell: OnceCell::new(),
            bell_is_watched: false,
            ready: Vec::new(),
            scratch: vec![0; config.scratch.max(MIN_SCRATCH)].into(),
            next_accepted: LinkId::FIRST_ACCEPTED,
            leaving: 0,
            segments: NonZeroUsize::MIN,
            config,
        }
    }

    /// Adds a bound UDP socket as `link` and reports it as up.
    ///
    /// # Errors
    /// The operating system cannot take the socket, or the link is in use.
    pub(crate) fn add_udp(&mut self, link: LinkId, source: DatagramSource) -> io::Result<()> {
        let (local, peer) = (source.socket.local_addr().ok(), source.socket.peer_addr().ok());
        source.socket.set_nonblocking(true)?;
        let batches = self.config.segments_per_send > NonZeroUsize::MIN;
        let socket = Datagrams::new(source, batches)?;
        // All sockets are of one system, and each cuts what is too long for it.
        self.segments = self.segments.max(socket.max_segments().min(self.config.segments_per_send));
        self.insert(link, Port::Datagrams(socket))?;
        self.reports.push((link, LinkEvent::Up { local, peer }));
        Ok(())
    }

    /// Carries out a machine's request.
    pub(crate) fn request(&mut self, request: LinkRequest, now: Instant, stats: &mut Stats) {
        match request {
            LinkRequest::Open { link, spec } => {
                let opened = open(spec).and_then(|opened| self.add(link, opened, now));
                if let Err(error) = opened {
                    stats.note(&error);
                    self.reports.push((link, LinkEvent::Down(reason_of(&error))));
                }
            }
            LinkRequest::Close { link } => {
                self.close(link, now, stats);
                // Of a link that is closed only its end is reported, and that once.
                self.reports.retain(|(of, event)| *of != link || matches!(event, LinkEvent::Down(_)));
                if self.reports.iter().all(|(of, _)| *of != link) {
                    self.reports.push((link, LinkEvent::Down(DownReason::Closed)));
                }
            }
            // The contract may grow kinds of request that this driver does not know.
            _ => {}
        }
    }

    /// Sends a transmit on its link, followed by `pieces` on a stream; one for a link that is not there is dropped.
    pub(crate) fn send(
        &mut self,
        transmit: &Transmit,
        bytes: &[u8],
        pieces: &[Bytes],
        stats: &mut Stats,
    ) -> Flow {
        let Some(slot) = self.find(transmit.link) else { return Flow::Sent };
        let Self { entries, reports, changed, due, .. } = self;
        let Some(entry) = entries.get_mut(slot) else { return Flow::Sent };
        let out = &mut Outbox { stats, reports };
        let flow = match &mut entry.port {
            Port::Stream(stream) if transmit.to.is_none() => {
                let flow = stream.send(bytes, pieces, out);
                if stream.is_due() {
                    due.push(slot);
                }
                flow
            }
            Port::Datagrams(socket) => socket.send(transmit, bytes, out),
            Port::Stream(_) | Port::Listener(_) | Port::Lookup { .. } => Flow::Sent,
        };
        if flow == Flow::Blocked {
            entry.note_change(slot, changed);
        }
        flow
    }

    /// Tells the machine what there is to report.
    pub(crate) fn report<M: Machine>(&mut self, machine: &mut M, now: Instant) {
        for (link, event) in self.reports.drain(..) {
            machine.handle_link(now, link, event);
        }
    }

    /// Returns when a link wants a turn even if nothing happens.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.deadlines.next()
    }

    /// Returns how many equal-sized datagrams a transmit may hold.
    pub(crate) const fn max_segments(&self) -> NonZeroUsize {
        self.segments
    }

    /// Says whether there is something to report.
    pub(crate) const fn has_reports(&self) -> bool {
        !self.reports.is_empty()
    }

    /// Says whether a link wants a turn now.
    pub(crate) const fn has_due(&self) -> bool {
        !self.due.is_empty()
    }

    /// Says whether any link has something left to send. Costs O(links).
    pub(crate) fn has_unsent(&self) -> bool {
        self.entries.iter().any(|(_, entry)| entry.port.has_unsent())
    }

    /// Returns something that wakes a wait from another thread.
    ///
    /// # Errors
    /// The process has no descriptor left.
    pub(crate) fn waker(&self) -> io::Result<Waker> {
        self.bell().map(Bell::waker)
    }

    /// Says whether the application called since it was last asked.
    pub(crate) fn was_called(&self) -> bool {
        self.bell.get().is_some_and(|bell| bell.was_called())
    }
}

impl Links {
    fn add(&mut self, link: LinkId, opened: Opened, now: Instant) -> io::Result<()> {
        match opened {
            Opened::Datagrams(source) => self.add_udp(link, source),
            Opened::Stream(source) => self.add_stream(link, source, now),
            Opened::Listener(source) => self.add_listener(link, source),
            Opened::Name { host, port } => self.add_lookup(link, host, port, now),
            // The sockets may grow kinds of link that this driver does not know.
            _ => Err(ErrorKind::Unsupported.into()),
        }
    }

    fn add_stream(&mut self, link: LinkId, source: StreamSource, now: Instant) -> io::Result<()> {
        let stream = Stream::connecting(source, now + self.config.connect_timeout);
        let slot = self.insert(link, Port::Stream(stream))?;
        // Near peers, local sockets and children are connected at once.
        self.due.push(slot);
        Ok(())
    }

    fn add_listener(&mut self, link: LinkId, source: ListenerSource) -> io::Result<()> {
        let local = ip(source.socket.local_addr());
        self.insert(link, Port::Listener(Listener::new(source)))?;
        self.reports.push((link, LinkEvent::Up { local, peer: None }));
        Ok(())
    }

    fn add_lookup(&mut self, link: LinkId, host: String, port: u16, now: Instant) -> io::Result<()> {
        let bell = Arc::clone(self.bell()?);
        let lookup = Lookup::start(host, port, task::Waker::from(bell))?;
        let until = now + self.config.lookup_timeout;
        let slot = self.insert(link, Port::Lookup { lookup, until })?;
        self.lookups.push(slot);
        self.due.push(slot);
        Ok(())
    }

    fn insert(&mut self, link: LinkId, port: Port) -> io::Result<usize> {
        if self.slots.contains_key(&link) {
            return Err(ErrorKind::AlreadyExists.into());
        }
        let deadline = port.deadline();
        let slot = self.entries.insert(Entry::new(link, port));
        self.slots.insert(link, slot);
        self.set_deadline(slot, deadline);
        if let Some(entry) = self.entries.get_mut(slot) {
            entry.note_change(slot, &mut self.changed);
        }
        Ok(slot)
    }

    /// Closes a link without a word to the machine. What it has sent so far still goes out, if the peer takes it soon.
    fn close(&mut self, link: LinkId, now: Instant, stats: &mut Stats) {
        let Some(slot) = self.find(link) else { return };
        let until = now + self.config.leave_timeout;
        let Some(entry) = self.entries.get_mut(slot) else { return };
        if let Port::Stream(stream) = &mut entry.port
            && stream.leave(until, stats)
            && self.leaving < MAX_LEAVING
        {
            entry.note_change(slot, &mut self.changed);
            self.leaving += 1;
            self.forget(link);
            self.set_deadline(slot, Some(until));
        } else {
            self.remove(slot);
        }
    }

    fn remove(&mut self, slot: usize) {
        let Some(entry) = self.entries.try_remove(slot) else { return };
        // A stream that leaves has given its number away.
        if self.slots.get(&entry.link) == Some(&slot) {
            self.forget(entry.link);
        } else {
            self.leaving = self.leaving.saturating_sub(1);
        }
        if entry.held_back {
            self.held_back.retain(|&held| held != slot);
        }
        if matches!(entry.port, Port::Lookup { .. }) {
            self.lookups.retain(|&lookup| lookup != slot);
        }
        self.set_deadline(slot, None);
        // The descriptor leaves the set when it is closed, which is here.
    }

    fn forget(&mut self, link: LinkId) {
        self.slots.remove(&link);
        self.last = None;
    }

    fn find(&mut self, link: LinkId) -> Option<usize> {
        if let Some((last, slot)) = self.last
            && last == link
        {
            return Some(slot);
        }
        let slot = *self.slots.get(&link)?;
        self.last = Some((link, slot));
        Some(slot)
    }

    fn fresh_accepted(&mut self) -> LinkId {
        loop {
            let link = self.next_accepted;
            self.next_accepted = link.0.checked_add(1).map_or(LinkId::FIRST_ACCEPTED, LinkId);
            if !self.slots.contains_key(&link) {
                return link;
            }
        }
    }

    fn set_deadline(&mut self, slot: usize, at: Option<Instant>) {
        // Deadlines are numbered with 32 bits. No system has so many descriptors.
        if let Ok(slot) = u32::try_from(slot) {
            self.deadlines.set(slot, at);
        }
    }

    fn bell(&self) -> io::Result<&Arc<Bell>> {
        if self.bell.get().is_none() {
            // Nobody else can have set it meanwhile.
            let _ = self.bell.set(Arc::new(Bell::new()?));
        }
        self.bell.get().ok_or_else(|| ErrorKind::NotFound.into())
    }

    /// Returns the bell if there is anybody who might ring it.
    fn armed_bell(&self) -> Option<&Bell> {
        self.bell.get().filter(|bell| Arc::strong_count(bell) > 1).map(Arc::as_ref)
    }
}

/// Streams that may go on sending after their close. Others are cut off when the limit is reached.
const MAX_LEAVING: usize = 64;

/// The least room for a piece of a stream, and for a datagram.
const MIN_SCRATCH: usize = 64 * 1024;
