//! What the application asks of a server.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use core::net::{IpAddr, SocketAddr};
use proto_core::{DatagramOptions, Deadlines, Instant, Interface, LinkId, LinkRequest, LinkSpec};
use slab::Slab;

use super::{Config, Event, PeerId, Server, Sockets, Speaks};
use crate::{Code, Error, Headers, Kind, Message, Payload, Phase, http::BodyKind, secrets::Secrets, ws};

impl Server {
    /// Creates a server that listens nowhere yet.
    ///
    /// # Errors
    /// [`Code::BadOption`]: which one does not fit.
    pub fn new(config: Config, seed: [u8; 32]) -> Result<Self, Error> {
        config.validate()?;
        Ok(Self {
            config,
            secrets: Secrets::new(seed),
            now: Instant::ZERO,
            next_link: 0,
            requests: VecDeque::new(),
            listeners: BTreeSet::new(),
            sockets: Sockets::default(),
            places: BTreeMap::new(),
            peers: Slab::new(),
            ready: VecDeque::new(),
            deadlines: Deadlines::new(),
            events: VecDeque::new(),
            pieces: alloc::vec![],
            is_behind: false,
            dropped: 0,
            refused: 0,
        })
    }

    /// Listens for HTTP and WebSocket. [`Event::Listening`] tells where, or [`Event::Down`] why not.
    pub fn listen(&mut self, bind: SocketAddr) -> LinkId {
        let link = self.ask(LinkSpec::TcpListen { bind });
        self.listeners.insert(link);
        link
    }

    /// Opens a datagram socket.
    pub fn listen_udp(&mut self, bind: SocketAddr, options: DatagramOptions) -> LinkId {
        let link = self.ask(LinkSpec::Udp { bind, peer: None, options });
        self.sockets.add(link);
        link
    }

    /// Joins a multicast group.
    pub fn join(
        &mut self,
        group: SocketAddr,
        interface: Interface,
        source: Option<IpAddr>,
        options: DatagramOptions,
    ) -> LinkId {
        let link = self.ask(LinkSpec::UdpMulticast { group, interface, source, loopback: true, options });
        self.sockets.add(link);
        link
    }

    /// Closes a listener or datagram socket. Its peers stay.
    pub fn stop(&mut self, listener: LinkId) {
        self.listeners.remove(&listener);
        self.sockets.remove(listener);
        self.requests.push_back(LinkRequest::Close { link: listener });
    }

    /// Answers a peer's oldest request that has no answer. With [`BodyKind::Streamed`] the body follows by
    /// [`send_part`](Self::send_part).
    ///
    /// # Errors
    /// [`Code::BadHandle`] for a peer that is gone, [`Code::BadState`] when it asked nothing, [`Code::BadMessage`],
    /// [`Code::BadHeader`].
    pub fn respond(
        &mut self,
        now: Instant,
        peer: PeerId,
        response: &Message,
        body: BodyKind,
    ) -> Result<(), Error> {
        self.with_http(now, peer, |session, now| session.respond(now, response, body))
    }

    /// Sends an interim response (1xx) ahead of the answer.
    ///
    /// # Errors
    /// As for [`respond`](Self::respond).
    pub fn inform(&mut self, now: Instant, peer: PeerId, message: &Message) -> Result<(), Error> {
        self.with_http(now, peer, |session, now| session.inform(now, message))
    }

    /// Sends a part of a streamed answer's body.
    ///
    /// # Errors
    /// As for [`respond`](Self::respond), and [`Code::WouldBlock`] when the peer does not keep up: there will be an
    /// [`Event::Writable`].
    pub fn send_part(&mut self, now: Instant, peer: PeerId, part: Payload) -> Result<(), Error> {
        self.with_http(now, peer, |session, now| session.send_part(now, part))
    }

    /// Ends a streamed answer's body.
    ///
    /// # Errors
    /// As for [`respond`](Self::respond).
    pub fn finish_body(&mut self, now: Instant, peer: PeerId, trailers: &Headers) -> Result<(), Error> {
        self.with_http(now, peer, |session, now| session.finish_body(now, trailers))
    }

    /// Takes back the memory of a request that the application has done with.
    pub fn recycle(&mut self, peer: PeerId, message: Message) {
        if let Some(slot) = self.places.get(&peer.0)
            && let Some(peer) = self.peers.get_mut(*slot)
            && let Speaks::Http(session) = &mut peer.speaks
        {
            session.recycle(message);
        }
    }

    /// Accepts the WebSocket handshake that a peer's `request` is, or answers why not.
    ///
    /// # Errors
    /// As for [`respond`](Self::respond).
    pub fn accept_websocket(&mut self, now: Instant, peer: PeerId, request: &Message) -> Result<(), Error> {
        self.see(now);
        let slot = self.slot(peer)?;
        self.switch(slot, request);
        Ok(())
    }

    pub(super) fn switch(&mut self, slot: usize, request: &Message) {
        let now = self.now;
        let Some(peer) = self.peers.get_mut(slot) else { return };
        let id = PeerId(peer.carrier.link());
        let Speaks::Http(session) = &mut peer.speaks else { return };
        let (response, agreed) = match ws::handshake::accept(request, &self.config.ws) {
            Ok(accepted) => accepted,
            Err(refusal) => {
                // A refusal of ours is a response like any other.
                let _ = session.respond(now, &refusal, BodyKind::Whole);
                return;
            }
        };
        let subprotocol = agreed.subprotocol.clone();
        let source = self.secrets.source();
        let Ok(mut ws) = ws::Session::new(ws::Role::Server, &self.config.ws, &agreed, source) else { return };
        if session.accept_upgrade(now, &response).is_err() {
            return;
        }
        if let Speaks::Http(session) = core::mem::replace(&mut peer.speaks, Speaks::Nothing) {
            let (head, early) = session.into_upgraded();
            *crate::Talk::outgoing(&mut ws) = head;
            peer.speaks = Speaks::Ws(alloc::boxed::Box::new(ws));
            self.events.push_back(Event::Opened { peer: id, subprotocol });
            peer.handle_stream(now, &early);
        }
    }

    /// Sends a WebSocket message or ping.
    ///
    /// # Errors
    /// [`Code::BadHandle`] for a peer that is gone, [`Code::BadState`] for one that does not speak WebSocket,
    /// [`Code::WouldBlock`] when it does not keep up: there will be an [`Event::Writable`].
    pub fn send(&mut self, now: Instant, peer: PeerId, message: &Message) -> Result<(), Error> {
        self.with_ws(now, peer, |session, now| session.send(now, message))
    }

    /// Sends a part of a WebSocket message; `is_last` ends it.
    ///
    /// # Errors
    /// As for [`send`](Self::send).
    pub fn send_fragment(
        &mut self,
        now: Instant,
        peer: PeerId,
        kind: Kind,
        part: Payload,
        is_last: bool,
    ) -> Result<(), Error> {
        self.with_ws(now, peer, |session, now| session.send_fragment(now, kind, part, is_last))
    }

    /// Sends a datagram.
    ///
    /// # Errors
    /// [`Code::BadHandle`] for a socket that is gone, [`Code::TooLong`], [`Code::WouldBlock`] when too many wait.
    pub fn send_datagram(&mut self, socket: LinkId, to: SocketAddr, payload: Payload) -> Result<(), Error> {
        if !self.sockets.has(socket) {
            return Err(Error::new(Code::BadHandle, Phase::Send));
        }
        if payload.len() > MAX_DATAGRAM {
            return Err(Error::new(Code::TooLong, Phase::Send));
        }
        if self.sockets.waiting() >= self.config.max_waiting {
            return Err(Error::new(Code::WouldBlock, Phase::Send));
        }
        self.sockets.send(socket, to, payload);
        Ok(())
    }

    /// Lets a peer go: a WebSocket with a close frame, HTTP once the answers under way have left.
    ///
    /// # Errors
    /// [`Code::BadHandle`] for a peer that is gone, [`Code::BadMessage`] for a close code that may not be sent.
    pub fn close(&mut self, now: Instant, peer: PeerId, code: u16, reason: &str) -> Result<(), Error> {
        self.see(now);
        let slot = self.slot(peer)?;
        let Some(peer) = self.peers.get_mut(slot) else { return Ok(()) };
        match &mut peer.speaks {
            Speaks::Ws(session) => session.close(self.now, code, reason)?,
            Speaks::Http(_) | Speaks::Nothing => peer.is_going = true,
        }
        self.attend(slot);
        Ok(())
    }

    /// Returns the peers that are there.
    pub fn peer_ids(&self) -> impl Iterator<Item = PeerId> {
        self.places.keys().map(|link| PeerId(*link))
    }

    /// Returns how many peers there are.
    pub fn peers(&self) -> usize {
        self.peers.len()
    }

    /// Returns how many datagrams were dropped because the application did not take them.
    pub const fn dropped_datagrams(&self) -> u64 {
        self.dropped
    }

    /// Returns how many streams were closed because there were too many peers.
    pub const fn refused_peers(&self) -> u64 {
        self.refused
    }

    fn ask(&mut self, spec: LinkSpec) -> LinkId {
        let link = LinkId(self.next_link);
        self.next_link = (self.next_link + 1) % LinkId::FIRST_ACCEPTED.0;
        self.requests.push_back(LinkRequest::Open { link, spec });
        link
    }

    fn slot(&self, peer: PeerId) -> Result<usize, Error> {
        let gone = || Error::new(Code::BadHandle, Phase::Arguments).with_detail("the peer is gone");
        self.places.get(&peer.0).copied().ok_or_else(gone)
    }

    fn with_http<T>(
        &mut self,
        now: Instant,
        peer: PeerId,
        act: impl FnOnce(&mut crate::http::ServerSession, Instant) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.see(now);
        let slot = self.slot(peer)?;
        let outcome = match self.peers.get_mut(slot).map(|peer| &mut peer.speaks) {
            Some(Speaks::Http(session)) => act(session, self.now),
            _ => Err(Error::new(Code::BadState, Phase::Send).with_detail("the peer does not speak HTTP")),
        };
        self.attend(slot);
        outcome
    }

    fn with_ws<T>(
        &mut self,
        now: Instant,
        peer: PeerId,
        act: impl FnOnce(&mut ws::Session, Instant) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.see(now);
        let slot = self.slot(peer)?;
        let outcome = match self.peers.get_mut(slot).map(|peer| &mut peer.speaks) {
            Some(Speaks::Ws(session)) => act(session, self.now),
            _ => {
                Err(Error::new(Code::BadState, Phase::Send).with_detail("the peer does not speak WebSocket"))
            }
        };
        self.attend(slot);
        outcome
    }
}

/// The longest payload of a datagram.
const MAX_DATAGRAM: usize = 65_507;
