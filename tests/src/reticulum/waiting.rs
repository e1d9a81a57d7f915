//! Waiting for what comes of commands.

use proto_rns::{DestinationHash, LinkHash, PacketHash, RequestId, ResourceHash};
use std::{fmt::Debug, time::Duration};

use super::{
    Announce, ChannelMessage, Event, LinkClosed, LinkEstablished, LinkIdentified, LinkPacket, PacketReceived,
    RequestReceived, ResourceReceived, ResourceSent, ResponseReceived, ReticulumPeer,
};
use crate::peers::patience::{PATIENCE, now, pause};

/// Picks the events of one kind that fit.
macro_rules! pick {
    ($kind:ident, $it:ident => $fits:expr) => {
        |event: &Event| match event {
            Event::$kind($it) if $fits => Some($it.clone()),
            _ => None,
        }
    };
}

/// What can be waited for on any node. Events that were not asked for stay for later questions.
///
/// # Panics
/// All methods panic when they wait in vain.
pub trait Waiting: ReticulumPeer {
    /// Waits a while for an event; `None` when it does not come.
    fn event_within<T>(
        &mut self,
        patience: Duration,
        mut pick: impl FnMut(&Event) -> Option<T>,
    ) -> Option<T> {
        let found = self.backlog().iter().enumerate().find_map(|(at, event)| Some((at, pick(event)?)));
        if let Some((at, result)) = found {
            self.backlog().remove(at);
            return Some(result);
        }
        let deadline = now() + patience;
        loop {
            let event = self.next_event(deadline.saturating_duration_since(now()))?;
            if let Some(result) = pick(&event) {
                return Some(result);
            }
            self.backlog().push_back(event);
        }
    }

    /// Waits for an event.
    fn event<T>(&mut self, what: &str, pick: impl FnMut(&Event) -> Option<T>) -> T {
        let found = self.event_within(PATIENCE, pick);
        found.unwrap_or_else(|| panic!("{what} did not come; what came is {:#?}", self.backlog()))
    }

    /// Checks that an event stays away for half a second.
    fn nothing<T: Debug>(&mut self, what: &str, pick: impl FnMut(&Event) -> Option<T>) {
        if let Some(found) = self.event_within(QUIET, pick) {
            panic!("{what} should not have come: {found:#?}");
        }
    }

    /// Waits until its interfaces are up and its servers have clients.
    fn connected(&mut self) {
        let deadline = now() + PATIENCE;
        loop {
            let interfaces = self.interfaces();
            if interfaces.iter().all(|interface| interface.is_up && interface.clients != Some(0)) {
                return;
            }
            assert!(now() < deadline, "not connected: {interfaces:#?}");
            pause(BETWEEN_QUESTIONS);
        }
    }

    /// Waits until it has a path to a destination, and returns how far away that is.
    fn path_to(&mut self, destination: DestinationHash) -> u8 {
        let deadline = now() + PATIENCE;
        loop {
            if let Some(hops) = self.hops_to(destination) {
                return hops;
            }
            assert!(now() < deadline, "no path to {destination}");
            pause(BETWEEN_QUESTIONS);
        }
    }

    /// Waits for an announce of a destination.
    fn announce_of(&mut self, destination: DestinationHash) -> Announce {
        self.event("an announce", pick!(Announce, it => it.destination == destination))
    }

    /// Checks that a destination is not announced for half a second.
    fn no_announce_of(&mut self, destination: DestinationHash) {
        self.nothing("an announce", pick!(Announce, it => it.destination == destination));
    }

    /// Waits for a packet to a destination.
    fn packet_to(&mut self, destination: DestinationHash) -> PacketReceived {
        self.event("a packet", pick!(Packet, it => it.destination == destination))
    }

    /// Checks that no packet arrives at a destination for half a second.
    fn no_packet_to(&mut self, destination: DestinationHash) {
        self.nothing("a packet", pick!(Packet, it => it.destination == destination));
    }

    /// Waits for the fate of a packet, and says whether it was proved in time.
    fn was_proved(&mut self, packet: PacketHash) -> bool {
        self.event("the fate of a packet", pick!(Fate, it => it.packet == packet)).proved
    }

    /// Waits until a packet is proved.
    fn proved(&mut self, packet: PacketHash) {
        assert!(self.was_proved(packet), "{packet} was not proved in time");
    }

    /// Checks that a packet is not proved for half a second.
    fn not_proved(&mut self, packet: PacketHash) {
        self.nothing("a proof", pick!(Fate, it => it.packet == packet && it.proved));
    }

    /// Waits until a link to a destination is open.
    fn link_to(&mut self, destination: DestinationHash) -> LinkEstablished {
        self.event("a link", pick!(LinkEstablished, it => it.destination == destination))
    }

    /// Waits until the other end of a link says who it is.
    fn identified(&mut self, link: LinkHash) -> LinkIdentified {
        self.event("an identity", pick!(LinkIdentified, it => it.link == link))
    }

    /// Waits for a packet on a link.
    fn packet_on(&mut self, link: LinkHash) -> LinkPacket {
        self.event("a packet on a link", pick!(LinkPacket, it => it.link == link))
    }

    /// Waits until a link is closed.
    fn closed(&mut self, link: LinkHash) -> LinkClosed {
        self.event("the end of a link", pick!(LinkClosed, it => it.link == link))
    }

    /// Waits for a request.
    fn request_of(&mut self, request: RequestId) -> RequestReceived {
        self.event("a request", pick!(Request, it => it.request == request))
    }

    /// Checks that a request does not arrive for half a second.
    fn no_request_of(&mut self, request: RequestId) {
        self.nothing("a request", pick!(Request, it => it.request == request));
    }

    /// Waits for the answer to a request.
    fn response_to(&mut self, request: RequestId) -> ResponseReceived {
        self.event("a response", pick!(Response, it => it.request == request))
    }

    /// Waits until a resource that it sends is at least so far, of 1000.
    fn progressed(&mut self, resource: ResourceHash, permille: u16) {
        let far = pick!(ResourceProgress, it => it.resource == resource && it.permille >= permille);
        self.event("progress of a resource", far);
    }

    /// Waits for the outcome of a resource that it sent.
    fn resource_sent(&mut self, resource: ResourceHash) -> ResourceSent {
        self.event("the outcome of a resource", pick!(ResourceSent, it => it.resource == resource))
    }

    /// Waits until it is offered a resource.
    fn resource_offered(&mut self, resource: ResourceHash) {
        self.event("an offer of a resource", pick!(ResourceOffered, it => it.resource == resource));
    }

    /// Waits for the outcome of a resource that it receives.
    fn resource_received(&mut self, resource: ResourceHash) -> ResourceReceived {
        self.event("a resource", pick!(ResourceReceived, it => it.resource == resource))
    }

    /// Waits for a message on the channel of a link.
    fn message_on(&mut self, link: LinkHash) -> ChannelMessage {
        self.event("a message", pick!(ChannelMessage, it => it.link == link))
    }

    /// Waits for `len` bytes in the buffer of a link, and returns them.
    fn buffered(&mut self, link: LinkHash, stream: u16, len: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        while bytes.len() < len {
            let piece = self
                .event("bytes in a buffer", pick!(BufferBytes, it => it.link == link && it.stream == stream));
            bytes.extend(piece.payload);
        }
        bytes
    }

    /// Waits until the other end of a buffer will write no more.
    fn buffer_ended(&mut self, link: LinkHash, stream: u16) {
        self.event("the end of a buffer", pick!(BufferEnded, it => it.link == link && it.stream == stream));
    }
}

impl<P: ReticulumPeer + ?Sized> Waiting for P {}

/// How long something must stay away to be held for absent.
const QUIET: Duration = Duration::from_millis(500);

/// The pause between two questions for a state that no event tells of.
const BETWEEN_QUESTIONS: Duration = Duration::from_millis(20);
