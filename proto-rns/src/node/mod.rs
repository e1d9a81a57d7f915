//! The node: identities, interfaces, routing and links put together behind one [`Machine`].
//!
//! ```text
//!             frames                packets               for this node
//!  link --> Interface (deframer, access code) --> Router --> destinations, receipts, links --> Event
//!  link <-- Interface (framing, queue) <---------- Router <-- announces, packets, proofs
//! ```
//!
//! Each part is a machine of its own and can be used without the node. What is costly and comes in batches, such as
//! the verification of proofs, waits until the driver drains the node.

mod announcing;
mod clock;
mod config;
mod deferred;
mod event;
mod inbound;
mod introducing;
mod lifecycle;
mod links;
mod oversight;
mod packets;
mod receipts;
mod stored;

pub use announcing::AnnounceError;
pub use clock::Tools;
pub use config::{NodeConfig, NodeConfigError};
pub use event::Event;
pub use lifecycle::AddInterfaceError;
pub use links::OpenLinkError;
pub use packets::{RegisterError, SendError};
pub use stored::stored_identity;

use crate::{
    DestinationHash, IdentityHash,
    dest::LocalDestination,
    identity::{Identity, KnownDestinations},
    iface::{Interface, InterfaceId, InterfaceTable},
    transport::Router,
};
use alloc::{
    collections::{BTreeMap, VecDeque},
    vec::Vec,
};
use clock::Core;
use core::{num::NonZeroUsize, time::Duration};
use deferred::Deferred;
use introducing::Introductions;
use lifecycle::Lifecycle;
use links::LinkTable;
use proto_core::{Datagram, Instant, LinkEvent, LinkId, LinkRequest, Machine, Transmit, UnixTime};
use receipts::{Outcome, Receipts};

/// A Reticulum node.
#[derive(Debug)]
pub struct Node {
    core: Core,
    config: NodeConfig,
    /// Who it is to other transport nodes.
    identity: Identity,
    interfaces: InterfaceTable,
    lifecycle: Lifecycle,
    router: Router,
    known: KnownDestinations,
    destinations: BTreeMap<DestinationHash, LocalDestination>,
    introductions: Introductions,
    links: LinkTable,
    receipts: Receipts,
    deferred: Deferred,
    events: VecDeque<Event>,
    stats: NodeStats,
    /// When what nobody needs any more is looked for next.
    next_cleaning: Instant,
    /// For plaintexts and packets that are being made.
    scratch: Vec<u8>,
}

/// What a node counted itself; interfaces, router and links have counters of their own. All numbers wrap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeStats {
    /// Packets for a destination or link that is not there.
    pub unknown_destination: u64,
    /// Packets that none of a destination's keys opens.
    pub undecryptable: u64,
    /// Proofs that prove nothing that is waited for.
    pub stray_proofs: u64,
    /// Proofs with a wrong signature.
    pub forged_proofs: u64,
    /// Link requests that were not answered: malformed, too many, or not wanted.
    pub refused_links: u64,
    /// Packets of a link that came over another interface than the link's.
    pub wrong_interface: u64,
}

impl Node {
    /// Creates a node without interfaces. `seed` must be secret and used once; `wall` is the wall time at `now`.
    ///
    /// # Errors
    /// A value of the configuration is out of its range.
    pub fn new(
        config: NodeConfig,
        tools: Tools,
        identity: Option<Identity>,
        seed: [u8; 32],
        now: Instant,
        wall: UnixTime,
    ) -> Result<Self, NodeConfigError> {
        config.validate()?;
        let mut core = Core::new(tools, seed, now, wall);
        let identity = identity.unwrap_or_else(|| {
            let env = core.env();
            Identity::generate(env.crypto, env.entropy)
        });
        let hash_key = crate::crypto::draw(core.entropy());
        Ok(Self {
            router: Router::new(config.router.clone(), identity.hash(), config.transport, hash_key)?,
            core,
            identity,
            interfaces: InterfaceTable::default(),
            lifecycle: Lifecycle::default(),
            known: KnownDestinations::new(config.max_known),
            destinations: BTreeMap::new(),
            introductions: Introductions::default(),
            links: LinkTable::default(),
            receipts: Receipts::new(config.max_receipts),
            deferred: Deferred::default(),
            events: VecDeque::new(),
            stats: NodeStats::default(),
            next_cleaning: now + CLEANING_INTERVAL,
            scratch: Vec::new(),
            config,
        })
    }

    /// Corrects the wall time, which announces and requests carry.
    pub fn set_wall(&mut self, now: Instant, wall: UnixTime) {
        self.core.see(now);
        self.core.set_wall(wall);
    }

    /// Returns the identity that it has towards other transport nodes.
    pub const fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Returns the hash of that identity.
    pub const fn transport_id(&self) -> IdentityHash {
        self.identity.hash()
    }

    /// Returns its settings.
    pub const fn config(&self) -> &NodeConfig {
        &self.config
    }

    /// Returns an interface.
    pub fn interface(&self, id: InterfaceId) -> Option<&Interface> {
        self.interfaces.get(id)
    }

    /// Returns all interfaces in the order they were added.
    pub fn interfaces(&self) -> impl Iterator<Item = (InterfaceId, &Interface)> {
        self.interfaces.iter()
    }

    /// Returns the tables of paths and links of others.
    pub const fn router(&self) -> &Router {
        &self.router
    }

    /// Returns what is known of other nodes' destinations.
    pub const fn known(&self) -> &KnownDestinations {
        &self.known
    }

    /// Lets the known destinations be changed: retained, forgotten, read from a file.
    pub const fn known_mut(&mut self) -> &mut KnownDestinations {
        &mut self.known
    }

    /// Returns what it counted.
    pub const fn stats(&self) -> NodeStats {
        self.stats
    }

    /// Forgets destinations and refusals whose time is over.
    fn clean(&mut self) {
        let wall = self.core.wall();
        let router = &self.router;
        self.known.clean(wall, |destination| router.hops_to(destination).is_some());
        self.router.blackhole_mut().clean(wall);
    }

    fn tell(&mut self, event: Event) {
        self.events.push_back(event);
    }

    /// Verifies the proofs of single packets that wait.
    fn settle_receipts(&mut self) {
        let events = &mut self.events;
        let tell = |outcome| events.push_back(outcome_event(outcome));
        let forged = self.receipts.settle(&*self.core.tools.crypto, tell);
        self.stats.forged_proofs = self.stats.forged_proofs.wrapping_add(forged);
    }
}

impl Machine for Node {
    type Event = Event;

    fn handle_datagram(&mut self, now: Instant, datagram: Datagram<'_>) {
        self.core.see(now);
        if let Some(id) = self.interfaces.of(datagram.link) {
            self.on_datagram(id, datagram.data);
        }
    }

    fn handle_stream(&mut self, now: Instant, link: LinkId, data: &mut [u8]) {
        self.core.see(now);
        if let Some(id) = self.interfaces.of(link) {
            self.on_stream(id, data);
        }
    }

    fn handle_link(&mut self, now: Instant, link: LinkId, event: LinkEvent) {
        self.core.see(now);
        self.catch_up();
        self.on_link_event(link, event);
    }

    fn handle_timeout(&mut self, now: Instant) {
        let now = self.core.see(now);
        if self.poll_timeout().is_none_or(|due| due > now) {
            return;
        }
        self.catch_up();
        self.retry_interfaces(now);
        self.introduce_due(now);
        self.route_timeouts();
        while let Some(outcome) = self.receipts.expire(now) {
            self.tell(outcome_event(outcome));
        }
        self.expire_links(now);
        if self.next_cleaning <= now {
            self.next_cleaning = now + CLEANING_INTERVAL;
            self.clean();
        }
    }

    fn poll_link(&mut self) -> Option<LinkRequest> {
        self.finish_proofs();
        self.lifecycle.poll()
    }

    fn poll_transmit(&mut self, now: Instant, most: NonZeroUsize, buf: &mut Vec<u8>) -> Option<Transmit> {
        self.core.see(now);
        loop {
            self.finish_proofs();
            if let Some((id, transmit)) = self.interfaces.poll_transmit(most, buf) {
                self.resume_bulk(id);
                return Some(transmit);
            }
            if !self.handle_deferred() {
                return None;
            }
        }
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.finish_proofs();
        self.events.pop_front()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        [
            self.lifecycle.deadline(),
            self.introductions.deadline(),
            self.router.poll_timeout(),
            self.receipts.deadline(),
            self.links.deadline(),
            Some(self.next_cleaning),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    fn wants_read(&self, _link: LinkId) -> bool {
        self.events.len() < self.config.max_events
    }
}

/// How often memory that nobody needs any more is given back.
const CLEANING_INTERVAL: Duration = Duration::from_secs(5 * 60);

const fn outcome_event(outcome: Outcome) -> Event {
    match outcome {
        Outcome::Delivered { hash, rtt } => Event::Delivered { hash, rtt },
        Outcome::Undelivered { hash } => Event::Undelivered { hash },
    }
}
