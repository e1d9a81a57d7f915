//! Iolite as a running node: the machine of `proto-rns` on the driver that applications use, with a face of its own.
//!
//! ```text
//! test --> Iolite --with--> Mutex{Node, Desk} <-- Driver     (both on a thread of tokio's)
//!             ^                        |   ^
//!             |                        v   |
//!             +---- what to tell ---- attendant
//! ```

#![allow(clippy::wildcard_enum_match_arm, reason = "a scenario looks at the events that it is about")]

mod answers;
mod attendant;
mod desk;
mod host;
mod keeper;
mod resources;
mod settings;
mod sharing;

use proto_rns::{
    DestinationHash, Env, IdentityHash, LinkHash, PacketHash, RequestId, ResourceHash,
    crypto::Dalek,
    dest::{DestinationName, GroupKey, LocalDestination},
    identity::Identity,
    link::{ChannelError, Link, PacketSink},
    wire::{MessageType, StreamId, msgpack::Writer},
};
use std::{
    collections::{BTreeMap, VecDeque},
    sync::mpsc::Receiver,
    time::Duration,
};

use super::{
    BufferStreams, Config, Content, DestinationKind, DestinationSpec, Direction, Event, InterfaceStatus,
    ReticulumPeer,
};
use crate::peers::until;
use host::Host;
use keeper::Keeper;

/// A running node of ours. Dropped, it closes its links and ends.
#[derive(Debug)]
pub struct Iolite {
    host: Host,
    events: Receiver<Event>,
    /// What it told that nobody has asked for yet.
    backlog: VecDeque<Event>,
    identities: BTreeMap<IdentityHash, Identity>,
    /// The destinations of which it has the sending end.
    others: BTreeMap<DestinationHash, Other>,
}

/// What it takes to send to a destination.
#[derive(Debug)]
enum Other {
    /// What the node knows.
    Single,
    /// The key that all members have.
    Group(GroupKey),
    /// Nothing.
    Plain,
}

impl Iolite {
    /// Starts a node.
    ///
    /// # Panics
    /// The configuration has something that this does not know, or the node does not start.
    pub fn start(config: &Config) -> Self {
        let (host, events) = Host::start(config);
        let (backlog, identities, others) = Default::default();
        Self { host, events, backlog, identities, others }
    }

    fn keep(&mut self, secret: &[u8; 64]) -> IdentityHash {
        let identity = Identity::from_bytes(&Dalek, secret);
        let hash = identity.hash();
        self.identities.insert(hash, identity);
        hash
    }

    fn stream(&self, link: LinkHash) -> StreamId {
        self.host.with(|_, desk, _| desk.streams.get(&link).copied()).expect("an open buffer")
    }

    fn create_own(&self, spec: &DestinationSpec, name: DestinationName) -> DestinationHash {
        let identity = spec.identity.and_then(|hash| self.identities.get(&hash));
        let mut own = match spec.kind {
            DestinationKind::Single => LocalDestination::single(name, identity.expect("an identity").clone()),
            DestinationKind::Group(key) => {
                LocalDestination::group(name, identity, GroupKey::from_bytes(&key))
            }
            DestinationKind::Plain => LocalDestination::plain(name),
        };
        let keeper = Keeper::of(spec, &mut own);
        self.host.with(|node, desk, now| {
            desk.keepers.insert(own.hash(), keeper);
            node.register(now, own).expect("room for a destination")
        })
    }

    fn create_other(&mut self, spec: &DestinationSpec, name: &DestinationName) -> DestinationHash {
        let of_somebody = || name.of(spec.identity.expect("an identity"));
        let (hash, other) = match spec.kind {
            DestinationKind::Single => (of_somebody(), Other::Single),
            DestinationKind::Group(key) => (of_somebody(), Other::Group(GroupKey::from_bytes(&key))),
            DestinationKind::Plain => (name.of_nobody(), Other::Plain),
        };
        self.others.insert(hash, other);
        hash
    }

    /// Gives a link a command.
    fn with_link<T>(
        &self,
        link: LinkHash,
        command: impl FnOnce(&mut Link, &mut Env<'_>, &mut dyn PacketSink) -> T,
    ) -> T {
        self.host.with(|node, _, now| node.with_link(now, link, command)).expect("an open link")
    }

    /// Gives the channel of a link something as soon as there is room.
    fn with_channel<T>(
        &self,
        link: LinkHash,
        mut command: impl FnMut(&mut Link, &mut Env<'_>, &mut dyn PacketSink) -> Result<T, ChannelError>,
    ) -> T {
        let done = until(|| match self.with_link(link, &mut command) {
            Err(ChannelError::Full) => None,
            done => Some(done.expect("a channel that works")),
        });
        done.expect("room on a channel")
    }
}

impl ReticulumPeer for Iolite {
    fn create_identity(&mut self) -> IdentityHash {
        self.keep(&host::random())
    }

    fn load_identity(&mut self, private_key: &[u8; 64]) -> IdentityHash {
        self.keep(private_key)
    }

    fn create_destination(&mut self, spec: &DestinationSpec) -> DestinationHash {
        let name = DestinationName::parse(&spec.name).expect("a name");
        match spec.direction {
            Direction::In => self.create_own(spec, name),
            Direction::Out => self.create_other(spec, &name),
        }
    }

    fn announce(&mut self, destination: DestinationHash, app_data: Option<&[u8]>) {
        let announced = self.host.with(|node, _, now| node.announce(now, destination, app_data));
        announced.expect("an own destination");
    }

    fn request_path(&mut self, destination: DestinationHash) {
        self.host.with(|node, _, now| node.request_path(now, destination));
    }

    fn hops_to(&mut self, destination: DestinationHash) -> Option<u8> {
        self.host.read(|node| node.router().hops_to(destination))
    }

    fn send_packet(&mut self, destination: DestinationHash, payload: &[u8]) -> PacketHash {
        let other = self.others.get(&destination).expect("the sending end of a destination");
        let sent = self.host.with(|node, _, now| match other {
            Other::Single => node.send(now, destination, payload),
            Other::Group(key) => node.send_to_group(now, destination, key, payload),
            Other::Plain => node.send_plain(now, destination, payload),
        });
        sent.expect("a packet that can be sent")
    }

    fn open_link(&mut self, destination: DestinationHash) -> LinkHash {
        let opened = self.host.with(|node, _, now| node.open_link(now, destination, None));
        opened.expect("a known destination")
    }

    fn identify(&mut self, link: LinkHash, identity: IdentityHash) {
        let identity = self.identities.get(&identity).expect("an own identity");
        self.with_link(link, |link, env, out| link.identify(env, identity, out)).expect("an initiator");
    }

    fn close_link(&mut self, link: LinkHash) {
        self.with_link(link, |link, env, out| link.close(env, out));
    }

    fn send_on_link(&mut self, link: LinkHash, payload: &[u8]) -> PacketHash {
        self.with_link(link, |link, env, out| link.send(env, payload, out)).expect("an established link")
    }

    fn request(&mut self, link: LinkHash, path: &str, body: Content) -> RequestId {
        let mut data = Vec::new();
        Writer::new(&mut data).bytes(&body.bytes());
        let asked = self.with_link(link, |link, env, out| link.request(env, path, &data, None, None, out));
        asked.expect("an established link")
    }

    fn send_resource(&mut self, link: LinkHash, content: Content, note: Option<&[u8]>) -> ResourceHash {
        let metadata = note.map(|note| {
            let mut metadata = Vec::new();
            Writer::new(&mut metadata).map(1).str("note").bytes(note);
            metadata
        });
        let data = content.bytes();
        let sent = self.with_link(link, |link, env, out| link.send_resource(env, data, metadata, true, out));
        let id = sent.expect("an established link");
        // A resource has its hash once those before it are through.
        let hash = until(|| self.host.with(|_, desk, _| desk.resources.hash(link, id)));
        hash.expect("the turn of a resource")
    }

    fn cancel_resource(&mut self, resource: ResourceHash) {
        let (link, id) =
            self.host.with(|_, desk, _| desk.resources.find(resource)).expect("a resource under way");
        self.with_link(link, |link, env, out| link.cancel_resource(env, id, out))
            .expect("a resource under way");
    }

    fn open_channel(&mut self, link: LinkHash) {
        self.with_link(link, |link, _, _| link.open_channel()).expect("an established link");
    }

    fn send_message(&mut self, link: LinkHash, payload: &[u8]) {
        self.with_channel(link, |link, env, out| link.channel_send(env, MESSAGE, payload, out));
    }

    fn open_buffer(&mut self, link: LinkHash, streams: BufferStreams) {
        self.open_channel(link);
        let send = StreamId::new(streams.send).expect("the number of a stream");
        self.host.with(|_, desk, _| desk.streams.insert(link, send));
    }

    fn write_buffer(&mut self, link: LinkHash, content: Content) {
        let stream = self.stream(link);
        let bytes = content.bytes();
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            let written = self.with_channel(link, |link, env, out| link.stream_write(env, stream, rest, out));
            rest = &rest[written..];
        }
    }

    fn close_buffer(&mut self, link: LinkHash) {
        let stream = self.stream(link);
        self.with_channel(link, |link, env, out| link.stream_close(env, stream, out));
    }

    fn interfaces(&mut self) -> Vec<InterfaceStatus> {
        self.host.read(settings::interfaces)
    }

    fn next_event(&mut self, patience: Duration) -> Option<Event> {
        self.events.recv_timeout(patience).ok()
    }

    fn backlog(&mut self) -> &mut VecDeque<Event> {
        &mut self.backlog
    }
}

/// The type of the messages of every channel.
const MESSAGE: MessageType = MessageType(0x0101);
