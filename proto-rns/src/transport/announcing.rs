//! Announces of others: verified, learned from, passed on (spec 1.6).

use super::{
    Announced, BASE_MTU, DropReason, REBROADCAST_JITTER, Router, Step, Verdict, announce_table::Outgoing,
    inbound::Arrival, path::Offer,
};
use crate::{
    DestinationHash, PacketHash,
    iface::{
        Admission, AnnounceSource, InterfaceId, InterfaceKind, InterfaceProperties, Interfaces, Mode, Pace,
        may_pass_announce,
    },
    wire::{Announce, Context, OwnedPacket, Packet, TransportType},
};
use alloc::vec::Vec;
use bytes::Bytes;
use proto_core::Instant;

impl Router {
    pub(super) fn on_announce<'p>(&mut self, step: &mut Step<'_, '_>, arrival: &Arrival<'p>) -> Verdict<'p> {
        let packet = &arrival.packet;
        if packet.encoded_len() > BASE_MTU {
            return Verdict::Dropped(DropReason::TooLong);
        }
        if step.locals.has_destination(&packet.destination) {
            return Verdict::Dropped(DropReason::OwnAnnounce);
        }
        match self.hold_back(step, arrival) {
            Ok(false) => {}
            Ok(true) => return Verdict::Handled,
            Err(reason) => return Verdict::Dropped(reason),
        }
        match self.learn(step, arrival) {
            Ok(announced) => Verdict::Announce(announced),
            Err(reason) => Verdict::Dropped(reason),
        }
    }

    /// Holds an announce of an unknown destination back in a burst, before anything is spent on its signature.
    fn hold_back(&mut self, step: &Step<'_, '_>, arrival: &Arrival<'_>) -> Result<bool, DropReason> {
        let now = step.env.now;
        let destination = &arrival.packet.destination;
        let Some(properties) = step.out.properties(arrival.from) else { return Ok(false) };
        let is_expected = self.paths.get(destination).is_some() || self.requests.is_wanted(destination);
        let Some(control) = properties.announce_ingress else { return Ok(false) };
        let age = now.saturating_since(properties.created);
        let Some(port) = self.port(arrival.from) else { return Ok(false) };
        port.announce_gauge.record(now);
        if !port.announce_gauge.is_bursting(now, age, &control) || is_expected {
            return Ok(false);
        }
        let is_held = port.held.hold(now, OwnedPacket::new(&arrival.packet), &control);
        self.rearm(arrival.from);
        if !is_held {
            return Err(DropReason::TableFull);
        }
        self.stats.announces_held += 1;
        Ok(true)
    }

    /// Verifies an announce and takes its path if it is better than the known one.
    pub(super) fn learn(
        &mut self,
        step: &mut Step<'_, '_>,
        arrival: &Arrival<'_>,
    ) -> Result<Announced, DropReason> {
        let packet = &arrival.packet;
        let announce = Announce::parse(packet).map_err(|_| DropReason::Malformed)?;
        if self.blackhole.is_refused(announce.identity.hash(), step.env.wall) {
            return Err(DropReason::Blackholed);
        }
        let hash = arrival.packet_hash();
        self.verify(step, &announce, packet.destination, hash)?;
        if packet.transport_id.is_some() {
            self.announces.on_heard(step.env.now, packet.destination, packet.hops.saturating_sub(1));
        }
        let offer = offer(step.out, arrival, &announce, hash);
        let known_gravity = self
            .paths
            .get(&packet.destination)
            .and_then(|path| step.out.properties(path.interface))
            .and_then(|properties| properties.gravity);
        let seconds = step.env.unix_seconds();
        if !self.paths.is_better(step.env.now, seconds, &offer, known_gravity) {
            return Err(DropReason::NoBetterPath);
        }
        let kept = offer.announce.clone();
        self.paths.accept(step.env.now, seconds, offer);
        self.pass_on(step, arrival, &kept);
        Ok(Announced {
            destination: packet.destination,
            identity: announce.identity,
            name: announce.name,
            app_data: Bytes::copy_from_slice(announce.app_data),
            ratchet: announce.ratchet,
            hops: packet.hops,
            interface: arrival.from,
            packet: hash,
            path_response: packet.context == Context::PathResponse,
        })
    }

    /// Checks the signature, unless the same announce was verified before, and remembers the identity.
    fn verify(
        &mut self,
        step: &mut Step<'_, '_>,
        announce: &Announce<'_>,
        destination: DestinationHash,
        hash: PacketHash,
    ) -> Result<(), DropReason> {
        let was_verified = self.seen.contains(hash.as_bytes());
        if was_verified && step.known.identity(destination).is_some() {
            return Ok(());
        }
        self.stats.announces_verified += 1;
        if !announce.verify(step.env.crypto, destination) {
            return Err(DropReason::BadSignature);
        }
        if step.known.identity(destination).is_some_and(|known| *known != announce.identity) {
            return Err(DropReason::KeyCollision);
        }
        // Without room for the identity the path is of use all the same.
        let wall = step.env.wall;
        let remembered =
            step.known.remember(destination, announce.identity, announce.app_data, hash, wall).is_ok();
        if let Some(ratchet) = announce.ratchet.filter(|_| remembered) {
            step.known.remember_ratchet(destination, ratchet, wall);
        }
        self.see(hash);
        Ok(())
    }

    /// Passes an accepted announce to other nodes, to those who searched for it and to local clients.
    fn pass_on(&mut self, step: &mut Step<'_, '_>, arrival: &Arrival<'_>, announce: &OwnedPacket) {
        let packet = &arrival.packet;
        let now = step.env.now;
        let is_from_client = arrival.is_from_local_client();
        let is_response = packet.context == Context::PathResponse;
        let outgoing = Outgoing { packet: announce.clone(), source: arrival.from, response_to: None };
        if (self.transport || is_from_client) && !is_response && !self.is_rate_limited(step, arrival) {
            let due = if is_from_client { now } else { now + step.env.jitter(REBROADCAST_JITTER) };
            if !self.announces.pass_on(outgoing.clone(), due, is_from_client) {
                self.stats.count(DropReason::TableFull);
            }
        }
        for interface in self.requests.found(&packet.destination) {
            if interface != arrival.from {
                self.send_path_response(step.out, &outgoing, interface);
            }
        }
        for client in self.local_clients(step.out) {
            if client != arrival.from {
                step.out.send(client, &self.as_forwarded(&announce.as_packet(), Context::None));
            }
        }
        if is_from_client {
            // Its own program waits for nothing, and the others shall not wait for the next deadline.
            self.send_due_announces(step.env.now, step.out);
        }
    }

    fn is_rate_limited(&mut self, step: &Step<'_, '_>, arrival: &Arrival<'_>) -> bool {
        let Some(limit) = step.out.properties(arrival.from).and_then(|from| from.announce_rate) else {
            return false;
        };
        let blocked = self.rates.is_blocked(step.env.now, arrival.packet.destination, &limit);
        self.stats.announces_rate_limited += u64::from(blocked);
        blocked
    }

    /// Sends the announces whose time has come, those with the fewest hops first.
    pub(super) fn send_due_announces(&mut self, now: Instant, out: &mut dyn Interfaces) {
        let mut due = Vec::new();
        while let Some(outgoing) = self.announces.poll(now) {
            due.push(outgoing);
        }
        due.sort_by_key(|outgoing| outgoing.packet.as_packet().hops);
        for outgoing in due {
            match outgoing.response_to {
                Some(interface) => self.send_path_response(out, &outgoing, interface),
                None => self.rebroadcast(now, out, &outgoing),
            }
        }
    }

    /// Answers a path request, or a search, on the interface that it came from.
    pub(super) fn send_path_response(
        &mut self,
        out: &mut dyn Interfaces,
        outgoing: &Outgoing,
        interface: InterfaceId,
    ) {
        out.send(interface, &self.as_forwarded(&outgoing.packet.as_packet(), Context::PathResponse));
        self.stats.path_responses += 1;
    }

    /// Sends an announce on every interface that may pass it on, as far as their shares of bitrate allow.
    fn rebroadcast(&mut self, now: Instant, out: &mut dyn Interfaces, outgoing: &Outgoing) {
        let announce = outgoing.packet.as_packet();
        let forwarded = OwnedPacket::new(&self.as_forwarded(&announce, Context::None));
        let emitted = Announce::parse(&announce).map_or(0, |announce| announce.random.emitted());
        for id in out.ids() {
            let source = source(out, outgoing.source);
            let Some(to) = out.properties(id).filter(|to| carries_announces(to)) else { continue };
            if !may_pass_announce(source, to) {
                continue;
            }
            let pace = Pace { bitrate: to.bitrate, cap: to.announce_cap };
            if announce.hops == 0 || self.has_turn(now, id, pace, &forwarded, emitted) {
                out.send(id, &forwarded.as_packet());
            }
        }
    }

    fn has_turn(
        &mut self,
        now: Instant,
        id: InterfaceId,
        pace: Pace,
        announce: &OwnedPacket,
        emitted: u64,
    ) -> bool {
        let admission =
            self.port(id).map_or(Admission::Full, |port| port.announces.admit(now, pace, announce, emitted));
        match admission {
            Admission::Now => return true,
            Admission::Queued => self.stats.announces_queued += 1,
            Admission::Full => self.stats.count(DropReason::TableFull),
        }
        self.rearm(id);
        false
    }

    /// Returns an announce as this node passes it on.
    pub(super) const fn as_forwarded<'p>(&self, announce: &Packet<'p>, context: Context) -> Packet<'p> {
        Packet { transport_type: TransportType::Transport, transport_id: Some(self.id), context, ..*announce }
    }

    /// Returns the interfaces of the programs that this node serves.
    pub(super) fn local_clients(&self, out: &dyn Interfaces) -> Vec<InterfaceId> {
        let mut ids = out.ids();
        ids.retain(|id| out.properties(*id).is_some_and(|of| of.kind == InterfaceKind::LocalClient));
        ids
    }
}

fn offer(out: &dyn Interfaces, arrival: &Arrival<'_>, announce: &Announce<'_>, packet: PacketHash) -> Offer {
    let from = out.properties(arrival.from);
    Offer {
        destination: arrival.packet.destination,
        next_hop: arrival.packet.transport_id,
        hops: arrival.packet.hops,
        interface: arrival.from,
        mode: from.map_or(Mode::Full, |from| from.mode),
        gravity: from.and_then(|from| from.gravity),
        random: announce.random,
        identity: announce.identity.hash(),
        packet,
        announce: OwnedPacket::new(&arrival.packet),
    }
}

/// Says whether announces are passed on over an interface at all; local clients get them when they come.
const fn carries_announces(to: &InterfaceProperties) -> bool {
    to.outgoing && to.online && !matches!(to.kind, InterfaceKind::LocalClient)
}

fn source(out: &dyn Interfaces, from: InterfaceId) -> AnnounceSource<'_> {
    match out.properties(from) {
        Some(from) if from.kind == InterfaceKind::LocalClient => AnnounceSource::Local,
        Some(from) => AnnounceSource::Interface(from),
        None => AnnounceSource::Gone,
    }
}
