//! What an application can ask of an endpoint.

use alloc::{boxed::Box, vec::Vec};
use bytes::Bytes;
use core::{
    net::{IpAddr, SocketAddr},
    time::Duration,
};
use proto_core::Instant;

use super::{DatagramFilter, Endpoint, PacketLog, attempt::Attempt, table::Occupant};
use crate::{
    CloseReason, ConnectError, ConnectFailure, ConnectOptions, EndpointStats, Guid, Message, OfflineError,
    PeerId, PeerInfo, PeerStats, ReceiptId, Received, Reliability, SendError,
    limits::MAX_OUT_OF_BAND,
    peer::wire_time,
    wire::{AdvertiseSystem, MAX_PONG_DATA, OutOfBand, UnconnectedPing},
};

/// Sessions.
impl Endpoint {
    /// Opens a session. It ends in [`Event::Connected`](crate::Event::Connected) or
    /// [`Event::ConnectFailed`](crate::Event::ConnectFailed), at the latest when `options.timeout` is over.
    ///
    /// # Errors
    /// When the attempt cannot even begin.
    pub fn connect(
        &mut self,
        now: Instant,
        to: SocketAddr,
        options: ConnectOptions,
    ) -> Result<PeerId, ConnectError> {
        let now = self.clock(now);
        if self.closing || self.down {
            return Err(ConnectError::Closed);
        }
        if let Some(index) = self.table.at(to) {
            // A session whose end was told already only lingers for the peer's sake.
            if !self.table.peer_mut(index).is_some_and(|peer| peer.phase().is_told_over()) {
                return Err(ConnectError::AlreadyConnected);
            }
            self.abandon_index(index, CloseReason::Replaced, now);
        }
        let attempt = Attempt::new(to, options, self.shared.config.max_mtu, now)?;
        let id =
            self.table.insert(to, Occupant::Attempt(Box::new(attempt))).ok_or(ConnectError::TooManyPeers)?;
        self.advance_attempt(id.index, now);
        Ok(id)
    }

    /// Opens a session as [`connect`](Self::connect) does, but on a socket of its own, bound to `bind`, which the endpoint
    /// asks its driver for and closes at the end. So any number of sessions with one server can be open at a time; the server
    /// takes each for another client, with an identifier of its own.
    ///
    /// # Errors
    /// When the attempt cannot even begin.
    pub fn connect_apart(
        &mut self,
        now: Instant,
        to: SocketAddr,
        bind: SocketAddr,
        options: ConnectOptions,
    ) -> Result<PeerId, ConnectError> {
        let now = self.clock(now);
        if self.closing {
            return Err(ConnectError::Closed);
        }
        let attempt = Attempt::new(to, options, self.shared.config.max_mtu, now)?;
        let deadline = attempt.deadline;
        let id = self
            .table
            .insert_apart(Occupant::Attempt(Box::new(attempt)))
            .ok_or(ConnectError::TooManyPeers)?;
        let guid = Guid(self.rng.next_u64());
        self.table.set_link(id.index, self.links.open(id.index, guid, bind, to));
        // The first request leaves once the socket is there.
        self.deadlines.set(id.index, Some(deadline));
        Ok(id)
    }

    /// Queues a message; with a receipt mode, returns the number that the receipt event will carry.
    ///
    /// # Errors
    /// [`SendError::Full`] is back-pressure: [`Event::Writable`](crate::Event::Writable) tells when there is room
    /// again. The others are final for this message.
    pub fn send(
        &mut self,
        now: Instant,
        peer: PeerId,
        message: impl Into<Message>,
    ) -> Result<Option<ReceiptId>, SendError> {
        let now = self.clock(now);
        if !self.table.is_current(peer) {
            return Err(SendError::UnknownPeer);
        }
        let message = message.into();
        self.with_peer(peer.index, now, |peer, ctx| peer.send(message, ctx))
            .unwrap_or(Err(SendError::NotConnected))
    }

    /// Says whether [`send`](Self::send) has room for a message of this reliability. If not, that counts as a refusal:
    /// [`Event::Writable`](crate::Event::Writable) tells when there is room again.
    ///
    /// It is for callers who would rather keep a message than lose it to [`SendError::Full`]. Where something other than
    /// room is missing (there is no such session, say) the answer is true, and `send` returns the error.
    pub fn poll_room(&mut self, peer: PeerId, reliability: Reliability) -> bool {
        if !self.table.is_current(peer) {
            return true;
        }
        let config = &self.shared.config.session;
        self.table.peer_mut(peer.index).is_none_or(|peer| peer.poll_room(reliability, config))
    }

    /// Queues a message for every established session but `except`, and returns how many took it (C++ broadcast).
    pub fn broadcast(&mut self, now: Instant, message: &Message, except: Option<PeerId>) -> usize {
        let indices: Vec<u32> = self.table.indices().collect();
        let ids = indices.into_iter().map(|index| self.table.id(index)).collect::<Vec<_>>();
        ids.into_iter()
            .filter(|&id| Some(id) != except)
            .filter(|&id| self.send(now, id, message.clone()).is_ok())
            .count()
    }

    /// Takes the next message that arrived from `peer`.
    pub fn recv(&mut self, peer: PeerId) -> Option<Received> {
        if !self.table.is_current(peer) {
            return None;
        }
        let (now, config) = (self.now, &self.shared.config.session);
        let received = self.table.peer_mut(peer.index)?.recv(now, config);
        if received.is_none() {
            // The queue is empty: what was refused while it was full can be asked for.
            self.make_ready(peer.index);
        }
        received
    }

    /// Lets everything queued for `peer` leave with the next drain; only of use with
    /// [`FlushPolicy::Batched`](crate::FlushPolicy::Batched).
    pub fn flush(&mut self, now: Instant, peer: PeerId) {
        let now = self.clock(now);
        if self.table.is_current(peer) {
            self.with_peer(peer.index, now, |peer, _| peer.flush());
        }
    }

    /// Ends a session gracefully: what is queued arrives first, then the peer is told, and its acknowledgement is
    /// awaited. Ends in [`Event::Disconnected`](crate::Event::Disconnected), or, for an attempt, in
    /// [`Event::ConnectFailed`](crate::Event::ConnectFailed).
    pub fn disconnect(&mut self, now: Instant, peer: PeerId) {
        let now = self.clock(now);
        if self.table.is_current(peer) {
            self.disconnect_index(peer.index, now);
        }
    }

    /// Ends a session at once, without telling the peer.
    pub fn abort(&mut self, now: Instant, peer: PeerId) {
        let now = self.clock(now);
        if self.table.is_current(peer) {
            self.abandon_index(peer.index, CloseReason::Aborted, now);
        }
    }

    /// Returns what is known of a session; `None` before it is established and after its end.
    pub fn peer(&self, peer: PeerId) -> Option<PeerInfo> {
        match self.occupant(peer)? {
            Occupant::Peer(peer) => Some(peer.info()),
            Occupant::Attempt(_) => None,
        }
    }

    /// Returns the counters and gauges of a session.
    pub fn peer_stats(&self, peer: PeerId) -> Option<PeerStats> {
        match self.occupant(peer)? {
            Occupant::Peer(peer) => Some(peer.stats(self.now)),
            Occupant::Attempt(_) => None,
        }
    }

    fn occupant(&self, peer: PeerId) -> Option<&Occupant> {
        self.table.is_current(peer).then(|| self.table.get(peer.index)).flatten()
    }

    fn disconnect_index(&mut self, index: u32, now: Instant) {
        match self.table.get(index) {
            Some(Occupant::Attempt(_)) => self.fail_attempt(index, ConnectFailure::Cancelled),
            Some(Occupant::Peer(_)) => {
                self.with_peer(index, now, |peer, ctx| peer.close(ctx));
            }
            None => {}
        }
    }

    fn abandon_index(&mut self, index: u32, reason: CloseReason, now: Instant) {
        match self.table.get(index) {
            Some(Occupant::Attempt(_)) => self.fail_attempt(index, ConnectFailure::Cancelled),
            Some(Occupant::Peer(_)) => {
                self.with_peer(index, now, |peer, ctx| peer.abandon(reason, ConnectFailure::Cancelled, ctx));
            }
            None => {}
        }
    }
}

/// The endpoint as a whole.
impl Endpoint {
    /// Stops accepting and ends every session gracefully. Nothing can be opened afterwards.
    pub fn close(&mut self, now: Instant) {
        let now = self.clock(now);
        self.closing = true;
        let indices: Vec<u32> = self.table.indices().collect();
        for index in indices {
            self.disconnect_index(index, now);
        }
    }

    /// Says whether no session and no attempt is left.
    pub fn is_idle(&self) -> bool {
        self.table.len() == 0
    }

    /// Returns the identifier that peers see.
    pub fn guid(&self) -> Guid {
        self.shared.guid
    }

    /// Sets what the answer to an unconnected ping carries; see [`Motd`](crate::Motd).
    ///
    /// # Errors
    /// When it is longer than 399 bytes.
    pub fn set_pong_data(&mut self, data: impl Into<Bytes>) -> Result<(), OfflineError> {
        let data = data.into();
        if data.len() > MAX_PONG_DATA {
            return Err(OfflineError::TooLong { len: data.len(), max: MAX_PONG_DATA });
        }
        self.shared.config.incoming.pong_data = data;
        Ok(())
    }

    /// Sets how many sessions others may open; those there are stay.
    pub fn set_max_connections(&mut self, max: usize) {
        self.shared.config.incoming.max_connections = max.min(1 << 20);
    }

    /// Lets new sessions in, or refuses them with `NoFreeIncomingConnections`.
    pub fn set_accepting(&mut self, accepting: bool) {
        self.accepting = accepting;
    }

    /// Bans an IP address, for a while or for good, and ends its sessions. The list is bounded by
    /// [`max_tracked_ips`](crate::IncomingConfig::max_tracked_ips).
    pub fn ban(&mut self, now: Instant, ip: IpAddr, duration: Option<Duration>) {
        let now = self.clock(now);
        let until = duration.map(|duration| now + duration);
        self.gate.ban(ip, until, self.shared.config.incoming.max_tracked_ips);
        let indices: Vec<u32> = self.table.indices().collect();
        for index in indices {
            let address = match self.table.get(index) {
                Some(Occupant::Peer(peer)) => peer.agreed().address,
                Some(Occupant::Attempt(_)) | None => continue,
            };
            if address.ip() == ip {
                self.abandon_index(index, CloseReason::Banned, now);
            }
        }
    }

    /// Lifts a ban, and says whether there was one.
    pub fn unban(&mut self, ip: IpAddr) -> bool {
        self.gate.unban(ip)
    }

    /// Returns the counters and gauges of the endpoint.
    pub fn stats(&self) -> EndpointStats {
        EndpointStats { peers: self.table.len(), ..self.shared.stats }
    }

    /// Sets the filter that every received datagram passes first, or removes it.
    pub fn set_filter(&mut self, filter: Option<DatagramFilter>) {
        self.hooks.filter = filter;
    }

    /// Sets the hook that sees every datagram in and out, or removes it.
    pub fn set_packet_log(&mut self, log: Option<PacketLog>) {
        self.hooks.log = log;
    }

    /// Returns the time to write into a timestamped message (0x1b): the receiver gets it in its own clock.
    pub fn timestamp(&self, now: Instant) -> u64 {
        wire_time(now)
    }
}

/// Messages outside sessions.
impl Endpoint {
    /// Sends an unconnected ping; the answer is [`Event::Pong`](crate::Event::Pong). With `open_only`, only a server
    /// that has room answers.
    ///
    /// # Errors
    /// When too many offline messages wait to be sent.
    pub fn ping(&mut self, now: Instant, to: SocketAddr, open_only: bool) -> Result<(), OfflineError> {
        let now = self.clock(now);
        // The time is ours alone: microseconds tell the round trip better than the usual milliseconds.
        let (time, guid) = (now.as_micros(), Some(self.shared.guid));
        if !self.reply(to, |buf| UnconnectedPing { open_only, time, guid }.emit(buf)) {
            return Err(OfflineError::Full);
        }
        self.pings.add(to, time);
        Ok(())
    }

    /// Sends a message outside any session; it may get lost.
    ///
    /// # Errors
    /// When the payload is longer than 399 bytes, or too many offline messages wait.
    pub fn send_out_of_band(&mut self, to: SocketAddr, payload: &[u8]) -> Result<(), OfflineError> {
        if payload.len() > MAX_OUT_OF_BAND {
            return Err(OfflineError::TooLong { len: payload.len(), max: MAX_OUT_OF_BAND });
        }
        let guid = self.shared.guid;
        let queued = self.reply(to, |buf| OutOfBand { guid, payload }.emit(buf));
        if queued { Ok(()) } else { Err(OfflineError::Full) }
    }

    /// Tells another system that this one is there (C++ `AdvertiseSystem`).
    ///
    /// # Errors
    /// When the data is longer than 398 bytes, or too many offline messages wait.
    pub fn advertise(&mut self, to: SocketAddr, data: &[u8]) -> Result<(), OfflineError> {
        if data.len() >= MAX_OUT_OF_BAND {
            return Err(OfflineError::TooLong { len: data.len(), max: MAX_OUT_OF_BAND - 1 });
        }
        let guid = self.shared.guid;
        let queued = self.reply(to, |buf| AdvertiseSystem { guid, data }.emit(buf));
        if queued { Ok(()) } else { Err(OfflineError::Full) }
    }
}
