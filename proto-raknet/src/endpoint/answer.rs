//! Offline messages: what a server answers, and what a client's attempts hear (spec 1.2).

use alloc::boxed::Box;
use bytes::Bytes;
use core::{net::SocketAddr, time::Duration};
use proto_core::{Instant, LinkId};

use super::{Endpoint, SOCKET, table::Occupant};
use crate::{
    CloseReason, ConnectFailure, Event,
    endpoint::gate::Refused,
    limits::{MAX_MTU, MIN_MTU},
    peer::{Agreed, Peer, Phase},
    wire::{
        IncompatibleProtocolVersion, Offline, OpenConnectionReply1, OpenConnectionReply2,
        OpenConnectionRequest1, OpenConnectionRequest2, OutOfBand, ParseError, ProtocolVersion, Refusal,
        RefusalKind, UnconnectedPing, UnconnectedPong,
    },
};

impl Endpoint {
    /// Takes in a datagram if it is an offline message, and says whether it was one.
    pub(super) fn handle_offline(
        &mut self,
        link: LinkId,
        from: SocketAddr,
        data: &[u8],
        now: Instant,
    ) -> bool {
        let Some(message) = Offline::classify(data, self.shared.config.incoming.cookies) else {
            return false;
        };
        if self.gate.is_banned(from.ip(), now) {
            self.shared.stats.drops.banned += 1;
            if link == SOCKET && self.gate.admits_offline(from.ip(), now, &self.shared.config.incoming) {
                self.refuse(from, RefusalKind::ConnectionBanned);
            }
            return true;
        }
        let message = match message {
            Ok(message) => message,
            Err(error) => {
                self.on_unreadable(link, from, error);
                return true;
            }
        };
        match message {
            // A socket of its own is for one session, which we open.
            Offline::Ping(_)
            | Offline::Request1(_)
            | Offline::Request2(_)
            | Offline::OutOfBand(_)
            | Offline::Pong(_)
                if link != SOCKET =>
            {
                self.shared.stats.drops.unsolicited += 1;
            }
            Offline::Ping(_) | Offline::Request1(_) | Offline::Request2(_) | Offline::OutOfBand(_)
                if !self.gate.admits_offline(from.ip(), now, &self.shared.config.incoming) =>
            {
                self.shared.stats.drops.rate_limited += 1;
            }
            Offline::Ping(ping) => self.on_ping(from, &ping),
            Offline::Request1(request) => self.on_request1(from, &request, now),
            Offline::Request2(request) => self.on_request2(from, &request, now),
            Offline::OutOfBand(OutOfBand { guid, payload }) => {
                let payload = Bytes::copy_from_slice(payload);
                self.notify_offline(Event::OutOfBand { from, guid, payload });
            }
            Offline::Pong(pong) => self.on_pong(from, &pong, now),
            Offline::Reply1(reply) => self.on_reply1(link, from, &reply, now),
            Offline::Reply2(reply) => self.on_reply2(link, from, &reply, now),
            Offline::Refusal(refusal) => self.on_refusal(link, from, failure(refusal.kind)),
            Offline::IncompatibleVersion(IncompatibleProtocolVersion { version, .. }) => {
                self.on_refusal(link, from, ConnectFailure::IncompatibleProtocolVersion { server: version });
            }
        }
        true
    }

    fn on_unreadable(&mut self, link: LinkId, from: SocketAddr, error: ParseError) {
        if error == ParseError::Encrypted {
            self.on_refusal(link, from, ConnectFailure::EncryptionRequired);
        } else {
            self.shared.stats.drops.malformed += 1;
        }
    }

    // ---- As a server.

    /// Says whether this endpoint is a server at all; one that is stays so while it lets nobody in.
    fn is_serving(&self) -> bool {
        !self.closing && self.shared.config.incoming.max_connections > 0
    }

    fn is_accepting(&self) -> bool {
        self.accepting && self.is_serving()
    }

    fn has_free_slot(&self) -> bool {
        let (stats, incoming) = (&self.shared.stats, &self.shared.config.incoming);
        self.is_accepting()
            && stats.incoming + stats.handshakes < incoming.max_connections
            && stats.handshakes < incoming.max_handshakes
    }

    fn on_ping(&mut self, from: SocketAddr, ping: &UnconnectedPing) {
        if !self.is_serving() || (ping.open_only && !self.has_free_slot()) {
            return;
        }
        let guid = self.shared.guid;
        let data = self.shared.config.incoming.pong_data.clone();
        if self.reply(from, |buf| UnconnectedPong { time: ping.time, guid, data: &data }.emit(buf)) {
            self.shared.stats.pings_answered += 1;
        }
    }

    fn on_request1(&mut self, from: SocketAddr, request: &OpenConnectionRequest1, now: Instant) {
        // A refusal is only heard as the answer to the second request.
        if !self.is_serving() {
            return;
        }
        let incoming = &self.shared.config.incoming;
        let guid = self.shared.guid;
        if !incoming.protocol_versions.contains(&request.protocol) {
            let version = incoming.protocol_versions.first().copied().unwrap_or(ProtocolVersion(0));
            self.reply(from, |buf| IncompatibleProtocolVersion { version, guid }.emit(buf));
            return;
        }
        let mtu = request.mtu().min(self.shared.config.max_mtu);
        if mtu < MIN_MTU {
            self.shared.stats.drops.malformed += 1;
            return;
        }
        let cookie = incoming.cookies.then(|| self.cookies.make(from, request.protocol, now));
        if cookie.is_none() {
            self.versions.add(from, request.protocol);
        }
        self.reply(from, |buf| OpenConnectionReply1 { guid, cookie, mtu }.emit(buf));
    }

    fn on_request2(&mut self, from: SocketAddr, request: &OpenConnectionRequest2, now: Instant) {
        let incoming = &self.shared.config.incoming;
        let proved =
            request.cookie.map(|cookie| self.cookies.check(cookie, from, &incoming.protocol_versions, now));
        if proved == Some(None) {
            self.shared.stats.drops.bad_cookie += 1;
            return;
        }
        if !self.is_accepting() && self.table.at(from).is_none() {
            if self.shared.config.incoming.max_connections > 0 {
                self.refuse(from, RefusalKind::NoFreeIncomingConnections);
            }
            return;
        }
        let mtu = request.mtu.min(self.shared.config.max_mtu);
        if !(MIN_MTU..=MAX_MTU).contains(&mtu) {
            self.shared.stats.drops.malformed += 1;
            return;
        }
        if !self.clear_address(from, request, proved.is_some(), now) {
            return;
        }
        if let Some(other) = self.table.with_guid(request.guid) {
            // The same client behind a new address, or another one that took the same identifier.
            self.with_peer(other, now, |peer, ctx| peer.suspect_close(ctx));
            self.refuse(from, RefusalKind::AlreadyConnected);
            return;
        }
        if !self.has_free_slot() {
            self.refuse(from, RefusalKind::NoFreeIncomingConnections);
            return;
        }
        match self.gate.admits_session(from.ip(), now, &self.shared.config.incoming) {
            Ok(()) => {}
            Err(Refused::TooSoon) => return self.refuse(from, RefusalKind::IpRecentlyConnected),
            Err(Refused::TooMany) => return self.refuse(from, RefusalKind::NoFreeIncomingConnections),
        }
        let version = proved.flatten().or_else(|| self.versions.take(from)).unwrap_or(ProtocolVersion(0));
        let agreed = Agreed { address: from, guid: request.guid, mtu, protocol_version: version };
        self.open_incoming(agreed, now);
    }

    /// Makes way at an address that asks for a session. False if it keeps the one it has.
    fn clear_address(
        &mut self,
        from: SocketAddr,
        request: &OpenConnectionRequest2,
        proved: bool,
        now: Instant,
    ) -> bool {
        let Some(index) = self.table.at(from) else { return true };
        let Some(peer) = self.table.peer_mut(index) else {
            // We are asking that address for a session ourselves.
            self.refuse(from, RefusalKind::AlreadyConnected);
            return false;
        };
        let (phase, agreed) = (peer.phase(), *peer.agreed());
        let same = agreed.guid == request.guid;
        match phase {
            // The reply was lost: it must be the same again (WaterdogPE#273).
            Phase::Unverified { .. } if same => {
                self.grant(&agreed);
                false
            }
            // The old session is over for us or for the peer: a quick rejoin (RakLib#105, #120).
            Phase::Closing { .. } | Phase::Draining { .. } | Phase::Gone => self.replace(index, now),
            // Whoever sits at that address now is another program, and proved that the address is its own.
            Phase::Unverified { .. }
            | Phase::Handling { .. }
            | Phase::Requesting { .. }
            | Phase::Connected
                if proved && !same =>
            {
                self.replace(index, now)
            }
            Phase::Unverified { .. }
            | Phase::Handling { .. }
            | Phase::Requesting { .. }
            | Phase::Connected => {
                // Perhaps it restarted; then the old session will not answer, and the next request succeeds.
                self.with_peer(index, now, |peer, ctx| peer.suspect_close(ctx));
                self.refuse(from, RefusalKind::AlreadyConnected);
                false
            }
        }
    }

    fn replace(&mut self, index: u32, now: Instant) -> bool {
        self.with_peer(index, now, |peer, ctx| {
            peer.abandon(CloseReason::Replaced, ConnectFailure::Refused, ctx);
        });
        true
    }

    fn open_incoming(&mut self, agreed: Agreed, now: Instant) {
        let Self { shared, table, .. } = self;
        let until = now + shared.config.incoming.handshake_timeout;
        let peer = Peer::server(agreed, until, &shared.config.session, now);
        let id = table.insert(agreed.address, Occupant::Peer(Box::new(peer)));
        let Some(id) = id else { return self.refuse(agreed.address, RefusalKind::NoFreeIncomingConnections) };
        self.table.name(agreed.guid, id.index);
        self.shared.stats.handshakes += 1;
        self.gate.session_opened(agreed.address.ip(), now, &self.shared.config.incoming);
        self.make_ready(id.index);
        self.grant(&agreed);
    }

    fn grant(&mut self, agreed: &Agreed) {
        let (guid, mtu) = (self.shared.guid, agreed.mtu);
        let client = SocketAddr::new(agreed.address.ip().to_canonical(), agreed.address.port());
        self.reply(agreed.address, |buf| {
            OpenConnectionReply2 { guid, client, mtu, security: false }.emit(buf);
        });
    }

    fn refuse(&mut self, to: SocketAddr, kind: RefusalKind) {
        let guid = self.shared.guid;
        self.reply(to, |buf| Refusal { kind, guid }.emit(buf));
    }

    // ---- As a client.

    fn on_pong(&mut self, from: SocketAddr, pong: &UnconnectedPong<'_>, now: Instant) {
        let Some(sent) = self.pings.take(from, pong.time) else {
            self.shared.stats.drops.unsolicited += 1;
            return;
        };
        let rtt = Duration::from_micros(now.as_micros().saturating_sub(sent));
        let data = Bytes::copy_from_slice(pong.data);
        self.notify_offline(Event::Pong { from, guid: pong.guid, rtt, data });
    }

    fn on_reply1(&mut self, link: LinkId, from: SocketAddr, reply: &OpenConnectionReply1, now: Instant) {
        let index = self.sender(link, from);
        let Some(attempt) = index.and_then(|index| self.table.attempt_mut(index)) else {
            self.shared.stats.drops.unsolicited += 1;
            return;
        };
        attempt.on_reply1(reply, now);
        if let Some(index) = index {
            self.advance_attempt(index, now);
        }
    }

    fn on_reply2(&mut self, link: LinkId, from: SocketAddr, reply: &OpenConnectionReply2, now: Instant) {
        let index = self.sender(link, from);
        let attempt = index.and_then(|index| self.table.attempt_mut(index));
        let (Some(index), Some(agreed)) = (index, attempt.and_then(|attempt| attempt.on_reply2(reply)))
        else {
            self.shared.stats.drops.unsolicited += 1;
            return;
        };
        // Encryption takes a challenge, and we never send one; tokio-raknet sets the flag all the same.
        self.promote_attempt(index, agreed, now);
    }

    /// A refusal counts only from the address being connected to, and only while it is.
    fn on_refusal(&mut self, link: LinkId, from: SocketAddr, reason: ConnectFailure) {
        match self.sender(link, from) {
            Some(index) if self.table.attempt_mut(index).is_some() => self.fail_attempt(index, reason),
            Some(_) | None => self.shared.stats.drops.unsolicited += 1,
        }
    }
}

fn failure(kind: RefusalKind) -> ConnectFailure {
    match kind {
        RefusalKind::AlreadyConnected => ConnectFailure::AlreadyConnected,
        RefusalKind::NoFreeIncomingConnections => ConnectFailure::NoFreeIncomingConnections,
        RefusalKind::ConnectionBanned => ConnectFailure::Banned,
        RefusalKind::IpRecentlyConnected => ConnectFailure::IpRecentlyConnected,
        RefusalKind::ConnectionAttemptFailed => ConnectFailure::Refused,
        RefusalKind::InvalidPassword => ConnectFailure::InvalidPassword,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Config, ConnectOptions, Guid, SOCKET};
    use alloc::vec::Vec;
    use core::num::NonZeroUsize;
    use proto_core::{Datagram, Machine};

    #[test]
    fn a_security_flag_without_a_challenge_does_not_end_the_attempt() {
        let server: SocketAddr = "10.0.0.1:19132".parse().unwrap();
        let now = Instant::from_millis(1);
        let mut client = Endpoint::new(Config::client(), [1; 32]).unwrap();
        client.connect(now, server, ConnectOptions::default()).unwrap();

        let (guid, mtu) = (Guid(7), 1_492);
        let mut replies = [Vec::new(), Vec::new()];
        OpenConnectionReply1 { guid, cookie: Some(9), mtu }.emit(&mut replies[0]);
        OpenConnectionReply2 { guid, client: server, mtu, security: true }.emit(&mut replies[1]);
        for reply in &mut replies {
            client.handle_datagram(now, Datagram::new(SOCKET, server, reply));
        }

        assert_eq!(client.poll_event(), None);
        let mut sent = Vec::new();
        while client.poll_transmit(now, NonZeroUsize::MIN, &mut sent).is_some() {}
        assert!(sent.contains(&0x09), "the connection request goes out");
        assert_eq!(client.stats().peers, 1);
    }
}
