//! Where a node's events meet the tasks that wait for them.

use super::{
    announces::Subscriptions,
    destination_seat::{DestinationSeat, ReceivedPacket},
    error::Undelivered,
    link_seat::LinkSeat,
};
use crate::{
    Face,
    faces::{promise::Resolver, waiters::Waiters},
};
use proto_core::Instant;
use proto_rns::{
    DestinationHash, LinkHash, PacketHash,
    iface::InterfaceId,
    link,
    node::{Event, Node},
};
use std::{
    collections::{BTreeMap, HashSet},
    task::Context,
    time::Duration,
};

/// What a receipt tells: the round-trip time, or that no proof came.
pub(super) type Delivery = Result<Duration, Undelivered>;

/// The face of one node.
#[derive(Debug, Default)]
pub(super) struct Desk {
    links: BTreeMap<LinkHash, LinkSeat>,
    destinations: BTreeMap<DestinationHash, DestinationSeat>,
    pub(super) announces: Subscriptions,
    receipts: BTreeMap<PacketHash, Resolver<Delivery>>,
    /// Those who wait for a path, an interface, or anything else that the node's tables tell.
    watchers: Waiters,
    online: HashSet<InterfaceId>,
    closing: bool,
    stopped: bool,
}

impl Desk {
    /// Gives a link a seat before anything happens on it.
    pub(super) fn seat_link(&mut self, link: LinkHash) {
        self.links.insert(link, LinkSeat::default());
    }

    /// Returns a link's seat; `None` once its last handle is gone.
    pub(super) fn link(&mut self, link: LinkHash) -> Option<&mut LinkSeat> {
        self.links.get_mut(&link)
    }

    /// Forgets a link that nobody has a handle on any more.
    pub(super) fn leave_link(&mut self, link: LinkHash) {
        self.links.remove(&link);
    }

    /// Gives a destination of this node a seat.
    pub(super) fn seat_destination(&mut self, destination: DestinationHash) {
        self.destinations.insert(destination, DestinationSeat::default());
    }

    /// Returns a destination's seat.
    pub(super) fn destination(&mut self, destination: DestinationHash) -> Option<&mut DestinationSeat> {
        self.destinations.get_mut(&destination)
    }

    /// Forgets a destination, and returns the links to it that nobody has accepted.
    pub(super) fn leave_destination(&mut self, destination: DestinationHash) -> Vec<LinkHash> {
        self.destinations.remove(&destination).map(DestinationSeat::into_arrivals).unwrap_or_default()
    }

    /// Has a receipt told what becomes of a packet.
    pub(super) fn await_receipt(&mut self, packet: PacketHash, resolver: Resolver<Delivery>) {
        if self.receipts.len() >= SWEEP_RECEIPTS {
            self.receipts.retain(|_, waiting| !waiting.is_abandoned());
        }
        self.receipts.insert(packet, resolver);
    }

    /// Has the task of `cx` woken when something about the node changes.
    pub(super) fn watch(&mut self, cx: &Context<'_>) {
        self.watchers.add(cx);
    }

    pub(super) fn is_online(&self, interface: InterfaceId) -> bool {
        self.online.contains(&interface)
    }

    /// Has the driver end once the node's links are closed.
    pub(super) const fn close(&mut self) {
        self.closing = true;
    }

    pub(super) const fn has_stopped(&self) -> bool {
        self.stopped
    }

    fn settle_receipt(&mut self, packet: PacketHash, delivery: Delivery) {
        if let Some(receipt) = self.receipts.remove(&packet) {
            receipt.resolve(delivery);
        }
    }

    #[allow(clippy::wildcard_enum_match_arm, reason = "the link's seat looks at the rest")]
    fn on_link_event(&mut self, link: LinkHash, event: link::Event) {
        match event {
            link::Event::Delivered { hash, rtt } => self.settle_receipt(hash, Ok(rtt)),
            link::Event::Undelivered { hash } => self.settle_receipt(hash, Err(Undelivered)),
            event => {
                let Some(seat) = self.links.get_mut(&link) else { return };
                let arrived = seat.take_in(event);
                if let Some(destination) =
                    arrived.and_then(|destination| self.destinations.get_mut(&destination))
                {
                    destination.arrive(link);
                }
            }
        }
    }
}

impl Face<Node> for Desk {
    fn event(&mut self, event: Event) {
        match event {
            Event::Link { link, event } => self.on_link_event(link, event),
            Event::Delivered { hash, rtt } => self.settle_receipt(hash, Ok(rtt)),
            Event::Undelivered { hash } => self.settle_receipt(hash, Err(Undelivered)),
            Event::Packet { destination, data, hash, ratchet, interface } => {
                if let Some(seat) = self.destinations.get_mut(&destination) {
                    seat.receive(ReceivedPacket { data, hash, ratchet, interface });
                }
            }
            // A destination that was registered behind the face's back has no seat: its links are not served here.
            Event::LinkAccepted { link, destination } if self.destinations.contains_key(&destination) => {
                self.links.insert(link, LinkSeat::accepted_for(destination));
            }
            Event::LinkAccepted { .. } => {}
            Event::Announce(announced) => {
                self.announces.publish(&announced);
                self.watchers.wake();
            }
            Event::InterfaceUp { interface } => {
                self.online.insert(interface);
                self.watchers.wake();
            }
            Event::InterfaceDown { interface } => {
                self.online.remove(&interface);
                self.watchers.wake();
            }
            _ => {}
        }
    }

    fn abandon(&mut self, machine: &mut Node, now: Instant) {
        machine.close_links(now);
        self.closing = true;
    }

    fn is_finished(&self, machine: &Node) -> bool {
        self.closing && machine.links().next().is_none()
    }

    fn stopped(&mut self, _machine: &mut Node) {
        self.stopped = true;
        self.receipts.clear();
        self.watchers.wake();
        self.announces.stop();
        self.links.values_mut().for_each(LinkSeat::stop);
        self.destinations.values_mut().for_each(DestinationSeat::stop);
    }
}

/// With so many receipts, those whose futures were dropped are looked for and forgotten.
const SWEEP_RECEIPTS: usize = 4_096;
