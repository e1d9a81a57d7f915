//! A router among interfaces that record what is sent.

use proto_core::{Instant, Rng, UnixTime};
use proto_rns::{
    DestinationHash, Env, IdentityHash, LinkHash, NameHash,
    compression::NoCompression,
    crypto::Dalek,
    identity::{Identity, KnownDestinations},
    iface::{InterfaceId, InterfaceKind, InterfaceProperties, Interfaces, Mode},
    transport::{Announced, DropReason, InterfaceChange, Locals, Router, RouterConfig, Verdict},
    wire::{
        Announce, Context, DestinationType, LinkMode, LinkProof, LinkRequest, OwnedPacket, Packet,
        PacketType, PathRequest, RandomHash, RequestTag, Signalling, TransportType,
    },
};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

/// The wall time at the start.
pub(crate) const WALL: u64 = 1_700_000_000;
/// The monotonic time at the start.
const START: Duration = Duration::from_secs(100);
/// The router's own transport id.
pub(crate) const OWN: IdentityHash = IdentityHash::new([0xee; 16]);
/// Another transport node.
pub(crate) const OTHER: IdentityHash = IdentityHash::new([0xdd; 16]);

/// One router and its surroundings.
pub(crate) struct World {
    pub(crate) router: Router,
    pub(crate) net: Net,
    pub(crate) known: KnownDestinations,
    pub(crate) home: Home,
    pub(crate) now: Duration,
    rng: Rng,
}

/// Interfaces that keep what is sent.
#[derive(Default)]
pub(crate) struct Net {
    pub(crate) interfaces: BTreeMap<u32, InterfaceProperties>,
    sent: Vec<(u32, OwnedPacket)>,
}

/// What is at home.
#[derive(Default)]
pub(crate) struct Home {
    pub(crate) destinations: BTreeSet<DestinationHash>,
    pub(crate) links: BTreeSet<LinkHash>,
}

impl Interfaces for Net {
    fn properties(&self, id: InterfaceId) -> Option<&InterfaceProperties> {
        self.interfaces.get(&id.0)
    }

    fn ids(&self) -> Vec<InterfaceId> {
        self.interfaces.keys().copied().map(InterfaceId).collect()
    }

    fn send(&mut self, to: InterfaceId, packet: &Packet<'_>) {
        self.sent.push((to.0, OwnedPacket::new(packet)));
    }
}

impl Locals for Home {
    fn has_destination(&self, destination: &DestinationHash) -> bool {
        self.destinations.contains(destination)
    }

    fn has_link(&self, link: &LinkHash) -> bool {
        self.links.contains(link)
    }
}

impl World {
    /// A transport node with the interfaces 1, 2 and 3.
    pub(crate) fn transport() -> Self {
        Self::new(true, RouterConfig::default())
    }

    /// A node that forwards for nobody but its local clients, with the interfaces 1, 2 and 3.
    pub(crate) fn endpoint() -> Self {
        Self::new(false, RouterConfig::default())
    }

    pub(crate) fn new(transport: bool, config: RouterConfig) -> Self {
        let router = Router::new(config, OWN, transport, [7; 16]).unwrap();
        let (net, home) = (Net::default(), Home::default());
        let known = KnownDestinations::new(1_000);
        let mut world = Self { router, net, known, home, now: START, rng: Rng::from_u64(1) };
        (1..=3).for_each(|id| world.add(id, |_| {}));
        world
    }

    /// Adds an interface, changed from the ordinary.
    pub(crate) fn add(&mut self, id: u32, change: impl FnOnce(&mut InterfaceProperties)) {
        let mut properties = InterfaceProperties {
            name: format!("TestInterface[{id}]"),
            mode: Mode::Full,
            kind: InterfaceKind::Network,
            bitrate: 10_000_000,
            hardware_mtu: Some(16_384),
            negotiates_mtu: true,
            outgoing: true,
            online: true,
            created: self.at(),
            gravity: None,
            announce_cap: 0.02,
            announce_rate: None,
            announce_ingress: None,
            path_request_ingress: None,
            path_request_egress: None,
            recursive_path_requests: false,
            announces_from_internal: true,
            announces_to_internal: false,
        };
        change(&mut properties);
        self.net.interfaces.insert(id, properties);
        self.change(id, InterfaceChange::Added);
    }

    /// Changes an interface that there is.
    pub(crate) fn set(&mut self, id: u32, change: impl FnOnce(&mut InterfaceProperties)) {
        change(self.net.interfaces.get_mut(&id).unwrap());
    }

    /// Takes an interface away.
    pub(crate) fn remove(&mut self, id: u32) {
        self.net.interfaces.remove(&id);
        self.change(id, InterfaceChange::Removed);
    }

    pub(crate) fn change(&mut self, id: u32, change: InterfaceChange) {
        self.with_env(|router, env, _| router.interface_changed(env, InterfaceId(id), change));
    }

    pub(crate) fn at(&self) -> Instant {
        Instant::ZERO + self.now
    }

    /// The wall time, in seconds.
    pub(crate) fn wall(&self) -> u64 {
        WALL + (self.now - START).as_secs()
    }

    /// Runs something on the router with the present time.
    pub(crate) fn with_env<T>(&mut self, run: impl FnOnce(&mut Router, &mut Env<'_>, &mut Net) -> T) -> T {
        let mut env = env(self.now, &mut self.rng);
        run(&mut self.router, &mut env, &mut self.net)
    }

    /// Receives a packet.
    pub(crate) fn receive<'p>(&mut self, from: u32, packet: &Packet<'p>) -> Verdict<'p> {
        let mut env = env(self.now, &mut self.rng);
        let from = InterfaceId(from);
        self.router.handle_packet(&mut env, from, packet, &self.home, &mut self.known, &mut self.net)
    }

    /// Receives a packet that must change nothing but a counter.
    pub(crate) fn receive_dropped(&mut self, from: u32, packet: &Packet<'_>, reason: DropReason) {
        let before = self.router.stats().dropped(reason);
        assert_eq!(self.receive(from, packet), Verdict::Dropped(reason));
        assert_eq!(self.router.stats().dropped(reason), before + 1);
        assert!(self.sent().is_empty());
    }

    /// Lets time pass, stopping wherever the router wants to.
    pub(crate) fn pass(&mut self, duration: Duration) -> Vec<Announced> {
        let end = self.now + duration;
        let mut announced = Vec::new();
        while let Some(due) = self.router.poll_timeout().filter(|due| *due <= Instant::ZERO + end) {
            self.now = self.now.max(Duration::from_nanos(due.as_nanos()));
            announced.extend(self.timeout());
            assert!(
                self.router.poll_timeout().is_none_or(|next| next > self.at()),
                "the router spins at {:?}",
                self.now
            );
        }
        self.now = end;
        announced
    }

    fn timeout(&mut self) -> Vec<Announced> {
        let mut env = env(self.now, &mut self.rng);
        self.router.handle_timeout(&mut env, &mut self.known, &mut self.net)
    }

    /// Returns what was sent since the last time.
    pub(crate) fn sent(&mut self) -> Vec<(u32, OwnedPacket)> {
        std::mem::take(&mut self.net.sent)
    }

    /// Returns on which interfaces something was sent since the last time.
    pub(crate) fn sent_on(&mut self) -> Vec<u32> {
        self.sent().into_iter().map(|(id, _)| id).collect()
    }

    /// Learns a path to a destination of `owner` over an interface, `hops` away once received here, and forgets what is
    /// sent about it.
    pub(crate) fn learn(&mut self, owner: u8, interface: u32, hops: u8) -> DestinationHash {
        let made = Made::new(owner, self.wall());
        let packet = made.received(hops);
        assert!(matches!(self.receive(interface, &packet), Verdict::Announce(_)));
        self.pass(Duration::from_secs(20));
        self.sent();
        packet.destination
    }
}

/// Returns a router's surroundings at a time.
fn env(now: Duration, rng: &mut Rng) -> Env<'_> {
    let wall = UnixTime::new(Duration::from_secs(WALL) + now - START);
    Env { now: Instant::ZERO + now, wall, crypto: &Dalek, compression: &NoCompression, entropy: rng }
}

/// An announce that somebody made.
pub(crate) struct Made {
    data: Vec<u8>,
    destination: DestinationHash,
}

impl Made {
    /// The announce by the identity number `owner` at `seconds`.
    pub(crate) fn new(owner: u8, seconds: u64) -> Self {
        Self::with_random(owner, seconds, 0)
    }

    /// One of several announces of the same second.
    pub(crate) fn with_random(owner: u8, seconds: u64, random: u8) -> Self {
        let mut blob = [random; 10];
        blob[5..].copy_from_slice(&seconds.to_be_bytes()[3..]);
        let announce = Announce::sign(&identity(owner), NAME, RandomHash::new(blob), None, b"app");
        let mut data = Vec::new();
        announce.emit(&mut data);
        Self { data, destination: announce.destination() }
    }

    /// The packet as it left its owner.
    pub(crate) fn packet(&self) -> Packet<'_> {
        let kind = (PacketType::Announce, DestinationType::Single);
        Packet::new(kind.0, kind.1, self.destination, Context::None, &self.data)
    }

    /// The packet as it arrives, to count `hops` here; from another node if these are more than one.
    pub(crate) fn received(&self, hops: u8) -> Packet<'_> {
        let packet = Packet { hops: hops - 1, ..self.packet() };
        if hops == 1 {
            return packet;
        }
        Packet { transport_type: TransportType::Transport, transport_id: Some(OTHER), ..packet }
    }
}

const NAME: NameHash = NameHash::new([4; 10]);

pub(crate) fn identity(owner: u8) -> Identity {
    Identity::from_bytes(&Dalek, &[owner; 64])
}

/// The destination that `owner` announces.
pub(crate) fn destination(owner: u8) -> DestinationHash {
    NAME.of(identity(owner).hash())
}

/// A packet with data to a single destination.
pub(crate) fn data(to: DestinationHash, data: &[u8]) -> Packet<'_> {
    Packet::new(PacketType::Data, DestinationType::Single, to, Context::None, data)
}

/// The same packet with the header for a transport node.
pub(crate) fn via<'p>(id: IdentityHash, packet: Packet<'p>) -> Packet<'p> {
    Packet { transport_type: TransportType::Transport, transport_id: Some(id), ..packet }
}

/// A path request's data.
pub(crate) fn request(to: DestinationHash, requester: Option<IdentityHash>, tag: u8) -> Vec<u8> {
    let mut data = Vec::new();
    let tag = RequestTag::from_prefix(&[tag; 16]).unwrap();
    PathRequest { destination: to, requester, tag }.emit(&mut data);
    data
}

/// A link's request and the proof by its destination's `owner`.
pub(crate) struct Handshake {
    pub(crate) request: Vec<u8>,
    pub(crate) proof: Vec<u8>,
    pub(crate) link: LinkHash,
}

impl Handshake {
    pub(crate) fn new(owner: u8, number: u8, mtu: Option<usize>) -> Self {
        let signalling = mtu.map(|mtu| Signalling { mode: LinkMode::Aes256Cbc, mtu });
        let request = LinkRequest { agreement_key: [number; 32], verifying_key: [number; 32], signalling };
        let mut request_data = Vec::new();
        request.emit(&mut request_data);
        let link = LinkRequest::link_of(&link_request(destination(owner), &request_data));
        let identity = identity(owner);
        let signed = LinkProof::signed(link, &[9; 32], identity.public().verifying_key(), signalling);
        let proof = LinkProof { signature: identity.sign(&signed), agreement_key: [9; 32], signalling };
        let mut proof_data = Vec::new();
        proof.emit(&mut proof_data);
        Self { request: request_data, proof: proof_data, link }
    }

    /// The proof's packet, to count `hops` on arrival.
    pub(crate) fn proof(&self, hops: u8) -> Packet<'_> {
        let to = DestinationHash::from(self.link);
        let kind = (PacketType::Proof, DestinationType::Link);
        let packet = Packet::new(kind.0, kind.1, to, Context::LinkRequestProof, &self.proof);
        Packet { hops: hops - 1, ..packet }
    }

    /// A packet of the link, to count `hops` on arrival.
    pub(crate) fn traffic<'p>(&self, hops: u8, context: Context, data: &'p [u8]) -> Packet<'p> {
        let to = DestinationHash::from(self.link);
        let packet = Packet::new(PacketType::Data, DestinationType::Link, to, context, data);
        Packet { hops: hops - 1, ..packet }
    }
}

/// A packet that asks for a link.
pub(crate) fn link_request(to: DestinationHash, data: &[u8]) -> Packet<'_> {
    Packet::new(PacketType::LinkRequest, DestinationType::Single, to, Context::None, data)
}
