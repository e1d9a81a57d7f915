//! Path requests: answered, searched for, asked (spec 1.7).

use super::{
    DropReason, PATH_REQUEST_GRACE, PATH_REQUEST_TIMEOUT, ROAMING_GRACE, Router, Step, Verdict,
    announce_table::Outgoing, inbound::Arrival, path_request::Search,
};
use crate::{
    DestinationHash, Env,
    iface::{InterfaceId, InterfaceKind, InterfaceProperties, Interfaces, Mode, Pace, may_search},
    wire::{OwnedPacket, Packet, PathRequest, RequestTag},
};
use alloc::vec::Vec;
use core::time::Duration;

impl Router {
    /// Asks for the path to a destination: on `attached` alone, or on every interface. Draws 16 bytes.
    pub fn request_path(
        &mut self,
        env: &mut Env<'_>,
        destination: DestinationHash,
        attached: Option<InterfaceId>,
        out: &mut dyn Interfaces,
    ) {
        self.requests.asked(env.now, destination);
        let tag = RequestTag::generate(env.entropy);
        let to = match attached {
            Some(interface) => Vec::from([interface]),
            None => out.ids(),
        };
        self.ask(out, destination, tag, to);
    }

    /// Asks for the path to a destination that nobody asked for, unless that was done less than 20 s ago.
    pub fn request_path_automatically(
        &mut self,
        env: &mut Env<'_>,
        destination: DestinationHash,
        out: &mut dyn Interfaces,
    ) -> bool {
        let may_ask = self.requests.may_ask_automatically(env.now, &destination);
        if may_ask {
            self.request_path(env, destination, None, out);
        }
        may_ask
    }

    /// Answers a path request in the first way that is possible.
    pub(super) fn on_path_request<'p>(
        &mut self,
        step: &mut Step<'_, '_>,
        arrival: &Arrival<'p>,
    ) -> Verdict<'p> {
        let Ok(request) = PathRequest::parse(arrival.packet.data) else {
            return Verdict::Dropped(DropReason::Malformed);
        };
        let is_limited = self.is_bursting(step, arrival);
        if !self.requests.is_new(&request) {
            return Verdict::Dropped(DropReason::Duplicate);
        }
        let (destination, tag, interface) = (request.destination, request.tag, arrival.from);
        if step.locals.has_destination(&destination) {
            return Verdict::PathRequestForLocal { destination, tag, interface };
        }
        let is_from_client = arrival.is_from_local_client();
        let is_known = self.paths.get(&destination).is_some_and(|path| path.announce.is_some());
        if is_known && (self.transport || is_from_client) {
            return self.answer(step, arrival, &request);
        }
        if is_from_client {
            let tag = RequestTag::generate(step.env.entropy);
            return self.search(step, arrival, destination, tag, false);
        }
        let starts_search =
            self.transport && step.out.properties(interface).is_some_and(searches) && !is_limited;
        if starts_search {
            return self.search(step, arrival, destination, tag, true);
        }
        let clients = self.local_clients(step.out);
        if clients.is_empty() {
            return Verdict::Dropped(DropReason::UnansweredRequest);
        }
        self.ask(step.out, destination, tag, clients);
        Verdict::Handled
    }

    /// Counts a request and says whether there are too many from its interface.
    fn is_bursting(&mut self, step: &Step<'_, '_>, arrival: &Arrival<'_>) -> bool {
        let now = step.env.now;
        let Some(from) = step.out.properties(arrival.from) else { return false };
        let Some(control) = from.path_request_ingress else { return false };
        let age = now.saturating_since(from.created);
        self.port(arrival.from).is_some_and(|port| {
            port.request_gauge.record(now);
            port.request_gauge.is_bursting(now, age, &control)
        })
    }

    /// Answers with the announce that the path came from, a little later than nodes that are nearer.
    fn answer<'p>(
        &mut self,
        step: &Step<'_, '_>,
        arrival: &Arrival<'p>,
        request: &PathRequest,
    ) -> Verdict<'p> {
        let unanswered = Verdict::Dropped(DropReason::UnansweredRequest);
        let Some(path) = self.paths.get(&request.destination) else { return unanswered };
        let Some(announce) = &path.announce else { return unanswered };
        let is_roaming = step.out.properties(arrival.from).is_some_and(|from| from.mode == Mode::Roaming);
        let leads_back = path.next_hop.is_some() && path.next_hop == request.requester;
        if leads_back || (is_roaming && path.interface == arrival.from) {
            return unanswered;
        }
        let wait = match (arrival.is_from_local_client(), is_roaming) {
            (true, _) => Duration::ZERO,
            (false, false) => PATH_REQUEST_GRACE,
            (false, true) => PATH_REQUEST_GRACE + ROAMING_GRACE,
        };
        let packet = OwnedPacket::new(&Packet { hops: path.hops, ..announce.as_packet() });
        let outgoing = Outgoing { packet, source: path.interface, response_to: Some(arrival.from) };
        if self.announces.respond(outgoing, step.env.now + wait) {
            Verdict::Handled
        } else {
            Verdict::Dropped(DropReason::TableFull)
        }
    }

    /// Asks on all other interfaces on behalf of whoever is behind `arrival.from`. A `recursive` search obeys the
    /// limits of the interfaces; the requests of local clients are as good as own ones.
    fn search<'p>(
        &mut self,
        step: &mut Step<'_, '_>,
        arrival: &Arrival<'p>,
        destination: DestinationHash,
        tag: RequestTag,
        recursive: bool,
    ) -> Verdict<'p> {
        let now = step.env.now;
        let until = now + PATH_REQUEST_TIMEOUT.max(self.medium_path_timeout(step.out));
        match self.requests.search(destination, arrival.from, until) {
            Search::Started => {}
            Search::Joined => return Verdict::Handled,
            Search::Full => return Verdict::Dropped(DropReason::TableFull),
        }
        let from = step.out.properties(arrival.from).map_or(Mode::Full, |from| from.mode);
        let len = Packet::SHORT_HEADER + 2 * DestinationHash::LEN + tag.as_bytes().len();
        let mut to = step.out.ids();
        to.retain(|id| {
            let Some(to) = step.out.properties(*id).filter(|_| *id != arrival.from) else { return false };
            if !recursive {
                return true;
            }
            let pace = Pace { bitrate: to.bitrate, cap: to.announce_cap };
            may_search(from, to.mode)
                && self.port(*id).is_some_and(|port| {
                    port.egress.admit(now, to.path_request_egress) && port.announces.take_turn(now, pace, len)
                })
        });
        self.ask(step.out, destination, tag, to);
        Verdict::Handled
    }

    fn ask(
        &self,
        out: &mut dyn Interfaces,
        destination: DestinationHash,
        tag: RequestTag,
        to: Vec<InterfaceId>,
    ) {
        let requester = self.transport.then_some(self.id);
        let mut data = Vec::new();
        PathRequest { destination, requester, tag }.emit(&mut data);
        for id in to {
            if out.properties(id).is_some_and(|to| to.online && to.outgoing) {
                out.send(id, &PathRequest::packet(&data));
            }
        }
    }
}

/// Says whether requests over an interface start recursive searches.
const fn searches(from: &InterfaceProperties) -> bool {
    let by_mode = matches!(from.mode, Mode::AccessPoint | Mode::Gateway | Mode::Roaming | Mode::Internal);
    (by_mode || from.recursive_path_requests) && !matches!(from.kind, InterfaceKind::SharedInstance)
}
