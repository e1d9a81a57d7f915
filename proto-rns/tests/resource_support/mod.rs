//! Two sides of a link with a path of settable quality between them, in virtual time.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "a test fails by panicking"
)]
#![allow(dead_code, reason = "each test file uses a part of it")]

use bytes::Bytes;
use proto_core::{Instant, Rng, UnixTime};
use proto_rns::{
    Env, LinkHash,
    bz2::Bz2,
    crypto::{Dalek, TokenKey},
    resource::{Carrier, Event, Outgoing, ResourceConfig, ResourceId, Resources, Strategy},
    wire::{Context, PacketType, ResourceRequest},
};
use std::{collections::BTreeMap, time::Duration};

/// The quality of the path between the sides.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    /// How long a packet takes.
    pub(crate) latency: Duration,
    /// Up to how much longer.
    pub(crate) jitter: Duration,
    /// Bytes a second.
    pub(crate) rate: u64,
    /// How many of 100 packets are lost.
    pub(crate) loss: u64,
    /// How many of 100 packets come twice.
    pub(crate) duplicates: u64,
}

impl Path {
    pub(crate) const FAST: Self = Self {
        latency: Duration::from_micros(200),
        jitter: Duration::ZERO,
        rate: 500_000_000,
        loss: 0,
        duplicates: 0,
    };
}

/// Two sides.
pub(crate) struct Pair {
    pub(crate) sides: [Side; 2],
    pub(crate) now: Instant,
    path: Path,
    rng: Rng,
    flights: BTreeMap<(Instant, u64), (usize, Sent)>,
    serial: u64,
    /// Everything that left, by sender.
    pub(crate) log: Vec<Departure>,
    /// Decides which packets are lost besides those of the path.
    pub(crate) drops: fn(&[Departure], &Sent) -> bool,
}

/// One side.
pub(crate) struct Side {
    pub(crate) resources: Resources,
    pub(crate) events: Vec<Event>,
    /// Whether events are taken as they come.
    pub(crate) takes_events: bool,
    wire: Wire,
    entropy: Rng,
    key: TokenKey,
    free_at: Instant,
}

/// When a packet left, from which side.
pub(crate) type Departure = (Instant, usize, Sent);

/// A packet of the link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    Sealed(Context, Vec<u8>),
    Raw(PacketType, Context, Vec<u8>),
}

impl Sent {
    pub(crate) fn context(&self) -> Context {
        match self {
            Self::Sealed(context, _) | Self::Raw(_, context, _) => *context,
        }
    }

    pub(crate) fn data(&self) -> &[u8] {
        match self {
            Self::Sealed(_, data) | Self::Raw(_, _, data) => data,
        }
    }
}

impl Pair {
    pub(crate) fn new(mtu: usize, path: Path, configs: [ResourceConfig; 2]) -> Self {
        let rtt = path.latency * 2 + Duration::from_secs(100) / u32::try_from(path.rate.max(100)).unwrap();
        let side = |config| {
            let mut resources = Resources::new(config, LinkHash::new([7; 16]), mtu).unwrap();
            resources.set_rtt(rtt);
            Side {
                resources,
                events: Vec::new(),
                takes_events: true,
                wire: Wire::default(),
                entropy: Rng::from_u64(3),
                key: TokenKey::new(&[5; 64]),
                free_at: Instant::ZERO,
            }
        };
        Self {
            sides: configs.map(side),
            now: Instant::from_millis(1),
            path,
            rng: Rng::from_u64(11),
            flights: BTreeMap::new(),
            serial: 0,
            log: Vec::new(),
            drops: |_, _| false,
        }
    }

    /// Two sides that accept everything.
    pub(crate) fn open(mtu: usize, path: Path) -> Self {
        Self::new(mtu, path, [accepting(), accepting()])
    }

    pub(crate) fn seed(mut self, seed: u64) -> Self {
        self.rng = Rng::from_u64(seed);
        self
    }

    pub(crate) fn send(&mut self, side: usize, outgoing: Outgoing) -> ResourceId {
        self.with(side, |resources, env, key, wire| resources.send(env, key, outgoing, wire)).unwrap()
    }

    /// Runs a step of one side and lets what it sends leave.
    pub(crate) fn with<T>(
        &mut self,
        side: usize,
        step: impl FnOnce(&mut Resources, &mut Env<'_>, &TokenKey, &mut Wire) -> T,
    ) -> T {
        let at = &mut self.sides[side];
        let mut env = Env {
            now: self.now,
            wall: UnixTime::new(Duration::from_secs(1_700_000_000)),
            crypto: &Dalek,
            compression: &Bz2::default(),
            entropy: &mut at.entropy,
        };
        let out = step(&mut at.resources, &mut env, &at.key, &mut at.wire);
        if at.takes_events {
            at.events.extend(std::iter::from_fn(|| at.resources.poll_event()));
        }
        self.depart(side);
        out
    }

    /// Runs until nothing is under way, or for so long.
    pub(crate) fn run(&mut self, limit: Duration) {
        let end = self.now + limit;
        while let Some(at) = self.next_at().filter(|at| *at <= end) {
            self.step(at);
        }
    }

    /// Runs until something is true of the pair.
    pub(crate) fn run_until(&mut self, is_over: impl Fn(&Self) -> bool) {
        while !is_over(self) {
            let at = self.next_at().expect("nothing more happens");
            self.step(at);
        }
    }

    /// Returns what the side received last.
    pub(crate) fn received(&self, side: usize) -> Option<(&Bytes, Option<&Bytes>)> {
        self.sides[side].events.iter().rev().find_map(|event| match event {
            Event::Received { data, metadata, .. } => Some((data, metadata.as_ref())),
            _ => None,
        })
    }

    /// Returns how many parts each request asked for.
    pub(crate) fn windows(&self) -> Vec<usize> {
        let requests = self.log.iter().filter(|(_, _, sent)| sent.context() == Context::ResourceRequest);
        requests.map(|(_, _, sent)| ResourceRequest::parse(sent.data()).unwrap().wanted.len()).collect()
    }

    pub(crate) fn has(&self, side: usize, is: impl Fn(&Event) -> bool) -> bool {
        self.sides[side].events.iter().any(is)
    }

    fn next_at(&self) -> Option<Instant> {
        let flight = self.flights.keys().next().map(|(at, _)| *at);
        let timers = self.sides.iter().filter_map(|side| side.resources.poll_timeout());
        let room = self.sides.iter().filter(|side| side.wire.is_full()).map(|side| side.free_at);
        timers.chain(room).chain(flight).min().map(|at| at.max(self.now))
    }

    fn step(&mut self, at: Instant) {
        self.now = at;
        while let Some(flight) = self.flights.first_entry().filter(|flight| flight.key().0 <= at) {
            let (to, sent) = flight.remove();
            self.deliver(to, &sent);
        }
        for side in 0..2 {
            if self.sides[side].wire.is_full() && self.sides[side].free_at <= at {
                self.sides[side].wire.room = ROOM;
                self.with(side, |resources, env, _, wire| resources.flush(env, wire));
            }
            self.with(side, |resources, env, key, wire| resources.handle_timeout(env, key, wire));
            let next = self.sides[side].resources.poll_timeout();
            assert!(next.is_none_or(|next| next > at), "a deadline that is over at {at:?}: {next:?}");
        }
    }

    fn deliver(&mut self, to: usize, sent: &Sent) {
        self.with(to, |resources, env, key, wire| match sent {
            Sent::Sealed(context, data) => match context {
                Context::ResourceAdvertisement => resources.handle_advertisement(env, data, wire),
                Context::ResourceRequest => resources.handle_request(env, key, data, wire),
                Context::ResourceHashmapUpdate => resources.handle_hashmap_update(env, data, wire),
                Context::ResourceInitiatorCancel => resources.handle_sender_cancel(data),
                Context::ResourceReceiverCancel => resources.handle_receiver_cancel(env, key, data, wire),
                other => panic!("{other:?} sealed"),
            },
            Sent::Raw(PacketType::Data, Context::Resource, part) => {
                resources.handle_part(env, key, part, wire)
            }
            Sent::Raw(PacketType::Proof, Context::ResourceProof, proof) => {
                resources.handle_proof(env, key, proof, wire);
            }
            Sent::Raw(PacketType::Data, Context::CacheRequest, packet) => {
                resources.handle_cache_request(packet, wire);
            }
            other @ Sent::Raw(..) => panic!("{other:?}"),
        });
    }

    fn depart(&mut self, side: usize) {
        for sent in std::mem::take(&mut self.sides[side].wire.sent) {
            let nanos = sent.data().len() as u64 * 1_000_000_000 / self.path.rate;
            let free_at = &mut self.sides[side].free_at;
            *free_at = (*free_at).max(self.now) + Duration::from_nanos(nanos);
            let leaves = *free_at;
            self.log.push((self.now, side, sent.clone()));
            if self.rng.below(100) < self.path.loss || (self.drops)(&self.log, &sent) {
                continue;
            }
            let copies = if self.rng.below(100) < self.path.duplicates { 2 } else { 1 };
            for _ in 0..copies {
                let jitter = self.path.jitter.mul_f64(self.rng.unit());
                self.serial += 1;
                let at = leaves + self.path.latency + jitter;
                self.flights.insert((at, self.serial), (1 - side, sent.clone()));
            }
        }
    }
}

/// A carrier that holds a few packets.
pub(crate) struct Wire {
    sent: Vec<Sent>,
    room: usize,
}

impl Wire {
    fn is_full(&self) -> bool {
        self.room == 0
    }
}

impl Default for Wire {
    fn default() -> Self {
        Self { sent: Vec::new(), room: ROOM }
    }
}

impl Carrier for Wire {
    fn send(&mut self, context: Context, plaintext: &[u8]) {
        self.sent.push(Sent::Sealed(context, plaintext.to_vec()));
    }

    fn send_raw(&mut self, packet_type: PacketType, context: Context, data: &[u8]) {
        self.room = self.room.saturating_sub(data.len());
        self.sent.push(Sent::Raw(packet_type, context, data.to_vec()));
    }

    fn room(&self) -> usize {
        self.room
    }
}

/// Limits that accept everything of moderate size.
pub(crate) fn accepting() -> ResourceConfig {
    ResourceConfig { strategy: Strategy::All, ..ResourceConfig::default() }
}

/// Data that do not compress, different for every length.
pub(crate) fn noise(len: usize) -> Bytes {
    let mut data = vec![0; len];
    Rng::from_u64(len as u64).fill(&mut data);
    data.into()
}

/// Something to send that is not compressed.
pub(crate) fn plain(data: &Bytes) -> Outgoing {
    Outgoing { data: data.clone().into(), ..Outgoing::default() }
}

/// How many bytes of parts leave before a side has to wait.
const ROOM: usize = 20_000;
