//! Resources: data of any size over a link (spec 1.12).
//!
//! ```text
//! sender                                     receiver
//!   prepare (compress, seal, hash)
//!   advertisement -------------------------->  checked, accepted
//!      <------------------------- request for a window of parts
//!   parts ---------------------------------->  placed, authenticated, deciphered, hashed as they come
//!      <------- request for more, the window grows ---------
//!      <----------------------------------- proof
//!   next segment                               next segment, or the data to the application
//! ```
//!
//! [`Resources`] does this for both directions of one link. It sends over whatever implements [`Carrier`] and can be
//! used without the rest of the crate.

mod assemble;
mod carrier;
mod config;
mod content_hash;
mod event;
mod events;
mod hashmap;
mod inbox;
mod offer;
mod outbox;
mod pace;
mod prepare;
mod promptness;
mod proof_delay;
mod receiver;
mod recent;
mod segments;
mod sender;
mod source;
mod stats;
mod transfer;
mod window;

pub use carrier::Carrier;
pub use config::{Deliver, ProofDelay, ResourceConfig, ResourceConfigError, Strategy};
pub use event::{Event, FailReason, Kind, Offer, Outgoing, ResourceId, SendError, UnknownResource};
pub use prepare::{PrepareJob, Prepared};
pub use segments::{MAX_SEGMENT, SegmentContent, segment_count};
pub use source::{Data, Source};
pub use stats::{Refusal, ResourceStats};
pub use window::Window;

use crate::{
    Env, LinkHash, RequestId, ResourceHash,
    crypto::TokenKey,
    wire::{HashmapUpdate, Malformed, ResourceAdvertisement, ResourceProof, ResourceRequest},
};
use core::time::Duration;
use events::EventQueue;
use inbox::Inbox;
use outbox::Outbox;
use pace::LinkPace;
use proof_delay::ProofPacer;
use proto_core::Instant;

/// The resources of one link, in both directions.
///
/// Incoming memory is bounded by [`ResourceConfig::max_incoming_bytes`]; outgoing by two sealed segments and what the
/// application gave.
#[derive(Debug)]
pub struct Resources {
    shared: Shared,
    outbox: Outbox,
    inbox: Inbox,
}

/// What both directions use.
#[derive(Debug)]
struct Shared {
    config: ResourceConfig,
    link: LinkHash,
    part_size: usize,
    pace: LinkPace,
    events: EventQueue,
    stats: ResourceStats,
    last_id: ResourceId,
}

impl Resources {
    /// Creates the collection of a link with this number and MTU.
    ///
    /// # Errors
    /// The limits contradict each other.
    pub fn new(config: ResourceConfig, link: LinkHash, mtu: usize) -> Result<Self, ResourceConfigError> {
        config.validate()?;
        let inbox = Inbox::new(ProofPacer::new(config.proof_delay));
        let shared = Shared {
            config,
            link,
            part_size: part_size(mtu),
            pace: LinkPace::default(),
            events: EventQueue::default(),
            stats: ResourceStats::default(),
            last_id: ResourceId::FIRST,
        };
        Ok(Self { shared, outbox: Outbox::default(), inbox })
    }

    /// Sends something, as soon as what was given before has been proved or has failed.
    ///
    /// # Errors
    /// There is nothing to send, or too much.
    pub fn send(
        &mut self,
        env: &mut Env<'_>,
        key: &TokenKey,
        outgoing: Outgoing,
        carrier: &mut dyn Carrier,
    ) -> Result<ResourceId, SendError> {
        self.outbox.send(&mut self.shared, env, key, outgoing, carrier)
    }

    /// Lets the response to a request come as a resource of at most `limit` bytes.
    pub fn expect_response(&mut self, request: RequestId, limit: u64) {
        self.inbox.expect_response(request, limit);
    }

    /// Takes [`expect_response`](Self::expect_response) back.
    pub fn forget_response(&mut self, request: RequestId) {
        self.inbox.forget_response(request);
    }

    /// Accepts a resource that was [offered](Event::Offered).
    ///
    /// # Errors
    /// No such resource waits for an answer.
    pub fn accept(
        &mut self,
        env: &Env<'_>,
        id: ResourceId,
        carrier: &mut dyn Carrier,
    ) -> Result<(), UnknownResource> {
        self.inbox.accept(&mut self.shared, env.now, id, carrier)
    }

    /// Refuses a resource that was [offered](Event::Offered).
    ///
    /// # Errors
    /// No such resource waits for an answer.
    pub fn reject(&mut self, id: ResourceId, carrier: &mut dyn Carrier) -> Result<(), UnknownResource> {
        self.inbox.reject(&mut self.shared, id, carrier)
    }

    /// Gives a resource of either direction up. [`Event::Failed`] follows.
    ///
    /// # Errors
    /// There is no such resource.
    pub fn cancel(
        &mut self,
        env: &mut Env<'_>,
        key: &TokenKey,
        id: ResourceId,
        carrier: &mut dyn Carrier,
    ) -> Result<(), UnknownResource> {
        let is_known = self.inbox.cancel(&mut self.shared, id, carrier)
            || self.outbox.cancel(&mut self.shared, env, key, id, carrier);
        if is_known { Ok(()) } else { Err(UnknownResource) }
    }

    /// The link closed: everything under way fails.
    pub fn close(&mut self) {
        self.inbox.close(&mut self.shared);
        self.outbox.close(&mut self.shared);
    }

    /// Tells the link's round-trip time.
    pub const fn set_rtt(&mut self, rtt: Duration) {
        self.shared.pace.rtt = rtt;
    }

    /// Tells how many bytes the link's establishment took: with the round-trip time, that is the first guess of its
    /// rate.
    pub const fn set_establishment_bytes(&mut self, bytes: u64) {
        self.shared.pace.establishment_bytes = bytes;
    }

    /// The plaintext of an advertisement came.
    pub fn handle_advertisement(&mut self, env: &Env<'_>, plaintext: &[u8], carrier: &mut dyn Carrier) {
        if let Some(advertisement) = self.shared.parsed(ResourceAdvertisement::parse(plaintext)) {
            self.inbox.handle_advertisement(&mut self.shared, env.now, &advertisement, carrier);
        }
    }

    /// The plaintext of a request for parts came.
    pub fn handle_request(
        &mut self,
        env: &mut Env<'_>,
        key: &TokenKey,
        plaintext: &[u8],
        carrier: &mut dyn Carrier,
    ) {
        if let Some(request) = self.shared.parsed(ResourceRequest::parse(plaintext)) {
            self.outbox.handle_request(&mut self.shared, env, key, &request, carrier);
        }
    }

    /// The plaintext of a hash map's continuation came.
    pub fn handle_hashmap_update(&mut self, env: &Env<'_>, plaintext: &[u8], carrier: &mut dyn Carrier) {
        if let Some(update) = self.shared.parsed(HashmapUpdate::parse(plaintext)) {
            self.inbox.handle_update(&mut self.shared, env.now, &update, carrier);
        }
    }

    /// A part came.
    pub fn handle_part(&mut self, env: &Env<'_>, key: &TokenKey, part: &[u8], carrier: &mut dyn Carrier) {
        self.inbox.handle_part(&mut self.shared, env, key, part, carrier);
    }

    /// The data of a proof packet came.
    pub fn handle_proof(
        &mut self,
        env: &mut Env<'_>,
        key: &TokenKey,
        data: &[u8],
        carrier: &mut dyn Carrier,
    ) {
        if let Some(proof) = self.shared.parsed(ResourceProof::parse(data)) {
            self.outbox.handle_proof(&mut self.shared, env, key, &proof, carrier);
        }
    }

    /// The plaintext of a sender's cancellation came.
    pub fn handle_sender_cancel(&mut self, plaintext: &[u8]) {
        if let Some(hash) = self.shared.parsed(cancelled_hash(plaintext)) {
            self.inbox.handle_cancel(&mut self.shared, hash);
        }
    }

    /// The plaintext of a receiver's refusal or cancellation came.
    pub fn handle_receiver_cancel(
        &mut self,
        env: &mut Env<'_>,
        key: &TokenKey,
        plaintext: &[u8],
        carrier: &mut dyn Carrier,
    ) {
        if let Some(hash) = self.shared.parsed(cancelled_hash(plaintext)) {
            self.outbox.handle_cancel(&mut self.shared, env, key, hash, carrier);
        }
    }

    /// A packet with this hash was asked for again. Says whether it was a proof that is still known, and repeats it.
    pub fn handle_cache_request(&mut self, packet: &[u8], carrier: &mut dyn Carrier) -> bool {
        self.inbox.handle_cache_request(&mut self.shared, packet, carrier)
    }

    /// Does what is due. Calls that are early or repeated do nothing.
    pub fn handle_timeout(&mut self, env: &mut Env<'_>, key: &TokenKey, carrier: &mut dyn Carrier) {
        self.inbox.handle_timeout(&mut self.shared, env.now, carrier);
        self.outbox.handle_timeout(&mut self.shared, env, key, carrier);
    }

    /// Says whether parts that were asked for wait for room.
    pub fn wants_room(&self) -> bool {
        self.outbox.wants_room()
    }

    /// Sends parts that were asked for and had no room. To be called when the carrier has room again.
    pub fn flush(&mut self, env: &Env<'_>, carrier: &mut dyn Carrier) {
        self.outbox.flush(&mut self.shared, env.now, carrier);
    }

    /// Returns the resource that is being sent, and the hash of its first segment, which both sides know it by. It has
    /// none before its turn comes.
    pub fn outgoing(&self) -> Option<(ResourceId, ResourceHash)> {
        self.outbox.under_way()
    }

    /// Returns what happened next.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.shared.events.pop()
    }

    /// Returns when [`handle_timeout`](Self::handle_timeout) is due.
    pub fn poll_timeout(&self) -> Option<Instant> {
        [self.inbox.poll_timeout(), self.outbox.poll_timeout()].into_iter().flatten().min()
    }

    /// Returns the counters.
    pub const fn stats(&self) -> &ResourceStats {
        &self.shared.stats
    }

    /// Returns the length of the parts.
    pub const fn part_size(&self) -> usize {
        self.shared.part_size
    }

    /// Says whether nothing is under way in either direction.
    pub fn is_idle(&self) -> bool {
        self.inbox.is_idle() && self.outbox.is_idle()
    }
}

impl Shared {
    /// Returns how long to wait between the proof of a resource and the offer of the next.
    fn resource_gap(&self) -> Duration {
        let gap = self.config.resource_gap;
        if self.pace.rtt < gap.saturating_mul(10) { gap } else { Duration::ZERO }
    }

    fn new_id(&mut self) -> ResourceId {
        self.last_id = self.last_id.next();
        self.last_id
    }

    fn parsed<T>(&mut self, message: Result<T, Malformed>) -> Option<T> {
        if message.is_err() {
            self.stats.malformed += 1;
        }
        message.ok()
    }
}

/// Returns how much of a resource's stream a packet holds on a link with this MTU. Links have at least the base MTU.
const fn part_size(mtu: usize) -> usize {
    let mtu = if mtu < BASE_MTU { BASE_MTU } else { mtu };
    mtu - PART_OVERHEAD
}

fn cancelled_hash(plaintext: &[u8]) -> Result<ResourceHash, Malformed> {
    ResourceHash::from_prefix(plaintext).ok_or(Malformed::Truncated)
}

/// The longest header and the least interface access code.
const PART_OVERHEAD: usize = 36;

/// The MTU that every interface has.
const BASE_MTU: usize = 500;
