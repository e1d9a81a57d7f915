//! The other side of all six schemes: listeners, their peers, and datagram sockets.

mod commands;
mod config;
mod event;
mod peer;
mod sockets;

pub use config::Config;
pub use event::{Event, PeerId};

use alloc::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    vec::Vec,
};
use bytes::Bytes;
use core::{net::SocketAddr, num::NonZeroUsize};
use proto_core::{
    Datagram, Deadlines, DownReason, Instant, LinkEvent, LinkId, LinkRequest, Machine, Transmit,
};
use slab::Slab;

use crate::{
    Code, Error, Message, Method, Phase,
    carrier::Carrier,
    http::{self, ServerSession},
    secrets::Secrets,
    tls, ws,
};
use peer::{Peer, Speaks, Told};
use sockets::Sockets;

/// A server of HTTP and WebSocket, with or without TLS, and of datagrams.
///
/// It answers nothing by itself, but for the errors that the protocols ask for: the application takes events and gives
/// answers.
///
/// # Memory
/// A peer costs what its session holds: for HTTP at most [`http::Config`]'s limits for a head and
/// a body, for WebSocket those for a message; a connected and idle one a few KiB, and some 80 KiB more with TLS.
#[derive(Debug)]
pub struct Server {
    config: Config,
    secrets: Secrets,
    now: Instant,
    next_link: u32,
    requests: VecDeque<LinkRequest>,
    listeners: BTreeSet<LinkId>,
    sockets: Sockets,
    places: BTreeMap<LinkId, usize>,
    peers: Slab<Peer>,
    /// Those that may have something to send or to tell.
    ready: VecDeque<usize>,
    deadlines: Deadlines,
    events: VecDeque<Event>,
    pieces: Vec<Bytes>,
    /// Peers that were not read from for want of room for events.
    is_behind: bool,
    dropped: u64,
    refused: u64,
}

impl Machine for Server {
    type Event = Event;

    fn handle_datagram(&mut self, now: Instant, datagram: Datagram<'_>) {
        self.see(now);
        if self.events.len() >= self.config.max_events {
            self.dropped += 1;
            return;
        }
        if let Some(message) = self.sockets.receive(&datagram) {
            let message = Message { received: Some(self.now), ..message };
            self.events.push_back(Event::Datagram { socket: datagram.link, message });
        }
    }

    fn handle_stream(&mut self, now: Instant, link: LinkId, data: &mut [u8]) {
        self.on_peer(now, link, |peer, now| peer.handle_stream(now, data));
    }

    fn handle_link(&mut self, now: Instant, link: LinkId, event: LinkEvent) {
        self.see(now);
        match event {
            LinkEvent::Accepted { listener, peer } if self.listeners.contains(&listener) => {
                self.accept(link, peer);
            }
            LinkEvent::Up { local, .. } if self.listeners.contains(&link) || self.sockets.has(link) => {
                self.sockets.handle_link(link, &event);
                self.events.push_back(Event::Listening { listener: link, local });
            }
            LinkEvent::Down(reason) if self.listeners.remove(&link) || self.sockets.has(link) => {
                self.sockets.remove(link);
                if reason != DownReason::Closed {
                    let error = Error::new(down_code(reason), Phase::Connect);
                    self.events.push_back(Event::Down { listener: link, error });
                }
            }
            LinkEvent::Up { .. }
            | LinkEvent::Accepted { .. }
            | LinkEvent::Resolved { .. }
            | LinkEvent::Blocked
            | LinkEvent::Writable
            | LinkEvent::TooBig { .. }
            | LinkEvent::Unreachable(_)
            | LinkEvent::Eof
            | LinkEvent::Down(_)
            | _ => {
                self.sockets.handle_link(link, &event);
                let is_down = matches!(event, LinkEvent::Down(_));
                self.on_peer(now, link, |peer, now| {
                    peer.handle_link(now, &event);
                    peer.is_going |= is_down;
                });
            }
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.see(now);
        while let Some(slot) = self.deadlines.expire(self.now) {
            let slot = slot as usize;
            if let Some(peer) = self.peers.get_mut(slot) {
                peer.handle_timeout(self.now, &self.config);
            }
            self.attend(slot);
        }
    }

    fn poll_link(&mut self) -> Option<LinkRequest> {
        self.requests.pop_front()
    }

    fn poll_transmit(
        &mut self,
        now: Instant,
        _max_segments: NonZeroUsize,
        buf: &mut Vec<u8>,
    ) -> Option<Transmit> {
        self.see(now);
        if let Some(transmit) = self.sockets.poll_transmit(buf) {
            return Some(transmit);
        }
        while let Some(&slot) = self.ready.front() {
            let Some(peer) = self.peers.get_mut(slot) else {
                self.ready.pop_front();
                continue;
            };
            if let Some(transmit) = peer.poll_transmit(self.now, buf) {
                peer.poll_gather(&mut self.pieces);
                self.attend(slot);
                return Some(transmit);
            }
            peer.is_queued = false;
            self.ready.pop_front();
            self.settle(slot);
        }
        None
    }

    fn poll_event(&mut self) -> Option<Event> {
        let event = self.events.pop_front();
        if self.is_behind && self.events.len() < self.config.max_events {
            self.is_behind = false;
            let slots: Vec<usize> = self.peers.iter().map(|(slot, _)| slot).collect();
            slots.into_iter().for_each(|slot| self.attend(slot));
        }
        event
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.deadlines.next()
    }

    fn wants_read(&self, link: LinkId) -> bool {
        if self.events.len() >= self.config.max_events {
            return false;
        }
        self.peer(link).is_none_or(Peer::wants_read)
    }

    fn poll_gather(&mut self, pieces: &mut Vec<Bytes>) {
        pieces.append(&mut self.pieces);
    }

    fn recv_buffer(&mut self, link: LinkId) -> Option<&mut [u8]> {
        let slot = *self.places.get(&link)?;
        self.peers.get_mut(slot)?.recv_buffer()
    }

    fn handle_filled(&mut self, now: Instant, link: LinkId, len: usize) {
        self.on_peer(now, link, |peer, now| peer.handle_filled(now, len));
    }
}

impl Server {
    /// Time never goes backwards.
    fn see(&mut self, now: Instant) {
        self.now = self.now.max(now);
    }

    fn peer(&self, link: LinkId) -> Option<&Peer> {
        self.peers.get(*self.places.get(&link)?)
    }

    /// Gives a peer an input, and takes what comes of it.
    fn on_peer(&mut self, now: Instant, link: LinkId, act: impl FnOnce(&mut Peer, Instant)) {
        self.see(now);
        let Some(&slot) = self.places.get(&link) else { return };
        if let Some(peer) = self.peers.get_mut(slot) {
            act(peer, self.now);
            self.attend(slot);
        }
    }

    fn accept(&mut self, link: LinkId, from: Option<SocketAddr>) {
        if self.peers.len() >= self.config.max_peers {
            self.refused += 1;
            return self.requests.push_back(LinkRequest::Close { link });
        }
        let session = ServerSession::new(self.config.http);
        let tls = self.config.tls.as_ref().map(tls::server).transpose();
        let (Ok(session), Ok(tls)) = (session, tls) else {
            // Both were checked with the configuration.
            return self.requests.push_back(LinkRequest::Close { link });
        };
        let carrier = Carrier::new(link, tls);
        let peer = Peer::new(self.now, carrier, session, from, &self.config);
        let slot = self.peers.insert(peer);
        self.places.insert(link, slot);
        self.events.push_back(Event::Connected { peer: PeerId(link), from });
        self.attend(slot);
    }

    /// Takes what a peer has to tell, and sees to it that what it has to send is sent.
    fn attend(&mut self, slot: usize) {
        loop {
            let is_behind = self.events.len() >= self.config.max_events;
            let Some(peer) = self.peers.get_mut(slot) else { return };
            if is_behind {
                self.is_behind = true;
                break;
            }
            match peer.poll_event(self.now) {
                Some(Told::Http(event)) => self.on_http(slot, event),
                Some(Told::Ws(event)) => self.on_ws(slot, event),
                Some(Told::Failed(error)) => self.on_failed(slot, error),
                None => {
                    let had_read = peer.wants_read();
                    peer.resume(self.now);
                    if had_read || !peer.wants_read() {
                        break;
                    }
                }
            }
        }
        if let Some(peer) = self.peers.get_mut(slot) {
            peer.wind(self.now);
            if !core::mem::replace(&mut peer.is_queued, true) {
                self.ready.push_back(slot);
            }
        }
        self.set_deadline(slot);
    }

    /// Nothing more leaves for a peer at the moment: if nothing ever will, it is closed.
    fn settle(&mut self, slot: usize) {
        let Some(peer) = self.peers.get_mut(slot) else { return };
        if peer.is_over() {
            if peer.say_goodbye() {
                return self.attend(slot);
            }
            let code = if matches!(peer.speaks, Speaks::Ws(_)) { 1006 } else { 0 };
            self.end(slot, code, "", None);
        } else {
            self.set_deadline(slot);
        }
    }

    fn set_deadline(&mut self, slot: usize) {
        let at = self.peers.get(slot).and_then(|peer| peer.poll_timeout(&self.config));
        if let Ok(slot) = u32::try_from(slot) {
            self.deadlines.set(slot, at);
        }
    }

    fn on_http(&mut self, slot: usize, event: http::Event) {
        let Some(peer) = self.peers.get_mut(slot) else { return };
        let id = PeerId(peer.carrier.link());
        match event {
            http::Event::Request(mut message) => {
                message.peer_addr = peer.from;
                message.received = Some(self.now);
                if self.config.accept_websockets && asks_for_websocket(&message) {
                    return self.switch(slot, &message);
                }
                self.events.push_back(Event::Request { peer: id, message });
            }
            http::Event::BodyPart(part) => self.events.push_back(Event::Part { peer: id, part }),
            http::Event::BodyEnd(trailers) => self.events.push_back(Event::End { peer: id, trailers }),
            http::Event::Sent => self.events.push_back(Event::Writable { peer: id }),
            http::Event::Failed(error) => {
                // The session answers with the status that the fault deserves; the stream ends once that has left.
                self.farewell(slot, 0, "", Some(error));
            }
            http::Event::Informational(_) | http::Event::Response(_) | http::Event::Upgraded(_) => {}
        }
    }

    fn on_ws(&mut self, slot: usize, event: ws::Event) {
        let Some(peer) = self.peers.get_mut(slot) else { return };
        let id = PeerId(peer.carrier.link());
        match event {
            ws::Event::Message(mut message) => {
                message.peer_addr = peer.from;
                message.received = Some(self.now);
                self.events.push_back(Event::Message { peer: id, message });
            }
            ws::Event::Writable => self.events.push_back(Event::Writable { peer: id }),
            ws::Event::Failed(error) => self.farewell(slot, 1006, "", Some(error)),
            ws::Event::Closed { code, reason, .. } => self.farewell(slot, code, &reason, None),
        }
    }

    /// Tells of a peer's end; its last bytes are still to leave.
    fn farewell(&mut self, slot: usize, code: u16, reason: &str, error: Option<Error>) {
        let Some(peer) = self.peers.get_mut(slot) else { return };
        let id = PeerId(peer.carrier.link());
        peer.is_going = true;
        if !core::mem::replace(&mut peer.is_told, true) {
            self.events.push_back(Event::Closed { peer: id, code, reason: reason.into(), error });
        }
    }

    /// A peer's stream is of no use any more. What TLS has to say about that, an alert, leaves before it is closed.
    fn on_failed(&mut self, slot: usize, error: Error) {
        let has_last_word =
            self.peers.get_mut(slot).is_some_and(|peer| !peer.is_told && peer.has_last_word());
        if has_last_word {
            self.farewell(slot, 1006, "", Some(error));
        } else {
            self.end(slot, 1006, "", Some(error));
        }
    }

    /// Removes a peer and closes its stream.
    fn end(&mut self, slot: usize, code: u16, reason: &str, error: Option<Error>) {
        if !self.peers.contains(slot) {
            return;
        }
        let peer = self.peers.remove(slot);
        let link = peer.carrier.link();
        self.places.remove(&link);
        if let Ok(slot) = u32::try_from(slot) {
            self.deadlines.set(slot, None);
        }
        self.requests.push_back(LinkRequest::Close { link });
        if !peer.is_told {
            let peer = PeerId(link);
            self.events.push_back(Event::Closed { peer, code, reason: reason.into(), error });
        }
    }
}

fn asks_for_websocket(request: &Message) -> bool {
    request.method == Method::Get && request.headers.has_token("upgrade", "websocket")
}

fn down_code(reason: DownReason) -> Code {
    if reason == DownReason::Unsupported { Code::Unsupported } else { Code::Io }
}
