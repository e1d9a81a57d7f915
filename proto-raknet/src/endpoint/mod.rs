//! The machine: one UDP socket and all the peers behind it, and sockets of their own for more sessions with one server.
//!
//! ```text
//! datagram -> filter -> offline message? -> answer (server) or attempt (client)
//!                  \--> session of its source address, or of its socket -> Peer
//! Peer, Outbox -> poll_transmit -> datagram
//! ```

mod answer;
mod attempt;
mod commands;
mod cookie;
mod gate;
mod hooks;
mod links;
mod memory;
mod outbox;
mod table;

pub use hooks::{DatagramFilter, Direction, PacketLog, Verdict};

use alloc::{boxed::Box, collections::VecDeque, vec::Vec};
use core::{net::SocketAddr, num::NonZeroUsize, time::Duration};
use proto_core::{Datagram, Deadlines, Instant, LinkEvent, LinkId, LinkRequest, Machine, Rng, Transmit};

use crate::{
    CloseReason, Config, ConfigError, ConnectFailure, EndpointStats, Event, Guid, PeerId, Role,
    limits::MAX_OFFLINE_EVENTS,
    peer::{Agreed, Context, Peer, Slab},
    wire::MessageId,
};
use cookie::Cookies;
use gate::Gate;
use hooks::Hooks;
use links::Links;
use memory::{PendingPings, RecentVersions};
use outbox::{Outbox, Way};
use table::{Occupant, Table};

/// The link that all peers share but those with a socket of their own: the endpoint's UDP socket.
pub const SOCKET: LinkId = LinkId(0);

/// A RakNet peer in both roles, as a machine on one UDP socket ([`SOCKET`]) and on those that
/// [`connect_apart`](Self::connect_apart) asks for.
///
/// It accepts sessions (unless [`max_connections`](crate::IncomingConfig::max_connections) is 0) and opens others.
/// Commands and events are those of this type and [`Event`]; the driver's part is [`Machine`].
#[derive(Debug)]
pub struct Endpoint {
    shared: Shared,
    table: Table,
    links: Links,
    deadlines: Deadlines,
    /// Peers that may have something to send.
    ready: VecDeque<u32>,
    /// Those of them whose turn came while the common socket had no room.
    stuck: Vec<u32>,
    outbox: Outbox,
    gate: Gate,
    cookies: Cookies,
    versions: RecentVersions,
    pings: PendingPings,
    hooks: Hooks,
    rng: Rng,
    now: Instant,
    accepting: bool,
    closing: bool,
    blocked: bool,
    down: bool,
}

/// What every session works with.
#[derive(Debug)]
struct Shared {
    config: Config,
    guid: Guid,
    slab: Slab,
    events: VecDeque<Event>,
    stats: EndpointStats,
}

impl Shared {
    /// Returns what the session `id` works with now; towards its peer we are `guid`.
    fn context(&mut self, now: Instant, id: PeerId, guid: Guid) -> Context<'_> {
        Context { now, id, guid, config: &self.config, slab: &mut self.slab, events: &mut self.events }
    }
}

impl Endpoint {
    /// Creates an endpoint. `seed` feeds its identifier and its secrets; a driver takes it from the operating system.
    ///
    /// # Errors
    /// When a value of the configuration is out of range.
    pub fn new(config: Config, seed: [u8; 32]) -> Result<Self, ConfigError> {
        config.validate()?;
        let mut rng = Rng::new(seed);
        let guid = config.guid.unwrap_or_else(|| Guid(rng.next_u64()));
        // The halves of the seed are the keys themselves: no output of the generator may reveal them.
        let (cookie_key, table_key) = split_seed(seed);
        Ok(Self {
            shared: Shared {
                config,
                guid,
                slab: Slab::default(),
                events: VecDeque::new(),
                stats: EndpointStats::default(),
            },
            table: Table::new(table_key),
            links: Links::default(),
            deadlines: Deadlines::new(),
            ready: VecDeque::new(),
            stuck: Vec::new(),
            outbox: Outbox::default(),
            gate: Gate::default(),
            cookies: Cookies::new(cookie_key),
            versions: RecentVersions::default(),
            pings: PendingPings::default(),
            hooks: Hooks::default(),
            rng,
            now: Instant::ZERO,
            accepting: true,
            closing: false,
            blocked: false,
            down: false,
        })
    }

    /// Advances the clock; it never runs backwards (law 4).
    fn clock(&mut self, now: Instant) -> Instant {
        self.now = self.now.max(now);
        self.now
    }

    /// Runs `act` on a session, and then looks after what it left.
    fn with_peer<T>(
        &mut self,
        index: u32,
        now: Instant,
        act: impl FnOnce(&mut Peer, &mut Context<'_>) -> T,
    ) -> Option<T> {
        let (id, guid) = (self.table.id(index), self.guid_towards(index));
        let peer = self.table.peer_mut(index)?;
        let before = peer.phase();
        let mut ctx = self.shared.context(now, id, guid);
        let result = act(peer, &mut ctx);
        let after = peer.phase();
        if before != after {
            self.on_phase(index, before.is_handshake(), after);
        }
        self.make_ready(index);
        Some(result)
    }

    /// A session went on to another phase: keep the counts, and free it at its end.
    fn on_phase(&mut self, index: u32, was_handshake: bool, phase: crate::peer::Phase) {
        let Some(peer) = self.table.peer_mut(index) else { return };
        let (role, agreed) = (peer.role(), *peer.agreed());
        if role == Role::Server && was_handshake && !phase.is_handshake() {
            self.shared.stats.handshakes -= 1;
            self.shared.stats.incoming += 1;
        }
        if phase == crate::peer::Phase::Gone {
            self.remove(index, role, agreed);
        }
    }

    fn remove(&mut self, index: u32, role: Role, agreed: Agreed) {
        if role == Role::Server {
            // A session that was dropped during its handshake passed through `on_phase` as well.
            self.shared.stats.incoming -= 1;
            self.gate.session_closed(agreed.address.ip());
        }
        self.table.unname(agreed.guid, index);
        self.free(index, agreed.address);
    }

    /// Frees a number and the socket that was its own.
    fn free(&mut self, index: u32, address: SocketAddr) {
        let link = self.table.link(index);
        if link != SOCKET {
            self.links.close(link);
        }
        self.table.remove(index, address);
        self.deadlines.set(index, None);
    }

    /// Returns who a session says that we are.
    fn guid_towards(&self, index: u32) -> Guid {
        match self.table.link(index) {
            SOCKET => self.shared.guid,
            link => self.links.guid(link).unwrap_or(self.shared.guid),
        }
    }

    /// Returns whose datagrams come from an address by a socket.
    #[inline]
    fn sender(&mut self, link: LinkId, from: SocketAddr) -> Option<u32> {
        if link == SOCKET {
            return self.table.at(from);
        }
        let index = self.links.owner(link)?;
        let address = match self.table.get(index)? {
            Occupant::Peer(peer) => peer.agreed().address,
            Occupant::Attempt(attempt) => attempt.address(),
        };
        (address == from).then_some(index)
    }

    /// Says whether datagrams can leave by a socket now.
    #[inline]
    fn has_room(&self, link: LinkId) -> bool {
        if link == SOCKET { !self.blocked && !self.down } else { self.links.has_room(link) }
    }

    #[inline]
    fn make_ready(&mut self, index: u32) {
        if self.table.queue(index) {
            self.ready.push_back(index);
        }
    }

    /// Queues a datagram outside any session.
    fn reply(&mut self, to: SocketAddr, write: impl FnOnce(&mut Vec<u8>)) -> bool {
        let ((), room) = self.outbox.push(Way { link: SOCKET, to }, write);
        if !room {
            self.shared.stats.drops.replies_full += 1;
        }
        room
    }

    /// Queues an event about an address without a session; there may be a flood of them.
    fn notify_offline(&mut self, event: Event) {
        if self.shared.events.len() >= MAX_OFFLINE_EVENTS + 4 * self.table.len() {
            self.shared.stats.drops.events_full += 1;
            return;
        }
        self.shared.events.push_back(event);
    }

    /// Sends the request of an attempt that is due, or ends the attempt.
    fn advance_attempt(&mut self, index: u32, now: Instant) {
        let (guid, id, link) = (self.guid_towards(index), self.table.id(index), self.table.link(index));
        let Some(attempt) = self.table.attempt_mut(index) else { return };
        let to = attempt.address();
        let (result, room) = self.outbox.push(Way { link, to }, |buf| attempt.poll_request(guid, now, buf));
        if !room {
            self.shared.stats.drops.replies_full += 1;
        }
        match result {
            Ok(()) => {
                let due = attempt.due();
                self.deadlines.set(index, Some(later(due, now)));
            }
            Err(reason) => {
                self.free(index, to);
                self.shared.events.push_back(Event::ConnectFailed { peer: id, reason });
            }
        }
    }

    fn fail_attempt(&mut self, index: u32, reason: ConnectFailure) {
        let id = self.table.id(index);
        let Some(address) = self.table.attempt_mut(index).map(|attempt| attempt.address()) else { return };
        self.free(index, address);
        self.shared.events.push_back(Event::ConnectFailed { peer: id, reason });
    }

    /// The second reply granted the session: the attempt becomes one, under the same number.
    fn promote_attempt(&mut self, index: u32, agreed: Agreed, now: Instant) {
        let (id, guid) = (self.table.id(index), self.guid_towards(index));
        let Some(attempt) = self.table.attempt_mut(index) else { return };
        let (password, until) = (core::mem::take(&mut attempt.password), attempt.deadline);
        let mut ctx = self.shared.context(now, id, guid);
        let peer = Peer::client(agreed, until, password, &mut ctx);
        if let Some(occupant) = self.table.get_mut(index) {
            *occupant = Occupant::Peer(Box::new(peer));
        }
        // Of several sessions with one server none stands for all.
        if self.table.link(index) == SOCKET {
            self.table.name(agreed.guid, index);
        }
        self.make_ready(index);
    }

    /// Takes note of what happened to the socket that a session or an attempt has for itself.
    fn on_own_link(&mut self, link: LinkId, event: LinkEvent, now: Instant) {
        match event {
            LinkEvent::Up { .. } => {
                self.links.on_up(link);
                if let Some(index) = self.links.owner(link) {
                    self.advance_attempt(index, now);
                }
            }
            LinkEvent::Blocked => self.links.on_blocked(link),
            LinkEvent::Writable => {
                self.links.on_writable(link);
                if let Some(index) = self.links.owner(link) {
                    self.make_ready(index);
                }
            }
            LinkEvent::TooBig { len, .. } => {
                if let Some(index) = self.links.owner(link) {
                    self.on_too_big(index, len, now);
                }
            }
            LinkEvent::Down(_) => {
                if let Some(index) = self.links.on_down(link) {
                    self.lose_link(index);
                }
            }
            LinkEvent::Resolved { .. } | LinkEvent::Eof | _ => {}
        }
    }

    fn on_too_big(&mut self, index: u32, len: usize, now: Instant) {
        if let Some(attempt) = self.table.attempt_mut(index) {
            attempt.on_too_big(len, now);
            self.advance_attempt(index, now);
        }
    }

    /// Ends everything at once that the socket of all was for: it is gone.
    fn on_down(&mut self) {
        self.down = true;
        self.blocked = false;
        self.outbox.clear();
        let indices: Vec<u32> = self.table.indices().collect();
        for index in indices {
            if self.table.link(index) == SOCKET {
                self.lose_link(index);
            }
        }
    }

    fn lose_link(&mut self, index: u32) {
        match self.table.get(index) {
            Some(Occupant::Attempt(_)) => self.fail_attempt(index, ConnectFailure::LinkDown),
            Some(Occupant::Peer(_)) => {
                self.with_peer(index, self.now, |peer, ctx| {
                    peer.abandon(CloseReason::LinkDown, ConnectFailure::LinkDown, ctx);
                });
            }
            None => {}
        }
    }
}

impl Machine for Endpoint {
    type Event = Event;

    fn handle_datagram(&mut self, now: Instant, datagram: Datagram<'_>) {
        let now = self.clock(now);
        let Datagram { link, from, data, .. } = datagram;
        if link == SOCKET && self.down || link != SOCKET && self.links.owner(link).is_none() {
            return;
        }
        self.shared.stats.datagrams_received += 1;
        self.shared.stats.bytes_received += data.len() as u64;
        self.hooks.log(now, Direction::In, from, data);
        if !self.hooks.admits(from, data) {
            self.shared.stats.drops.filtered += 1;
            return;
        }
        // Offline messages are known by their marker, so they are heard from connected addresses too (spec 1.1).
        let in_session = data.first().is_some_and(|first| first & 0x80 != 0);
        if !in_session && self.handle_offline(link, from, data, now) {
            return;
        }
        let Some(index) = self.sender(link, from) else {
            self.shared.stats.drops.unknown += 1;
            return;
        };
        if in_session {
            if self.with_peer(index, now, |peer, ctx| peer.handle_datagram(data, ctx)).is_none() {
                self.shared.stats.drops.unknown += 1;
            }
        } else if data.first() == Some(&MessageId::DisconnectionNotification.byte()) {
            // rust-raknet closes with raw one-byte datagrams, which anybody could send.
            self.shared.stats.drops.unverified_close += 1;
            self.with_peer(index, now, |peer, ctx| peer.suspect_close(ctx));
        } else {
            self.shared.stats.drops.unknown += 1;
        }
    }

    fn handle_link(&mut self, now: Instant, link: LinkId, event: LinkEvent) {
        let now = self.clock(now);
        if link != SOCKET {
            return self.on_own_link(link, event, now);
        }
        match event {
            LinkEvent::Blocked => self.blocked = true,
            LinkEvent::Writable => {
                self.blocked = false;
                self.ready.extend(self.stuck.drain(..));
            }
            LinkEvent::Up { .. } => {
                self.down = false;
                self.ready.extend(self.stuck.drain(..));
            }
            LinkEvent::TooBig { to, len } => {
                if let Some(index) = self.table.at(to) {
                    self.on_too_big(index, len, now);
                }
            }
            LinkEvent::Down(_) => self.on_down(),
            // A datagram link has neither an end nor names to resolve; kinds to come do not concern it.
            LinkEvent::Resolved { .. } | LinkEvent::Eof | _ => {}
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        let now = self.clock(now);
        while let Some(index) = self.deadlines.expire(now) {
            match self.table.get(index) {
                Some(Occupant::Attempt(_)) => self.advance_attempt(index, now),
                Some(Occupant::Peer(_)) => {
                    self.with_peer(index, now, |peer, ctx| peer.handle_timeout(ctx));
                    let config = &self.shared.config.session;
                    if let Some(peer) = self.table.peer_mut(index) {
                        let at = peer.deadline(config).map(|at| later(at, now));
                        self.deadlines.set(index, at);
                    }
                }
                None => {}
            }
        }
    }

    fn poll_transmit(
        &mut self,
        now: Instant,
        max_segments: NonZeroUsize,
        buf: &mut Vec<u8>,
    ) -> Option<Transmit> {
        let now = self.clock(now);
        let start = buf.len();
        let (Way { link, to }, len, segment) = match self.poll_outbox(buf) {
            Some((way, len)) => (way, len, None),
            None => self.poll_peers(now, max_segments, buf)?,
        };
        let transmit = Transmit { segment, ..Transmit::datagram(link, to, len) };
        self.shared.stats.datagrams_sent += transmit.segments() as u64;
        self.shared.stats.bytes_sent += len as u64;
        if self.hooks.log.is_some() {
            for datagram in buf.get(start..).unwrap_or_default().chunks(transmit.segment_len().max(1)) {
                self.hooks.log(now, Direction::Out, to, datagram);
            }
        }
        Some(transmit)
    }

    fn poll_link(&mut self) -> Option<LinkRequest> {
        self.links.poll_request()
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.shared.events.pop_front()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.deadlines.next()
    }
}

impl Endpoint {
    /// Takes the next datagram outside sessions, if its socket takes one. What a socket of its own has no room for is lost:
    /// the attempt that it is for repeats it.
    fn poll_outbox(&mut self, buf: &mut Vec<u8>) -> Option<(Way, usize)> {
        while self.outbox.next_link().is_some_and(|link| link != SOCKET || self.has_room(SOCKET)) {
            let start = buf.len();
            let (way, len) = self.outbox.pop(buf)?;
            if self.has_room(way.link) {
                return Some((way, len));
            }
            buf.truncate(start);
        }
        None
    }

    /// Asks the peers in turn for something to send. One that has nothing more gets its deadline set.
    fn poll_peers(
        &mut self,
        now: Instant,
        max_segments: NonZeroUsize,
        buf: &mut Vec<u8>,
    ) -> Option<(Way, usize, Option<NonZeroUsize>)> {
        while let Some(&index) = self.ready.front() {
            let (id, link) = (self.table.id(index), self.table.link(index));
            if !self.has_room(link) {
                // Its turn comes when the socket has room again.
                self.ready.pop_front();
                if link == SOCKET {
                    self.stuck.push(index);
                } else {
                    self.table.unqueue(index);
                }
                continue;
            }
            let config = &self.shared.config.session;
            if let Some(peer) = self.table.peer_mut(index) {
                let way = Way { link, to: peer.agreed().address };
                if let Some((len, segment)) = peer.poll_transmit(now, max_segments, config, buf) {
                    // Others get their turn before its next batch.
                    self.ready.rotate_left(1);
                    return Some((way, len, segment));
                }
                if peer.take_writable(config) {
                    self.shared.events.push_back(Event::Writable { peer: id });
                }
                let at = peer.deadline(config);
                self.deadlines.set(index, at);
            }
            self.ready.pop_front();
            self.table.unqueue(index);
        }
        None
    }
}

/// Returns a deadline that lies after `now`, so that no handler can be called for ever at one instant.
fn later(at: Instant, now: Instant) -> Instant {
    debug_assert!(at > now, "what was due at {at:?} is still due after it was done at {now:?}");
    at.max(now + Duration::from_nanos(1))
}

fn split_seed(seed: [u8; 32]) -> ([u8; 16], [u8; 16]) {
    let (mut a, mut b) = ([0; 16], [0; 16]);
    for (at, byte) in seed.into_iter().enumerate() {
        if let Some(place) = a.get_mut(at) {
            *place = byte;
        } else if let Some(place) = b.get_mut(at.wrapping_sub(16)) {
            *place = byte;
        }
    }
    (a, b)
}
