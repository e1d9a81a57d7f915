//! The machine: one UDP socket and all the peers behind it.
//!
//! ```text
//! datagram -> filter -> offline message? -> answer (server) or attempt (client)
//!                  \--> session of its source address -> Peer
//! Peer, Outbox -> poll_transmit -> datagram
//! ```

mod answer;
mod attempt;
mod commands;
mod cookie;
mod gate;
mod hooks;
mod memory;
mod outbox;
mod table;

pub use hooks::{DatagramFilter, Direction, PacketLog, Verdict};

use alloc::{boxed::Box, collections::VecDeque, vec::Vec};
use core::{net::SocketAddr, num::NonZeroUsize, time::Duration};
use proto_core::{Datagram, Deadlines, Instant, LinkEvent, LinkId, Machine, Rng, Transmit};

use crate::{
    CloseReason, Config, ConfigError, ConnectFailure, EndpointStats, Event, Guid, Role,
    limits::MAX_OFFLINE_EVENTS,
    peer::{Agreed, Context, Peer, Slab},
    wire::MessageId,
};
use cookie::Cookies;
use gate::Gate;
use hooks::Hooks;
use memory::{PendingPings, RecentVersions};
use outbox::Outbox;
use table::{Occupant, Table};

/// The only link of an endpoint: its UDP socket.
pub const SOCKET: LinkId = LinkId(0);

/// A RakNet peer in both roles, as a machine on one UDP socket ([`SOCKET`]).
///
/// It accepts sessions (unless [`max_connections`](crate::IncomingConfig::max_connections) is 0) and opens others.
/// Commands and events are those of this type and [`Event`]; the driver's part is [`Machine`].
#[derive(Debug)]
pub struct Endpoint {
    shared: Shared,
    table: Table,
    deadlines: Deadlines,
    /// Peers that may have something to send.
    ready: VecDeque<u32>,
    outbox: Outbox,
    gate: Gate,
    cookies: Cookies,
    versions: RecentVersions,
    pings: PendingPings,
    hooks: Hooks,
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
            deadlines: Deadlines::new(),
            ready: VecDeque::new(),
            outbox: Outbox::default(),
            gate: Gate::default(),
            cookies: Cookies::new(cookie_key),
            versions: RecentVersions::default(),
            pings: PendingPings::default(),
            hooks: Hooks::default(),
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
        let id = self.table.id(index);
        let peer = self.table.peer_mut(index)?;
        let before = peer.phase();
        let mut ctx = Context {
            now,
            id,
            guid: self.shared.guid,
            config: &self.shared.config,
            slab: &mut self.shared.slab,
            events: &mut self.shared.events,
        };
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
        self.table.remove(index, agreed.address);
        self.deadlines.set(index, None);
    }

    #[inline]
    fn make_ready(&mut self, index: u32) {
        if self.table.queue(index) {
            self.ready.push_back(index);
        }
    }

    /// Queues a datagram outside any session.
    fn reply(&mut self, to: SocketAddr, write: impl FnOnce(&mut Vec<u8>)) -> bool {
        let ((), room) = self.outbox.push(to, write);
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
        let (guid, id) = (self.shared.guid, self.table.id(index));
        let Some(attempt) = self.table.attempt_mut(index) else { return };
        let to = attempt.address();
        let (result, room) = self.outbox.push(to, |buf| attempt.poll_request(guid, now, buf));
        if !room {
            self.shared.stats.drops.replies_full += 1;
        }
        match result {
            Ok(()) => {
                let due = attempt.due();
                self.deadlines.set(index, Some(later(due, now)));
            }
            Err(reason) => {
                self.drop_attempt(index, to);
                self.shared.events.push_back(Event::ConnectFailed { peer: id, reason });
            }
        }
    }

    fn drop_attempt(&mut self, index: u32, address: SocketAddr) {
        self.table.remove(index, address);
        self.deadlines.set(index, None);
    }

    fn fail_attempt(&mut self, index: u32, reason: ConnectFailure) {
        let id = self.table.id(index);
        let Some(address) = self.table.attempt_mut(index).map(|attempt| attempt.address()) else { return };
        self.drop_attempt(index, address);
        self.shared.events.push_back(Event::ConnectFailed { peer: id, reason });
    }

    /// The second reply granted the session: the attempt becomes one, under the same number.
    fn promote_attempt(&mut self, index: u32, agreed: Agreed, now: Instant) {
        let id = self.table.id(index);
        let Some(attempt) = self.table.attempt_mut(index) else { return };
        let (password, until) = (core::mem::take(&mut attempt.password), attempt.deadline);
        let mut ctx = Context {
            now,
            id,
            guid: self.shared.guid,
            config: &self.shared.config,
            slab: &mut self.shared.slab,
            events: &mut self.shared.events,
        };
        let peer = Peer::client(agreed, until, password, &mut ctx);
        if let Some(occupant) = self.table.get_mut(index) {
            *occupant = Occupant::Peer(Box::new(peer));
        }
        self.table.name(agreed.guid, index);
        self.make_ready(index);
    }

    /// Ends everything at once: the socket is gone.
    fn on_down(&mut self) {
        self.down = true;
        self.blocked = false;
        self.outbox.clear();
        let indices: Vec<u32> = self.table.indices().collect();
        for index in indices {
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
}

impl Machine for Endpoint {
    type Event = Event;

    fn handle_datagram(&mut self, now: Instant, datagram: Datagram<'_>) {
        let now = self.clock(now);
        let Datagram { link, from, data, .. } = datagram;
        if link != SOCKET || self.down {
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
        if !in_session && self.handle_offline(from, data, now) {
            return;
        }
        let Some(index) = self.table.at(from) else {
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
            return;
        }
        match event {
            LinkEvent::Blocked => self.blocked = true,
            LinkEvent::Writable => self.blocked = false,
            LinkEvent::Up { .. } => self.down = false,
            LinkEvent::TooBig { to, len } => {
                if let Some(index) = self.table.at(to)
                    && let Some(attempt) = self.table.attempt_mut(index)
                {
                    attempt.on_too_big(len, now);
                    self.advance_attempt(index, now);
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
        if self.blocked || self.down {
            return None;
        }
        let start = buf.len();
        let (to, len, segment) = match self.outbox.pop(buf) {
            Some((to, len)) => (to, len, None),
            None => self.poll_peers(now, max_segments, buf)?,
        };
        let transmit = Transmit { segment, ..Transmit::datagram(SOCKET, to, len) };
        self.shared.stats.datagrams_sent += transmit.segments() as u64;
        self.shared.stats.bytes_sent += len as u64;
        if self.hooks.log.is_some() {
            for datagram in buf.get(start..).unwrap_or_default().chunks(transmit.segment_len().max(1)) {
                self.hooks.log(now, Direction::Out, to, datagram);
            }
        }
        Some(transmit)
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.shared.events.pop_front()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.deadlines.next()
    }
}

impl Endpoint {
    /// Asks the peers in turn for something to send. One that has nothing more gets its deadline set.
    fn poll_peers(
        &mut self,
        now: Instant,
        max_segments: NonZeroUsize,
        buf: &mut Vec<u8>,
    ) -> Option<(SocketAddr, usize, Option<NonZeroUsize>)> {
        while let Some(&index) = self.ready.front() {
            let id = self.table.id(index);
            let config = &self.shared.config.session;
            if let Some(peer) = self.table.peer_mut(index) {
                let to = peer.agreed().address;
                if let Some((len, segment)) = peer.poll_transmit(now, max_segments, config, buf) {
                    // Others get their turn before its next batch.
                    self.ready.rotate_left(1);
                    return Some((to, len, segment));
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
