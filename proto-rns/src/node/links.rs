//! The links of a node.

use super::{Event, Node, deferred::ProofsOf};
use crate::{
    DestinationHash, Env, LinkHash,
    iface::{InterfaceId, InterfaceTable, Interfaces},
    link::{CloseReason, Event as LinkEvent, Link, LinkConfig, LinkConfigError, LinkState, PacketSink},
    wire::{Context, Packet, PacketType},
};
use alloc::{
    collections::{BTreeMap, BTreeSet},
    vec::Vec,
};
use proto_core::{Deadlines, Instant};

/// All links, by number and by deadline.
#[derive(Debug, Default)]
pub(super) struct LinkTable {
    slots: Vec<Option<NodeLink>>,
    free: Vec<u32>,
    by_hash: BTreeMap<LinkHash, u32>,
    deadlines: Deadlines,
    /// Links whose bulk data wait for room on their interface.
    bulk: BTreeSet<(InterfaceId, u32)>,
    /// Links of others that wait for the end of their handshake.
    half_open: usize,
}

#[derive(Debug)]
struct NodeLink {
    link: Link,
    /// The interface that it runs over; an initiator learns it with the answer.
    interface: Option<InterfaceId>,
    half_open: bool,
}

impl LinkTable {
    pub(super) fn contains(&self, link: LinkHash) -> bool {
        self.by_hash.contains_key(&link)
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        self.deadlines.next()
    }

    fn len(&self) -> usize {
        self.by_hash.len()
    }

    fn slot(&self, link: LinkHash) -> Option<u32> {
        self.by_hash.get(&link).copied()
    }

    fn get(&self, slot: u32) -> Option<&NodeLink> {
        self.slots.get(index(slot)).and_then(Option::as_ref)
    }

    fn get_mut(&mut self, slot: u32) -> Option<&mut NodeLink> {
        self.slots.get_mut(index(slot)).and_then(Option::as_mut)
    }

    /// Adds a link.
    fn add(&mut self, link: Link, interface: Option<InterfaceId>) {
        let half_open = link.state() == LinkState::Handshake;
        self.half_open += usize::from(half_open);
        let hash = link.id();
        let entry = Some(NodeLink { link, interface, half_open });
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => {
                self.slots.push(None);
                u32::try_from(self.slots.len() - 1).unwrap_or(u32::MAX)
            }
        };
        if let Some(place) = self.slots.get_mut(index(slot)) {
            *place = entry;
            self.by_hash.insert(hash, slot);
        }
    }

    fn remove(&mut self, slot: u32) {
        let Some(entry) = self.slots.get_mut(index(slot)).and_then(Option::take) else { return };
        self.by_hash.remove(&entry.link.id());
        self.deadlines.set(slot, None);
        if let Some(interface) = entry.interface {
            self.bulk.remove(&(interface, slot));
        }
        self.half_open -= usize::from(entry.half_open);
        self.free.push(slot);
    }
}

impl Node {
    /// Opens a link to a destination whose announce was heard. [`LinkEvent::Established`] follows, or
    /// [`LinkEvent::Closed`].
    ///
    /// # Errors
    /// Nothing is known of the destination, or there are too many links.
    pub fn open_link(
        &mut self,
        now: Instant,
        destination: DestinationHash,
        config: Option<&LinkConfig>,
    ) -> Result<LinkHash, OpenLinkError> {
        self.core.see(now);
        let identity = *self.known.identity(destination).ok_or(OpenLinkError::Unknown)?;
        if self.links.len() >= self.config.max_links {
            return Err(OpenLinkError::TooMany { limit: self.config.max_links });
        }
        let hops = self.router.hops_to(destination).unwrap_or(Packet::MAX_HOPS);
        let mtu = self.proposed_mtu(destination);
        let timeout = self.router.first_hop_timeout(destination, &self.interfaces);
        let config = config.unwrap_or(&self.config.links);
        let mut captured = Captured::default();
        let mut env = self.core.env();
        let link =
            Link::initiate(&mut env, destination, identity, hops, mtu, timeout, config, &mut captured)?;
        if let Ok(request) = Packet::parse(&captured.0) {
            self.router.send(&env, &request, None, &mut self.interfaces);
        }
        let wall = self.core.wall();
        self.known.mark_used(destination, wall);
        let hash = link.id();
        self.links.add(link, None);
        self.settle_link(hash);
        Ok(hash)
    }

    /// Gives a link a command. `None` when there is no such link.
    ///
    /// ```text
    /// node.with_link(now, hash, |link, env, out| link.send(env, b"hello", out))
    /// ```
    pub fn with_link<T>(
        &mut self,
        now: Instant,
        link: LinkHash,
        command: impl FnOnce(&mut Link, &mut Env<'_>, &mut dyn PacketSink) -> T,
    ) -> Option<T> {
        self.core.see(now);
        self.catch_up();
        let slot = self.links.slot(link)?;
        let entry = self.links.get_mut(slot)?;
        let mut out = InterfaceSink { interfaces: &mut self.interfaces, to: entry.interface };
        let answer = command(&mut entry.link, &mut self.core.env(), &mut out);
        self.settle_link(link);
        Some(answer)
    }

    /// Returns a link.
    pub fn link(&self, link: LinkHash) -> Option<&Link> {
        self.links.get(self.links.slot(link)?).map(|entry| &entry.link)
    }

    /// Returns the interface that a link runs over.
    pub fn link_interface(&self, link: LinkHash) -> Option<InterfaceId> {
        self.links.get(self.links.slot(link)?).and_then(|entry| entry.interface)
    }

    /// Returns all links.
    pub fn links(&self) -> impl Iterator<Item = &Link> {
        self.links.slots.iter().flatten().map(|entry| &entry.link)
    }

    /// Closes all links.
    pub fn close_links(&mut self, now: Instant) {
        let all: Vec<LinkHash> = self.links().map(Link::id).collect();
        for link in all {
            self.with_link(now, link, |link, env, out| link.close(env, out));
        }
    }

    pub(super) fn on_link_request(&mut self, id: InterfaceId, packet: &Packet<'_>) {
        let accepted = self.accept_link(id, packet);
        if !accepted {
            self.stats.refused_links = self.stats.refused_links.wrapping_add(1);
        }
    }

    fn accept_link(&mut self, id: InterfaceId, packet: &Packet<'_>) -> bool {
        let Some(destination) = self.destinations.get(&packet.destination) else { return false };
        let Some(owner) = destination.identity().filter(|_| destination.accepts_links) else { return false };
        if self.links.len() >= self.config.max_links
            || self.links.half_open >= self.config.max_half_open_links
        {
            return false;
        }
        let mtu = negotiable_mtu(&self.interfaces, id);
        let config = destination.links.as_ref().unwrap_or(&self.config.links);
        let mut out = InterfaceSink { interfaces: &mut self.interfaces, to: Some(id) };
        let accepted = Link::accept(&mut self.core.env(), packet, owner, mtu, config, &mut out);
        let Ok(link) = accepted else { return false };
        let hash = link.id();
        if self.links.contains(hash) {
            return false;
        }
        self.links.add(link, Some(id));
        self.tell(Event::LinkAccepted { link: hash, destination: packet.destination });
        self.settle_link(hash);
        true
    }

    pub(super) fn on_link_packet(&mut self, id: InterfaceId, packet: &Packet<'_>) {
        // One that was closed by a packet before this, while this one waited, is gone.
        let link = packet.destination.into();
        let Some(entry) = self.links.slot(link).and_then(|slot| self.links.get_mut(slot)) else { return };
        let answers = entry.interface.is_none() && packet.context == Context::LinkRequestProof;
        if entry.interface.is_some_and(|own| own != id) || (entry.interface.is_none() && !answers) {
            self.stats.wrong_interface = self.stats.wrong_interface.wrapping_add(1);
            self.router.forget_packet(packet);
            return;
        }
        let mut out = InterfaceSink { interfaces: &mut self.interfaces, to: Some(id) };
        entry.link.handle_packet(&mut self.core.env(), packet, &mut out);
        if answers && entry.link.state() != LinkState::Pending {
            entry.interface = Some(id);
        }
        if packet.packet_type == PacketType::Proof && packet.context == Context::None {
            self.defer_proof(ProofsOf::Link(link));
        } else {
            self.settle_link(link);
        }
    }

    /// Does what is due on links.
    pub(super) fn expire_links(&mut self, now: Instant) {
        while let Some(slot) = self.links.deadlines.expire(now) {
            let Some(entry) = self.links.get_mut(slot) else { continue };
            let mut out = InterfaceSink { interfaces: &mut self.interfaces, to: entry.interface };
            entry.link.handle_timeout(&mut self.core.env(), &mut out);
            let link = entry.link.id();
            self.settle_link(link);
        }
    }

    /// Lets the links over an interface go on with bulk data, where it has room.
    pub(super) fn resume_bulk(&mut self, id: InterfaceId) {
        let mut after = 0;
        while let Some(&(_, slot)) = self.links.bulk.range((id, after)..).next().filter(|(on, _)| *on == id) {
            after = slot.saturating_add(1);
            self.links.bulk.remove(&(id, slot));
            let Some(entry) = self.links.get_mut(slot) else { continue };
            let mut out = InterfaceSink { interfaces: &mut self.interfaces, to: Some(id) };
            entry.link.flush(&mut self.core.env(), &mut out);
            let link = entry.link.id();
            self.settle_link(link);
        }
    }

    /// Closes the links over an interface that is gone.
    pub(super) fn on_interface_lost(&mut self, id: InterfaceId) {
        let over: Vec<LinkHash> = self
            .links
            .slots
            .iter()
            .flatten()
            .filter(|entry| entry.interface == Some(id))
            .map(|e| e.link.id())
            .collect();
        for link in over {
            self.with_link(self.core.now(), link, |link, env, out| link.close(env, out));
        }
    }

    /// Tells what happened on a link, and sets its deadline anew.
    pub(super) fn settle_link(&mut self, hash: LinkHash) {
        let Some(slot) = self.links.slot(hash) else { return };
        let Some(entry) = self.links.get_mut(slot) else { return };
        entry.link.settle(&self.core.env());
        let destination = entry.link.destination();
        while let Some(event) = self.links.get_mut(slot).and_then(|entry| entry.link.poll_event()) {
            self.heed(hash, destination, &event);
            self.tell(Event::Link { link: hash, event });
        }
        let Some(entry) = self.links.get_mut(slot) else { return };
        let waits = entry.interface.filter(|_| entry.link.wants_room());
        let (state, due) = (entry.link.state(), entry.link.poll_timeout());
        if entry.half_open && state != LinkState::Handshake {
            entry.half_open = false;
            self.links.half_open -= 1;
        }
        match state {
            LinkState::Closed => self.links.remove(slot),
            LinkState::Pending | LinkState::Handshake | LinkState::Active | LinkState::Stale => {
                self.links.deadlines.set(slot, due);
                if let Some(interface) = waits {
                    self.links.bulk.insert((interface, slot));
                }
            }
        }
    }

    /// Draws the node's own conclusions from what happened on a link.
    #[allow(clippy::wildcard_enum_match_arm, reason = "most events concern the application alone")]
    fn heed(&mut self, link: LinkHash, destination: DestinationHash, event: &LinkEvent) {
        match event {
            LinkEvent::HopsChanged { hops } => self.router.correct_hops(destination, *hops),
            LinkEvent::Established { .. } => self.router.mark_responsive(destination),
            LinkEvent::Identified { identity }
                if self.router.blackhole().is_refused(identity.hash(), self.core.wall()) =>
            {
                self.with_link(self.core.now(), link, |link, env, out| link.close(env, out));
            }
            // The path led nowhere: a node that does not route asks for another (spec 1.7).
            LinkEvent::Closed { reason: CloseReason::NotEstablished }
                if !self.destinations.contains_key(&destination) =>
            {
                self.router.mark_unresponsive(destination);
                if !self.config.transport && self.router.drop_path(destination) {
                    let env = &mut self.core.env();
                    self.router.request_path_automatically(env, destination, &mut self.interfaces);
                }
            }
            _ => {}
        }
    }

    /// Returns how long a link's packets towards a destination may be, as far as this node knows.
    fn proposed_mtu(&self, destination: DestinationHash) -> Option<usize> {
        let next = self.router.path(destination)?.interface;
        negotiable_mtu(&self.interfaces, next).filter(|_| self.config.link_mtu_discovery)
    }
}

/// Returns how long packets may be on an interface where links make use of it.
fn negotiable_mtu(interfaces: &InterfaceTable, id: InterfaceId) -> Option<usize> {
    let properties = interfaces.properties(id)?;
    properties.hardware_mtu.filter(|_| properties.negotiates_mtu)
}

fn index(slot: u32) -> usize {
    usize::try_from(slot).unwrap_or(usize::MAX)
}

/// Sends what a link sends by its interface.
struct InterfaceSink<'a> {
    interfaces: &'a mut InterfaceTable,
    to: Option<InterfaceId>,
}

impl PacketSink for InterfaceSink<'_> {
    fn send(&mut self, packet: &Packet<'_>) {
        if let Some(to) = self.to {
            self.interfaces.send(to, packet);
        }
    }

    fn room(&self) -> usize {
        self.to.and_then(|to| self.interfaces.get(to)).map_or(0, |interface| interface.room())
    }
}

/// Catches the request of a new link, for which a way has to be found.
#[derive(Default)]
struct Captured(Vec<u8>);

impl PacketSink for Captured {
    fn send(&mut self, packet: &Packet<'_>) {
        self.0.clear();
        packet.emit(&mut self.0);
    }

    fn room(&self) -> usize {
        0
    }
}

/// A link that is not opened.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenLinkError {
    /// No announce of the destination was heard.
    #[error("the destination is not known: request a path to it and wait for its announce")]
    Unknown,
    /// The link's settings are not valid.
    #[error(transparent)]
    Config(#[from] LinkConfigError),
    /// There are as many as the configuration allows.
    #[error("there are {limit} links already")]
    TooMany {
        /// How many it allows.
        limit: usize,
    },
}
