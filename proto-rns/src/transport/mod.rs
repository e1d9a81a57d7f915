//! The router: what happens to packets that are not, or not only, for this node (spec 1.6 to 1.8, 1.14).
//!
//! [`Router`] is a machine without links of its own: it is given packets and sends packets through
//! [`Interfaces`]. What it remembers is in one table a file; what it does is in one file a
//! concern:
//!
//! ```text
//!                 +-> announcing   announces: verify, learn the path, pass on
//!   inbound ------+-> searching    path requests: answer, search, ask
//!   (filter,      +-> forwarding   by path, along links, back as proofs
//!    dispatch)    +-> tunneling    interfaces that reconnect
//!                 +-> Verdict::Local: the node's own business
//!   outbound      what this node sends itself
//!   timeouts      what time alone brings about
//! ```

mod announce_table;
mod announcing;
mod blackhole;
mod config;
mod dedup;
mod forwarding;
mod inbound;
mod link_table;
mod outbound;
mod path;
mod path_request;
mod persist;
mod port;
mod queries;
mod rate;
mod reverse;
mod searching;
mod slots;
mod stats;
mod tables;
mod timeouts;
mod tunnel;
mod tunneling;

pub use announce_table::{
    LOCAL_REBROADCASTS_MAX, PATH_REQUEST_GRACE, REBROADCAST_JITTER, RETRIES, RETRY_INTERVAL, ROAMING_GRACE,
};
pub use blackhole::{Blackhole, MAX_REASON, Refusal};
pub use config::{RouterConfig, RouterConfigError};
pub use link_table::LINK_TIMEOUT;
pub use outbound::Sent;
pub use path::{ACCESS_POINT_PATH_LIFE, MAX_BLOBS, PATH_LIFE, PERSISTED_BLOBS, PathState, ROAMING_PATH_LIFE};
pub use path_request::{AUTOMATIC_REQUEST_INTERVAL, MAX_TAGS, PATH_REQUEST_TIMEOUT, REQUEST_IN_FLIGHT};
pub use persist::CachedAnnounce;
pub use queries::{PathInfo, TableSizes};
pub use rate::{RATE_TIMESTAMPS, RateInfo};
pub use reverse::REVERSE_TIMEOUT;
pub use stats::{DropReason, RouterStats};
pub use tables::{PassingLink, ProofWay, TunnelInfo, WaitingAnnounce};
pub use tunnel::TUNNEL_TIMEOUT;
pub use tunneling::InterfaceChange;

use crate::{
    DestinationHash, Env, IdentityHash, LinkHash, NameHash, PacketHash,
    identity::{KnownDestinations, PublicIdentity},
    iface::{InterfaceId, Interfaces},
    wire::{Packet, RequestTag},
};
use alloc::collections::VecDeque;
use bytes::Bytes;
use core::time::Duration;

/// How much longer each node on the way may take.
pub const PER_HOP_TIMEOUT: Duration = Duration::from_secs(6);
/// The longest packet that every interface carries, and the longest announce.
pub const BASE_MTU: usize = 500;

/// Routes packets.
#[derive(Clone, Debug)]
pub struct Router {
    config: RouterConfig,
    id: IdentityHash,
    /// Whether packets of others are forwarded; those of local clients always are.
    transport: bool,
    ports: slots::Slots<InterfaceId, port::Port>,
    seen: dedup::Seen,
    /// The last packets seen, to be stored.
    recent: VecDeque<PacketHash>,
    paths: path::PathTable,
    announces: announce_table::AnnounceTable,
    requests: path_request::PathRequests,
    links: link_table::LinkTable,
    reverse: reverse::ReverseTable,
    tunnels: tunnel::TunnelTable,
    rates: rate::RateTable,
    blackhole: Blackhole,
    stats: RouterStats,
}

impl Router {
    /// Creates a router with the transport id `id`, which forwards for others if it is a `transport` node and for its
    /// local clients in any case. `hash_key` must be random and secret, or peers can choose packets that are taken for
    /// others.
    ///
    /// # Errors
    /// The settings are impossible.
    pub fn new(
        config: RouterConfig,
        id: IdentityHash,
        transport: bool,
        hash_key: [u8; 16],
    ) -> Result<Self, RouterConfigError> {
        config.validate()?;
        Ok(Self {
            id,
            transport,
            ports: slots::Slots::new(&hash_key),
            seen: dedup::Seen::new(config.seen_packets, &hash_key),
            recent: VecDeque::new(),
            paths: path::PathTable::new(config.path_limits(), &hash_key),
            announces: announce_table::AnnounceTable::new(config.announces, &hash_key),
            requests: path_request::PathRequests::new(config.searches, &hash_key),
            links: link_table::LinkTable::new(config.link_limits(), &hash_key),
            reverse: reverse::ReverseTable::new(config.reverse_ways, &hash_key),
            tunnels: tunnel::TunnelTable::new(config.tunnels, config.paths_per_tunnel, &hash_key),
            rates: rate::RateTable::new(config.rates, &hash_key),
            blackhole: Blackhole::new(config.blackholed),
            stats: RouterStats::default(),
            config,
        })
    }

    /// Takes a packet that came over the interface `from` and does with it what is not this node's own business.
    ///
    /// Neither allocates nor hashes for packets of links that pass.
    pub fn handle_packet<'p>(
        &mut self,
        env: &mut Env<'_>,
        from: InterfaceId,
        packet: &Packet<'p>,
        locals: &dyn Locals,
        known: &mut KnownDestinations,
        out: &mut dyn Interfaces,
    ) -> Verdict<'p> {
        let mut step = Step { env, locals, known, out };
        let verdict = self.route(&mut step, from, packet);
        if let Verdict::Dropped(reason) = verdict {
            self.stats.count(reason);
        }
        verdict
    }

    /// Notes a packet as seen; false when it was before.
    fn see(&mut self, hash: PacketHash) -> bool {
        let is_new = self.seen.insert(hash.as_bytes());
        if is_new && self.config.stored_hashes > 0 {
            if self.recent.len() >= self.config.stored_hashes {
                self.recent.pop_front();
            }
            self.recent.push_back(hash);
        }
        is_new
    }

    /// Returns what is kept for an interface, which may be new.
    fn port(&mut self, id: InterfaceId) -> Option<&mut port::Port> {
        if !self.ports.contains(&id) {
            self.ports.insert(id, port::Port::new(), None);
        }
        self.ports.get_mut(&id)
    }

    /// Sets an interface's deadline after its state changed.
    fn rearm(&mut self, id: InterfaceId) {
        let deadline = self.ports.get(&id).and_then(port::Port::deadline);
        self.ports.set_deadline(&id, deadline);
    }
}

/// What a router needs in one step.
struct Step<'s, 'e> {
    env: &'s mut Env<'e>,
    locals: &'s dyn Locals,
    known: &'s mut KnownDestinations,
    out: &'s mut dyn Interfaces,
}

/// What is at home in a node.
pub trait Locals {
    /// Says whether the node has this destination.
    fn has_destination(&self, destination: &DestinationHash) -> bool;

    /// Says whether the node is an end of this link.
    fn has_link(&self, link: &LinkHash) -> bool;
}

/// What became of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict<'p> {
    /// It is for this node. Its hops count the way to here.
    Local(Packet<'p>),
    /// It is an announce that gave a better path: the application may want to know.
    Announce(Announced),
    /// It asks for the path to a destination of this node, which is to announce itself.
    PathRequestForLocal {
        /// The destination.
        destination: DestinationHash,
        /// The request's tag: answers to the same tag are the same announce.
        tag: RequestTag,
        /// The only interface to announce on, with the context of a path response.
        interface: InterfaceId,
    },
    /// It was dealt with.
    Handled,
    /// It was dropped.
    Dropped(DropReason),
}

/// A verified announce that gave a better path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Announced {
    /// The destination.
    pub destination: DestinationHash,
    /// Whose it is.
    pub identity: PublicIdentity,
    /// The hash of its name.
    pub name: NameHash,
    /// What it tells everybody.
    pub app_data: Bytes,
    /// The ratchet to encrypt for.
    pub ratchet: Option<[u8; 32]>,
    /// How many nodes it passed.
    pub hops: u8,
    /// Where it came from.
    pub interface: InterfaceId,
    /// The hash of its packet.
    pub packet: PacketHash,
    /// Whether it answers a path request.
    pub path_response: bool,
}
