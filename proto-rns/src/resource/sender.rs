//! One segment on its way out (spec 1.12).
//!
//! ```text
//! Advertised --request--> Transferring --all parts sent--> AwaitingProof --proof--> done
//!     |  4 offers                | silence                     | 4 queries
//!     +--------------------------+-----------------------------+----------> failed
//! ```

use super::{
    Carrier, FailReason, Prepared,
    hashmap::{COLLISION_GUARD, STRETCH},
    stats::ResourceStats,
    window::Window,
};
use crate::{
    LinkHash, PacketHash,
    wire::{Context, DestinationType, HashmapUpdate, Packet, PacketType, ResourceProof, ResourceRequest},
};
use alloc::{collections::VecDeque, vec, vec::Vec};
use core::time::Duration;
use proto_core::Instant;

/// A segment that was offered.
#[derive(Debug)]
pub(super) struct Sender {
    segment: Prepared,
    /// What was sent as the offer, to offer it again.
    advertisement: Vec<u8>,
    state: State,
    /// Where to look for wanted parts: the receiver has all before.
    reach: usize,
    /// What was asked for and had no room yet: at most every part and one update, once each.
    owed: VecDeque<Owed>,
    is_owed: Vec<bool>,
    was_sent: Vec<bool>,
    sent: usize,
    sent_bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Advertised { offers: u32, again_at: Instant },
    Transferring { until: Instant },
    AwaitingProof { queries: u32, query_at: Instant },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owed {
    Part(usize),
    Update(usize),
}

impl Sender {
    /// Offers a segment.
    pub(super) fn new(
        segment: Prepared,
        advertisement: Vec<u8>,
        now: Instant,
        rtt: Duration,
        carrier: &mut dyn Carrier,
    ) -> Self {
        carrier.send(Context::ResourceAdvertisement, &advertisement);
        let parts = segment.parts();
        Self {
            segment,
            advertisement,
            state: State::Advertised { offers: 1, again_at: now + offer_patience(rtt) },
            reach: 0,
            owed: VecDeque::new(),
            is_owed: vec![false; parts],
            was_sent: vec![false; parts],
            sent: 0,
            sent_bytes: 0,
        }
    }

    pub(super) const fn segment(&self) -> &Prepared {
        &self.segment
    }

    /// Returns how many bytes of the stream were sent, each part counted once.
    pub(super) const fn sent_bytes(&self) -> u64 {
        self.sent_bytes
    }

    /// Says whether nobody asked for a part so far.
    pub(super) const fn is_unanswered(&self) -> bool {
        matches!(self.state, State::Advertised { .. })
    }

    /// Says whether every part left at least once.
    pub(super) const fn is_all_sent(&self) -> bool {
        matches!(self.state, State::AwaitingProof { .. })
    }

    /// The receiver asks for parts.
    pub(super) fn handle_request(
        &mut self,
        now: Instant,
        rtt: Duration,
        request: &ResourceRequest<'_>,
        stats: &mut ResourceStats,
    ) -> Result<(), FailReason> {
        let mut next = self.reach;
        for hash in request.wanted.iter().take(COLLISION_GUARD) {
            // Parts are mostly asked for in their order, so that one pass finds them all.
            let Some(index) = self.find(hash, next).or_else(|| self.find(hash, self.reach)) else {
                stats.unknown_hashes += 1;
                continue;
            };
            next = index + 1;
            if let Some(is_owed) = self.is_owed.get_mut(index)
                && !*is_owed
            {
                *is_owed = true;
                self.owed.push_back(Owed::Part(index));
            }
        }
        if let Some(last) = request.last_known {
            let known = self.known_up_to(last).ok_or(FailReason::OutOfSequence)?;
            self.reach = known.saturating_sub(1 + Window::MAX_FAST);
            let update = Owed::Update(known);
            if known < self.segment.parts() && !self.owed.contains(&update) {
                self.owed.retain(|owed| matches!(owed, Owed::Part(_)));
                self.owed.push_back(update);
            }
        }
        if !self.is_all_sent() {
            self.state = State::Transferring { until: now + transfer_patience(rtt) };
        } else if !self.owed.is_empty() {
            // The receiver still lacks parts, so its proof is not due.
            self.state = State::AwaitingProof { queries: 0, query_at: now + transfer_patience(rtt) };
        }
        Ok(())
    }

    /// Says whether parts that were asked for wait for room.
    pub(super) fn wants_room(&self) -> bool {
        !self.owed.is_empty()
    }

    /// Sends what was asked for while there is room. Says whether anything was sent.
    pub(super) fn flush(&mut self, now: Instant, rtt: Duration, carrier: &mut dyn Carrier) -> bool {
        let mut is_busy = false;
        while carrier.room() > 0
            && let Some(owed) = self.owed.pop_front()
        {
            is_busy = true;
            match owed {
                Owed::Part(index) => self.send_part(index, carrier),
                Owed::Update(from) => self.send_update(from, carrier),
            }
        }
        if is_busy && self.owed.is_empty() && self.sent == self.segment.parts() {
            self.state = State::AwaitingProof { queries: 0, query_at: now + first_proof_patience(rtt) };
        }
        is_busy
    }

    /// Says whether a proof is this segment's.
    pub(super) fn is_proved_by(&self, proof: &ResourceProof) -> bool {
        proof.hash == self.segment.hash() && proof.proof == *self.segment.proof()
    }

    /// Something was waited for too long.
    pub(super) fn handle_timeout(
        &mut self,
        now: Instant,
        rtt: Duration,
        link: LinkHash,
        carrier: &mut dyn Carrier,
    ) -> Result<(), FailReason> {
        if now < self.deadline() {
            return Ok(());
        }
        match self.state {
            State::Advertised { offers, .. } if offers > MAX_REPEATED_OFFERS => Err(FailReason::Unanswered),
            State::Advertised { offers, .. } => {
                carrier.send(Context::ResourceAdvertisement, &self.advertisement);
                self.state = State::Advertised { offers: offers + 1, again_at: now + offer_patience(rtt) };
                Ok(())
            }
            State::Transferring { .. } => Err(FailReason::TimedOut),
            State::AwaitingProof { queries, .. } if queries > MAX_REPEATED_QUERIES => {
                Err(FailReason::Unproved)
            }
            State::AwaitingProof { queries, .. } => {
                let proof = ResourceProof { hash: self.segment.hash(), proof: *self.segment.proof() };
                let packet = proof_packet_hash(link, &proof);
                carrier.send_raw(PacketType::Data, Context::CacheRequest, packet.as_bytes());
                self.state =
                    State::AwaitingProof { queries: queries + 1, query_at: now + proof_patience(rtt) };
                Ok(())
            }
        }
    }

    pub(super) const fn deadline(&self) -> Instant {
        match self.state {
            State::Advertised { again_at: at, .. }
            | State::Transferring { until: at }
            | State::AwaitingProof { query_at: at, .. } => at,
        }
    }

    fn send_part(&mut self, index: usize, carrier: &mut dyn Carrier) {
        let Some(part) = self.segment.part(index) else { return };
        carrier.send_raw(PacketType::Data, Context::Resource, part);
        if let Some(is_owed) = self.is_owed.get_mut(index) {
            *is_owed = false;
        }
        if let Some(was_sent) = self.was_sent.get_mut(index)
            && !*was_sent
        {
            *was_sent = true;
            self.sent += 1;
            self.sent_bytes += part.len() as u64;
        }
    }

    fn send_update(&self, from: usize, carrier: &mut dyn Carrier) {
        let update = HashmapUpdate {
            hash: self.segment.hash(),
            stretch: u32::try_from(from / STRETCH).unwrap_or(u32::MAX),
            hashmap: self.segment.hashes(from..from + STRETCH),
        };
        carrier.send(Context::ResourceHashmapUpdate, &update.to_vec());
    }

    fn find(&self, hash: crate::wire::MapHash, from: usize) -> Option<usize> {
        let end = self.reach.saturating_add(COLLISION_GUARD).min(self.segment.parts());
        let near = self.segment.map().get(from..end)?;
        near.iter().position(|known| *known == hash).map(|offset| from + offset)
    }

    /// Returns how many hashes a receiver knows whose last one is `last`: whole stretches, or it has lost count.
    fn known_up_to(&self, last: crate::wire::MapHash) -> Option<usize> {
        let end = self.reach.saturating_add(COLLISION_GUARD).min(self.segment.parts());
        (self.reach..end)
            .filter(|index| (index + 1) % STRETCH == 0)
            .find(|index| self.segment.map().get(*index) == Some(&last))
            .map(|index| index + 1)
    }
}

/// Returns the hash of the packet that carries a proof over a link: it can be asked for again by it.
pub(super) fn proof_packet_hash(link: LinkHash, proof: &ResourceProof) -> PacketHash {
    let data = proof.to_bytes();
    Packet::new(PacketType::Proof, DestinationType::Link, link.into(), Context::ResourceProof, &data).hash()
}

fn offer_patience(rtt: Duration) -> Duration {
    rtt.saturating_mul(TRAFFIC_FACTOR) + Duration::from_secs(1)
}

/// As long as a receiver keeps asking: all its retries, each a little longer than the one before.
fn transfer_patience(rtt: Duration) -> Duration {
    rtt.saturating_mul(TRAFFIC_FACTOR * MAX_RETRIES) + Duration::from_secs(10 + 68)
}

/// A proof that was lost should not cost ten seconds, and to ask early costs one small packet.
fn first_proof_patience(rtt: Duration) -> Duration {
    rtt.saturating_mul(3) + Duration::from_secs(1)
}

fn proof_patience(rtt: Duration) -> Duration {
    rtt.saturating_mul(3) + Duration::from_secs(10)
}

/// How many round-trip times a link's traffic may take.
const TRAFFIC_FACTOR: u32 = 6;

/// How often a receiver asks in vain.
pub(super) const MAX_RETRIES: u32 = 16;

/// How often an offer is repeated.
const MAX_REPEATED_OFFERS: u32 = 4;

/// How often a proof is asked for again, after the early query.
const MAX_REPEATED_QUERIES: u32 = 3;
