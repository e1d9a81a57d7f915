//! The face of the node, and what follows from each event: something to tell, something that a destination does by
//! itself.

use proto_core::Instant;
use proto_rns::{
    DestinationHash, LinkHash,
    link::{self, CloseReason, StreamRead},
    node::{self, Node},
    resource,
    transport::Announced,
    wire::{
        StreamId,
        msgpack::{Reader, Value},
    },
};
use runtime_core::Face;
use std::{
    collections::BTreeMap,
    sync::mpsc::{Receiver, Sender, channel},
};
use tokio::sync::mpsc::UnboundedSender;

use super::{answers::Owed, keeper::Keeper, resources::Resources};
use crate::reticulum::{
    Announce, BufferBytes, BufferEnded, ChannelMessage, Closure, Event, Fingerprint, LinkClosed,
    LinkEstablished, LinkIdentified, LinkPacket, PacketFate, PacketReceived, RequestFailed, RequestProgress,
    RequestReceived, ResourceOffered, ResponseReceived,
};

/// What the driver and the test have in common, besides the node.
#[derive(Debug)]
pub(super) struct Desk {
    /// To the [attendant](super::attendant), who can give commands because of what happens.
    happened: UnboundedSender<node::Event>,
    /// To the test.
    told: Sender<Event>,
    /// Who stands for each own destination.
    pub(super) keepers: BTreeMap<DestinationHash, Keeper>,
    /// The resources of all links.
    pub(super) resources: Resources,
    /// The stream that the buffer of each link writes.
    pub(super) streams: BTreeMap<LinkHash, StreamId>,
    abandoned: bool,
}

impl Desk {
    /// Creates the face, and returns what a test will be told.
    pub(super) fn new(happened: UnboundedSender<node::Event>) -> (Self, Receiver<Event>) {
        let (told, events) = channel();
        let (keepers, resources, streams) = Default::default();
        (Self { happened, told, keepers, resources, streams, abandoned: false }, events)
    }

    fn tell(&self, event: Event) {
        // A test that has ended does not listen any more.
        drop(self.told.send(event));
    }

    /// Does and tells what follows from an event, and returns the answer where one is owed.
    #[allow(clippy::wildcard_enum_match_arm, reason = "a test asks for the state of interfaces")]
    pub(super) fn handle(&mut self, node: &mut Node, now: Instant, event: node::Event) -> Option<Owed> {
        self.resources.name_outgoing(node);
        match event {
            node::Event::Announce(announced) => self.tell(Event::Announce(announce(&announced))),
            node::Event::Packet { destination, data, hash, ratchet, interface } => {
                if self.keepers.get(&destination).is_some_and(|keeper| keeper.wishes_to_prove(&data)) {
                    node.prove(now, destination, hash, interface);
                }
                self.tell(Event::Packet(PacketReceived { destination, payload: data.into(), ratchet }));
            }
            node::Event::Delivered { hash, .. } => self.tell_fate(hash, true),
            node::Event::Undelivered { hash } => self.tell_fate(hash, false),
            node::Event::Link { link, event } => return self.handle_link(node, now, link, event),
            _ => {}
        }
        None
    }

    #[allow(clippy::wildcard_enum_match_arm, reason = "no test asks for the rest")]
    fn handle_link(
        &mut self,
        node: &mut Node,
        now: Instant,
        link: LinkHash,
        event: link::Event,
    ) -> Option<Owed> {
        match event {
            link::Event::Established { .. } => {
                if let Some(open) = node.link(link) {
                    let (destination, mtu, mdu) = (open.destination(), open.mtu(), open.mdu());
                    self.tell(Event::LinkEstablished(LinkEstablished { link, destination, mtu, mdu }));
                }
            }
            link::Event::Identified { identity } => {
                self.tell(Event::LinkIdentified(LinkIdentified { link, identity: identity.hash() }));
            }
            link::Event::Data { hash, data } => {
                if self.keeper_of(node, link).is_some_and(|keeper| keeper.wishes_to_prove(&data)) {
                    // A link that has closed since proves nothing.
                    let _ = node.with_link(now, link, |link, env, out| link.prove(env, hash, out));
                }
                self.tell(Event::LinkPacket(LinkPacket { link, payload: data.into() }));
            }
            link::Event::Delivered { hash, .. } => self.tell_fate(hash, true),
            link::Event::Undelivered { hash } => self.tell_fate(hash, false),
            link::Event::Request { id, path, data, identity, .. } => {
                let identity = identity.map(|identity| identity.hash());
                let answer = self.keeper_of(node, link).and_then(|keeper| keeper.answer(&path));
                let body = fingerprint(&data);
                self.tell(Event::Request(RequestReceived { link, request: id, path, body, identity }));
                return answer.map(|answer| Owed { link, request: id, data, answer });
            }
            link::Event::Response { id, data } => {
                let body = fingerprint(&data);
                self.tell(Event::Response(ResponseReceived { request: id, body, file_name: None }));
            }
            link::Event::ResponseFile { id, data, metadata } => {
                let (body, file_name) = (Fingerprint::of(&data), bytes_in(&metadata, "name"));
                self.tell(Event::Response(ResponseReceived { request: id, body, file_name }));
            }
            link::Event::ResponseProgress { id, received, total } => {
                let permille = permille(received, total);
                self.tell(Event::RequestProgress(RequestProgress { request: id, permille }));
            }
            link::Event::RequestFailed { id, .. } => {
                self.tell(Event::RequestFailed(RequestFailed { request: id }));
            }
            link::Event::Message { data, .. } => {
                self.tell(Event::ChannelMessage(ChannelMessage { link, payload: data.into() }));
            }
            link::Event::StreamReadable { stream } => self.read_stream(node, now, link, stream),
            link::Event::Resource(resource::Event::Offered(offer)) => {
                self.consider(node, now, link, &offer);
            }
            link::Event::Resource(event) => {
                if let Some(event) = self.resources.event(link, event) {
                    self.tell(event);
                }
            }
            link::Event::Closed { reason } => {
                self.tell(Event::LinkClosed(LinkClosed { link, closure: closure(reason) }));
            }
            _ => {}
        }
        None
    }

    /// Takes or refuses a resource.
    fn consider(&mut self, node: &mut Node, now: Instant, link: LinkHash, offer: &resource::Offer) {
        let size = usize::try_from(offer.total_size).expect("a resource that fits into memory");
        let wanted = self.keeper_of(node, link).is_none_or(|keeper| keeper.takes_resource(size));
        if wanted {
            self.resources.offered(link, offer);
            self.tell(Event::ResourceOffered(ResourceOffered { link, resource: offer.hash, size }));
        }
        // An offer that was taken back needs no answer.
        let _ = node.with_link(now, link, |link, env, out| {
            if wanted {
                link.accept_resource(env, offer.id, out)
            } else {
                link.reject_resource(env, offer.id, out)
            }
        });
    }

    fn read_stream(&self, node: &mut Node, now: Instant, link: LinkHash, stream: StreamId) {
        while let Some(read) = node.with_link(now, link, |link, _, _| link.stream_read(stream)) {
            let number = stream.get();
            match read {
                StreamRead::Data(data) => {
                    let payload = data.into();
                    self.tell(Event::BufferBytes(BufferBytes { link, stream: number, payload }));
                }
                StreamRead::End => {
                    return self.tell(Event::BufferEnded(BufferEnded { link, stream: number }));
                }
                StreamRead::Empty => return,
            }
        }
    }

    fn tell_fate(&self, packet: proto_rns::PacketHash, proved: bool) {
        self.tell(Event::Fate(PacketFate { packet, proved }));
    }

    /// Returns who stands for the destination of a link that somebody opened.
    fn keeper_of(&self, node: &Node, link: LinkHash) -> Option<&Keeper> {
        self.keepers.get(&node.link(link)?.destination())
    }
}

impl Face<Node> for Desk {
    fn event(&mut self, event: node::Event) {
        // At its end a node has no attendant any more.
        drop(self.happened.send(event));
    }

    fn prepare(&mut self, node: &mut Node, _now: Instant) {
        self.resources.name_outgoing(node);
    }

    fn abandon(&mut self, node: &mut Node, now: Instant) {
        node.close_links(now);
        self.abandoned = true;
    }

    fn is_finished(&self, node: &Node) -> bool {
        self.abandoned && node.links().next().is_none()
    }

    fn stopped(&mut self, _node: &mut Node) {}
}

fn announce(announced: &Announced) -> Announce {
    Announce {
        destination: announced.destination,
        identity: announced.identity.hash(),
        app_data: (!announced.app_data.is_empty()).then(|| announced.app_data.to_vec()),
        hops: announced.hops,
        path_response: announced.path_response,
    }
}

const fn closure(reason: CloseReason) -> Closure {
    match reason {
        CloseReason::NotEstablished | CloseReason::Timeout => Closure::Timeout,
        CloseReason::InitiatorClosed => Closure::ByInitiator,
        CloseReason::DestinationClosed => Closure::ByDestination,
        _ => Closure::Unknown,
    }
}

/// Takes the fingerprint of bytes in MessagePack; nil stands for none.
fn fingerprint(value: &[u8]) -> Fingerprint {
    let bytes = Reader::new(value).optional_bytes().expect("bytes or nil");
    Fingerprint::of(bytes.unwrap_or_default())
}

/// Returns the bytes of an entry of a map in MessagePack.
pub(super) fn bytes_in(map: &[u8], key: &str) -> Option<Vec<u8>> {
    match Value::parse(map).ok()?.get(key)? {
        Value::Bytes(bytes) => Some(bytes.to_vec()),
        _ => None,
    }
}

/// Returns how much of a whole there is, of 1000.
pub(super) fn permille(done: u64, total: u64) -> u16 {
    let share = done.saturating_mul(1_000) / total.max(1);
    u16::try_from(share.min(1_000)).expect("at most 1000")
}
