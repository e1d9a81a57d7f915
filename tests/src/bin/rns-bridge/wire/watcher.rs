//! The face of a node: it remembers what happened, and does what destinations do by themselves.

use proto_core::Instant;
use proto_rns::{
    DestinationHash, LinkHash, PacketHash, RequestId,
    identity::PublicIdentity,
    link::{self, CloseReason, LinkState, StreamRead},
    node::{self, Node},
    resource::{self, FailReason, ResourceId},
    wire::{StreamId, msgpack::Reader},
};
use runtime_core::Face;
use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};
use tokio::sync::mpsc::UnboundedSender;

/// What happened at a node so far.
#[derive(Debug)]
pub(super) struct Watcher {
    arrived: VecDeque<node::Event>,
    owed: UnboundedSender<Owed>,
    /// Says that something arrived: a driver gives commands that follow from an event only when it wakes again.
    woken: UnboundedSender<()>,
    left: bool,
    /// Packets to the node's destinations that nobody took yet.
    pub(super) packets: Vec<(DestinationHash, Vec<u8>)>,
    /// What became of the packets that were sent.
    pub(super) fates: BTreeMap<PacketHash, bool>,
    pub(super) links: BTreeMap<LinkHash, LinkLog>,
    /// The links that others opened, in their order.
    pub(super) accepted: Vec<LinkHash>,
    pub(super) listeners: BTreeMap<DestinationHash, Listener>,
    /// Who asked for which path of a destination.
    pub(super) requests: Vec<RequestLog>,
}

/// A destination that the suite listens at.
#[derive(Debug, Default)]
pub(super) struct Listener {
    pub(super) opens_channel: bool,
    /// Packets that begin with a one are proved, where the application decides.
    pub(super) decides_proofs: bool,
    /// The longest resource that is taken, where the application decides.
    pub(super) longest_resource: Option<u64>,
    pub(super) answers: BTreeMap<String, Reply>,
}

/// What a request gets: one MessagePack value, or a file.
#[derive(Clone, Debug)]
pub(super) enum Reply {
    Value(Vec<u8>),
    File { data: Vec<u8>, metadata: Vec<u8> },
}

/// What happened on one link.
#[derive(Debug)]
pub(super) struct LinkLog {
    pub(super) destination: DestinationHash,
    pub(super) established: Option<Duration>,
    pub(super) closed: Option<CloseReason>,
    pub(super) identity: Option<PublicIdentity>,
    pub(super) data: Vec<Vec<u8>>,
    pub(super) messages: Vec<Vec<u8>>,
    pub(super) streams: BTreeMap<StreamId, StreamLog>,
    pub(super) incoming: Vec<IncomingLog>,
    pub(super) outgoing: BTreeMap<ResourceId, Option<Result<(), FailReason>>>,
    pub(super) responses: BTreeMap<RequestId, Response>,
}

#[derive(Debug, Default)]
pub(super) struct StreamLog {
    pub(super) data: Vec<u8>,
    pub(super) ended: bool,
}

#[derive(Debug)]
pub(super) struct IncomingLog {
    pub(super) id: ResourceId,
    pub(super) state: IncomingState,
    /// Whether the suite has fetched the data.
    pub(super) fetched: bool,
}

#[derive(Debug)]
pub(super) enum IncomingState {
    Arriving,
    Complete { data: Vec<u8>, metadata: Option<Vec<u8>> },
    Failed(FailReason),
}

#[derive(Clone, Debug)]
pub(super) enum Response {
    Value(Vec<u8>),
    File { data: Vec<u8>, metadata: Vec<u8> },
    Failed,
}

#[derive(Debug)]
pub(super) struct RequestLog {
    pub(super) destination: DestinationHash,
    pub(super) path: String,
    pub(super) data: Vec<u8>,
    pub(super) request: RequestId,
    pub(super) link: LinkHash,
    pub(super) identity: Option<PublicIdentity>,
    pub(super) requested_at: f64,
}

/// An answer that a peer waits for.
#[derive(Debug)]
pub(super) struct Owed {
    link: LinkHash,
    request: RequestId,
    reply: Reply,
}

impl Watcher {
    pub(super) const fn new(owed: UnboundedSender<Owed>, woken: UnboundedSender<()>) -> Self {
        Self {
            arrived: VecDeque::new(),
            owed,
            woken,
            left: false,
            packets: Vec::new(),
            fates: BTreeMap::new(),
            links: BTreeMap::new(),
            accepted: Vec::new(),
            listeners: BTreeMap::new(),
            requests: Vec::new(),
        }
    }

    /// Ends the node.
    pub(super) fn leave(&mut self, node: &mut Node, now: Instant) {
        node.close_links(now);
        self.left = true;
    }

    /// Heeds what has arrived.
    pub(super) fn catch_up(&mut self, node: &mut Node, now: Instant) {
        while let Some(event) = self.arrived.pop_front() {
            self.on_event(node, now, event);
        }
    }

    /// Begins to watch a link.
    pub(super) fn watch(&mut self, link: LinkHash, destination: DestinationHash) {
        self.links.insert(link, LinkLog::new(destination));
    }

    /// Returns the links to a destination of this node.
    pub(super) fn links_to(
        &self,
        destination: DestinationHash,
    ) -> impl Iterator<Item = (LinkHash, &LinkLog)> {
        self.accepted
            .iter()
            .filter_map(|link| Some((*link, self.links.get(link)?)))
            .filter(move |(_, log)| log.destination == destination)
    }

    #[allow(clippy::wildcard_enum_match_arm, reason = "the suite asks for the state of interfaces")]
    fn on_event(&mut self, node: &mut Node, now: Instant, event: node::Event) {
        match event {
            node::Event::Packet { destination, data, hash, interface, .. } => {
                if self.decides_to_prove(destination, &data) {
                    node.prove(now, destination, hash, interface);
                }
                self.packets.push((destination, data.into()));
            }
            node::Event::Delivered { hash, .. } => _ = self.fates.insert(hash, true),
            node::Event::Undelivered { hash } => _ = self.fates.insert(hash, false),
            node::Event::LinkAccepted { link, destination } => {
                self.watch(link, destination);
                self.accepted.push(link);
            }
            node::Event::Link { link, event } => self.on_link_event(node, now, link, event),
            _ => {}
        }
    }

    #[allow(clippy::wildcard_enum_match_arm, reason = "the suite does not ask for the rest")]
    fn on_link_event(&mut self, node: &mut Node, now: Instant, link: LinkHash, event: link::Event) {
        let destination = self.links.get(&link).map(|log| log.destination);
        let listener = destination.and_then(|destination| self.listeners.get(&destination));
        if let link::Event::Established { .. } = event
            && listener.is_some_and(|listener| listener.opens_channel)
        {
            _ = node.with_link(now, link, |link, _, _| link.open_channel());
        }
        if let link::Event::Resource(resource::Event::Offered(offer)) = &event {
            let wanted = listener
                .and_then(|listener| listener.longest_resource)
                .is_none_or(|longest| offer.total_size <= longest);
            _ = node.with_link(now, link, |link, env, out| {
                if wanted {
                    link.accept_resource(env, offer.id, out)
                } else {
                    link.reject_resource(env, offer.id, out)
                }
            });
            if !wanted {
                return;
            }
        }
        if let link::Event::Data { hash, data } = &event
            && destination.is_some_and(|destination| self.decides_to_prove(destination, data))
        {
            let hash = *hash;
            _ = node.with_link(now, link, |link, env, out| link.prove(env, hash, out));
        }
        if let (link::Event::Request { id, path, data, requested_at, identity, .. }, Some(destination)) =
            (&event, destination)
        {
            let reply = listener.and_then(|listener| listener.answers.get(path)).cloned();
            if let Some(reply) = reply {
                _ = self.owed.send(Owed { link, request: *id, reply });
            }
            self.requests.push(RequestLog {
                destination,
                path: path.clone(),
                data: bytes_of(data),
                request: *id,
                link,
                identity: *identity,
                requested_at: *requested_at,
            });
        }
        match &event {
            link::Event::Delivered { hash, .. } => _ = self.fates.insert(*hash, true),
            link::Event::Undelivered { hash } => _ = self.fates.insert(*hash, false),
            _ => {}
        }
        let Some(log) = self.links.get_mut(&link) else { return };
        if let link::Event::StreamReadable { stream } = event {
            let read = log.streams.entry(stream).or_default();
            while let Some(piece) = node.with_link(now, link, |link, _, _| link.stream_read(stream)) {
                match piece {
                    StreamRead::Data(data) => read.data.extend_from_slice(&data),
                    StreamRead::End => {
                        read.ended = true;
                        break;
                    }
                    StreamRead::Empty => break,
                }
            }
            return;
        }
        log.on_event(event);
    }

    fn decides_to_prove(&self, destination: DestinationHash, data: &[u8]) -> bool {
        let listener = self.listeners.get(&destination);
        listener.is_some_and(|listener| listener.decides_proofs) && data.first() == Some(&1)
    }
}

impl Face<Node> for Watcher {
    fn event(&mut self, event: node::Event) {
        self.arrived.push_back(event);
        _ = self.woken.send(());
    }

    fn prepare(&mut self, node: &mut Node, now: Instant) {
        self.catch_up(node, now);
    }

    fn is_finished(&self, node: &Node) -> bool {
        self.left && node.links().next().is_none()
    }

    fn stopped(&mut self, _node: &mut Node) {}
}

impl LinkLog {
    const fn new(destination: DestinationHash) -> Self {
        Self {
            destination,
            established: None,
            closed: None,
            identity: None,
            data: Vec::new(),
            messages: Vec::new(),
            streams: BTreeMap::new(),
            incoming: Vec::new(),
            outgoing: BTreeMap::new(),
            responses: BTreeMap::new(),
        }
    }

    #[allow(clippy::wildcard_enum_match_arm, reason = "the suite does not ask for the rest")]
    fn on_event(&mut self, event: link::Event) {
        match event {
            link::Event::Established { rtt } => self.established = Some(rtt),
            link::Event::Identified { identity } => self.identity = Some(identity),
            link::Event::Data { data, .. } => self.data.push(data.into()),
            link::Event::Message { data, .. } => self.messages.push(data.into()),
            link::Event::Response { id, data } => {
                _ = self.responses.insert(id, Response::Value(bytes_of(&data)))
            }
            link::Event::ResponseFile { id, data, metadata } => {
                let response = Response::File { data: data.into(), metadata: bytes_of(&metadata) };
                self.responses.insert(id, response);
            }
            link::Event::RequestFailed { id, .. } => {
                self.responses.insert(id, Response::Failed);
            }
            link::Event::Resource(event) => self.on_resource(event),
            link::Event::Closed { reason } => self.closed = Some(reason),
            _ => {}
        }
    }

    fn on_resource(&mut self, event: resource::Event) {
        match event {
            resource::Event::Offered(offer) => self.arriving(offer.id),
            resource::Event::Started { .. } | resource::Event::Progress { .. } => {}
            resource::Event::Received { id, data, metadata, .. } => {
                let metadata = metadata.map(|metadata| bytes_of(&metadata));
                self.arrived(id, IncomingState::Complete { data: data.into(), metadata });
            }
            resource::Event::SegmentReceived { .. } => {}
            resource::Event::Sent { id, .. } => _ = self.outgoing.insert(id, Some(Ok(()))),
            resource::Event::Failed { id, reason, .. } => match self.outgoing.get_mut(&id) {
                Some(outgoing) => *outgoing = Some(Err(reason)),
                None => self.arrived(id, IncomingState::Failed(reason)),
            },
        }
    }

    fn arriving(&mut self, id: ResourceId) {
        self.incoming.push(IncomingLog { id, state: IncomingState::Arriving, fetched: false });
    }

    fn arrived(&mut self, id: ResourceId, state: IncomingState) {
        match self.incoming.iter_mut().find(|known| known.id == id) {
            Some(known) => known.state = state,
            None => self.incoming.push(IncomingLog { id, state, fetched: false }),
        }
    }
}

impl Owed {
    pub(super) fn send(self, node: &mut Node, now: Instant) {
        // A link that has closed since carries no answer.
        _ = node.with_link(now, self.link, |link, env, out| match self.reply {
            Reply::Value(value) => link.respond(env, self.request, &value, out),
            Reply::File { data, metadata } => {
                link.respond_with_file(env, self.request, data.into(), metadata, out)
            }
        });
    }
}

/// Returns the number by which the reference names a state.
pub(super) const fn state_number(state: LinkState) -> u8 {
    match state {
        LinkState::Pending => 0,
        LinkState::Handshake => 1,
        LinkState::Active => 2,
        LinkState::Stale => 3,
        LinkState::Closed => 4,
    }
}

/// Returns the bytes in a MessagePack value; none where it is another.
fn bytes_of(value: &[u8]) -> Vec<u8> {
    Reader::new(value).optional_bytes().ok().flatten().unwrap_or_default().to_vec()
}
