//! Links that are served when they are woken: streams, listeners, lookups. There may be thousands of them.

use bytes::Bytes;
use proto_core::{Deadlines, Flow, Instant, LinkEvent, LinkId, Machine, Transmit};
use slab::Slab;
use std::{
    collections::HashMap,
    fmt,
    io::{self, ErrorKind},
    mem,
    sync::Arc,
    task::{Context, Waker},
};

use super::{
    Outbox, Round, Turn,
    listener::{Accepted, Listener},
    piece::with_piece,
    ready::{Mark, Ready},
    stream::Stream,
};
use crate::{
    Runtime, SocketIo, Stats,
    shared::Shared,
    sockets::{ListenerSource, Lookup, StreamSource},
};

/// All links of a driver but its datagram sockets. Finding one costs O(1), and a wake-up costs what is ready.
pub(super) struct Switchboard<R: Runtime> {
    entries: Slab<Entry<R::Stream>>,
    /// Where the links that the machine knows stand in `entries`.
    slots: HashMap<LinkId, usize>,
    ready: Ready,
    /// Slots of links that the machine wants nothing from at present.
    held_back: Vec<usize>,
    /// When slots want a turn even if nothing happens.
    deadlines: Deadlines,
    next_accepted: LinkId,
    /// How many streams are closed for the machine and not yet for the peer.
    leaving: usize,
}

struct Entry<S> {
    link: LinkId,
    port: Port<S>,
    mark: Arc<Mark>,
    /// Wakes with `mark`.
    waker: Waker,
    held_back: bool,
}

enum Port<S> {
    Stream(Stream<S>),
    Listener(Listener<S>),
    Lookup(Lookup),
}

impl<R: Runtime> Switchboard<R> {
    pub(super) fn new() -> Self {
        Self {
            entries: Slab::new(),
            slots: HashMap::new(),
            ready: Ready::default(),
            held_back: Vec::new(),
            deadlines: Deadlines::new(),
            next_accepted: LinkId::FIRST_ACCEPTED,
            leaving: 0,
        }
    }

    /// Adds a stream, which is reported as up once it is connected.
    ///
    /// # Errors
    /// The reactor cannot take the socket, or the link is in use.
    pub(super) fn add_stream(&mut self, link: LinkId, source: StreamSource, now: Instant) -> io::Result<()> {
        let stream = Stream::connecting(source, now, R::stream)?;
        self.insert(link, |_| Ok(Port::Stream(stream)))
    }

    /// Adds a listener.
    ///
    /// # Errors
    /// The reactor cannot take the socket, or the link is in use.
    pub(super) fn add_listener(&mut self, link: LinkId, source: ListenerSource) -> io::Result<()> {
        let listener = Listener::new(source, R::stream)?;
        self.insert(link, |_| Ok(Port::Listener(listener)))
    }

    /// Adds a name to resolve.
    ///
    /// # Errors
    /// Too many names wait already, or the link is in use.
    pub(super) fn add_lookup(&mut self, link: LinkId, host: String, port: u16) -> io::Result<()> {
        self.insert(link, |waker| Ok(Port::Lookup(Lookup::start(host, port, waker.clone())?)))
    }

    /// Says whether `link` is one of these.
    pub(super) fn contains(&self, link: LinkId) -> bool {
        self.slots.contains_key(&link)
    }

    /// Closes a link without a word to the machine. What it has sent so far still goes out, if the peer takes it soon.
    pub(super) fn close(&mut self, link: LinkId, now: Instant, stats: &mut Stats) {
        let Some(&slot) = self.slots.get(&link) else { return };
        if let Some(entry) = self.entries.get_mut(slot)
            && let Port::Stream(stream) = &mut entry.port
            && stream.leave(now, stats)
            && self.leaving < MAX_LEAVING
        {
            self.leaving += 1;
            self.slots.remove(&link);
            self.ready.push(&entry.mark);
        } else {
            self.remove(slot);
        }
    }

    /// Sends on a stream; what is for another kind of link, or for none, is dropped.
    pub(super) fn send(
        &mut self,
        transmit: &Transmit,
        bytes: &[u8],
        pieces: &[Bytes],
        out: &mut Outbox<'_>,
    ) -> Flow {
        let slot = self.slots.get(&transmit.link).copied();
        let Some(entry) = slot.and_then(|slot| self.entries.get_mut(slot)) else { return Flow::Sent };
        let Port::Stream(stream) = &mut entry.port else { return Flow::Sent };
        let flow = stream.send(bytes, pieces, out);
        if stream.wants_turn() {
            self.ready.push(&entry.mark);
        }
        flow
    }

    /// Gives each link that is ready a turn, until about `budget` bytes are read. Says whether the machine was told
    /// anything. The task of `cx` is woken when there is more to do.
    pub(super) fn serve<M: Machine, F>(
        &mut self,
        shared: &Shared<M, F>,
        now: Instant,
        budget: usize,
        cx: &Context<'_>,
    ) -> bool {
        self.ready.collect(cx);
        while let Some(slot) = self.deadlines.expire(now) {
            if let Some(entry) = self.entries.get(slot as usize) {
                self.ready.push(&entry.mark);
            }
        }
        if self.ready.len() == 0 {
            return false;
        }
        with_piece(|piece| {
            let mut round = Round { shared, now, piece, bytes: 0, any: false, accepted: Vec::new() };
            for _ in 0..self.ready.len() {
                if round.bytes >= budget {
                    break;
                }
                let Some(slot) = self.ready.pop() else { break };
                self.serve_one(slot, &mut round);
            }
            round.any
        })
    }

    /// Gives links that the machine wants to read from again a turn, and says whether any are left.
    pub(super) fn hold_back<M: Machine>(&mut self, machine: &M) -> bool {
        let Self { entries, ready, held_back, .. } = self;
        held_back.retain(|&slot| {
            let Some(entry) = entries.get_mut(slot) else { return false };
            entry.held_back = !machine.wants_read(entry.link);
            if !entry.held_back {
                ready.push(&entry.mark);
            }
            entry.held_back
        });
        !held_back.is_empty()
    }

    /// Returns when a link wants a turn even if nothing happens.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.deadlines.next()
    }

    /// Says whether something still has to be sent. Costs O(links).
    pub(super) fn has_unsent(&self) -> bool {
        let unsent = |port: &Port<_>| matches!(port, Port::Stream(stream) if stream.has_unsent());
        self.entries.iter().any(|(_, entry)| unsent(&entry.port))
    }

    /// Closes everything at once.
    pub(super) fn clear(&mut self) {
        *self = Self::new();
    }

    fn insert(
        &mut self,
        link: LinkId,
        make: impl FnOnce(&Waker) -> io::Result<Port<R::Stream>>,
    ) -> io::Result<()> {
        if self.contains(link) {
            return Err(ErrorKind::AlreadyExists.into());
        }
        let vacant = self.entries.vacant_entry();
        let mark = self.ready.mark(vacant.key());
        let waker = Waker::from(Arc::clone(&mark));
        let port = make(&waker)?;
        self.ready.push(&mark);
        self.slots.insert(link, vacant.key());
        if let Some(slot) = deadline_slot(vacant.key()) {
            self.deadlines.set(slot, port.due());
        }
        vacant.insert(Entry { link, port, mark, waker, held_back: false });
        Ok(())
    }

    fn serve_one<M: Machine, F>(&mut self, slot: usize, round: &mut Round<'_, M, F>) {
        let Some(entry) = self.entries.get_mut(slot) else { return };
        let cx = &mut Context::from_waker(&entry.waker);
        let turn = match &mut entry.port {
            Port::Stream(stream) => stream.turn(entry.link, cx, round),
            Port::Listener(listener) => listener.turn(entry.link, cx, round),
            Port::Lookup(lookup) => match lookup.take() {
                Some(addresses) => {
                    round.tell(entry.link, LinkEvent::Resolved { addresses });
                    Turn::Over
                }
                None => Turn::Asleep,
            },
        };
        if let Some(slot) = deadline_slot(slot) {
            self.deadlines.set(slot, entry.port.due());
        }
        match turn {
            Turn::Asleep => {}
            Turn::Again => self.ready.push(&entry.mark),
            Turn::HeldBack => {
                if !mem::replace(&mut entry.held_back, true) {
                    self.held_back.push(slot);
                }
            }
            Turn::Over => self.remove(slot),
            Turn::Down(reason) => {
                let link = entry.link;
                self.remove(slot);
                round.tell(link, LinkEvent::Down(reason));
            }
        }
        for accepted in mem::take(&mut round.accepted) {
            self.take_in(accepted, round);
        }
    }

    /// Gives an accepted stream its number and reports it.
    fn take_in<M: Machine, F>(&mut self, accepted: Accepted, round: &mut Round<'_, M, F>) {
        let Accepted { listener, socket, peer } = accepted;
        let link = self.fresh_accepted();
        let stream = R::stream(socket).map(Stream::accepted);
        match stream.and_then(|stream| self.insert(link, |_| Ok(Port::Stream(stream)))) {
            Ok(()) => round.tell(link, LinkEvent::Accepted { listener, peer }),
            Err(error) => round.shared.lock().stats.count_receive_error(&error),
        }
    }

    fn fresh_accepted(&mut self) -> LinkId {
        loop {
            let link = self.next_accepted;
            self.next_accepted = link.0.checked_add(1).map_or(LinkId::FIRST_ACCEPTED, LinkId);
            if !self.contains(link) {
                return link;
            }
        }
    }

    fn remove(&mut self, slot: usize) {
        let Some(entry) = self.entries.try_remove(slot) else { return };
        // A stream that leaves has given its number away.
        if self.slots.get(&entry.link) == Some(&slot) {
            self.slots.remove(&entry.link);
        } else {
            self.leaving = self.leaving.saturating_sub(1);
        }
        if entry.held_back {
            self.held_back.retain(|&held| held != slot);
        }
        if let Some(slot) = deadline_slot(slot) {
            self.deadlines.set(slot, None);
        }
    }
}

impl<S: SocketIo> Port<S> {
    fn due(&self) -> Option<Instant> {
        match self {
            Self::Stream(stream) => stream.due(),
            Self::Listener(listener) => listener.due(),
            Self::Lookup(_) => None,
        }
    }
}

impl<R: Runtime> fmt::Debug for Switchboard<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Switchboard")
            .field("links", &self.slots.len())
            .field("held_back", &self.held_back.len())
            .field("leaving", &self.leaving)
            .finish_non_exhaustive()
    }
}

/// Deadlines are numbered with 32 bits. No system has so many descriptors.
fn deadline_slot(slot: usize) -> Option<u32> {
    u32::try_from(slot).ok()
}

/// Streams that may go on sending after their close. Others are cut off when the limit is reached.
const MAX_LEAVING: usize = 64;
