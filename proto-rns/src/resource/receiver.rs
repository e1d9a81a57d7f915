//! One segment on its way in (spec 1.12).
//!
//! ```text
//! request --parts--> all came: window grows --> request ...  --last part--> assembled
//!    ^                  | some did not in time
//!    +---- retry -------+ 16 times, then failed
//! ```

use super::{
    Carrier, FailReason,
    assemble::{Assembled, Assembly},
    hashmap::{PartHash, PartMap, STRETCH, write_hashes},
    pace::{BitRate, Expected, LinkPace, Rounds},
    sender::MAX_RETRIES,
    stats::ResourceStats,
    window::Window,
};
use crate::{
    ResourceHash,
    compression::Compression,
    crypto::{CryptoProvider, TokenKey},
    wire::{Context, HashmapUpdate, MapHash, MapHashes, ResourceRequest, ResourceSalt},
};
use alloc::vec::Vec;
use core::time::Duration;
use proto_core::Instant;

/// What was agreed on when a segment was accepted. Everything is checked.
#[derive(Clone, Debug)]
pub(super) struct Accepted {
    pub hash: ResourceHash,
    pub salt: ResourceSalt,
    pub transfer_size: usize,
    pub part_size: usize,
    pub parts: usize,
    pub is_compressed: bool,
    /// The first stretch of the hash map.
    pub hashmap: Vec<u8>,
    /// How many bytes the contents may have.
    pub limit: usize,
}

/// A segment whose parts are being asked for.
#[derive(Debug)]
pub(super) struct Receiver {
    hash: ResourceHash,
    salt: ResourceSalt,
    transfer_size: u64,
    part_size: usize,
    limit: usize,
    assembly: Assembly,
    map: PartMap,
    window: Window,
    rounds: Rounds,
    outstanding: usize,
    awaits_map: bool,
    received_bytes: u64,
    retries: u32,
    last_activity: Instant,
    /// When to repeat the first request although nothing is late: a sender may lose it that does not know its own
    /// resource yet when it has sent the offer.
    repeat_at: Option<Instant>,
}

/// What became of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PartOutcome {
    /// It belongs elsewhere, or came before.
    Stray,
    /// Its length is wrong.
    Misfit,
    /// It is in its place.
    Stored,
    /// It was the last one.
    Last,
}

impl Receiver {
    /// Accepts a segment and asks for its first parts.
    pub(super) fn new(
        accepted: &Accepted,
        window: Window,
        link: &LinkPace,
        now: Instant,
        carrier: &mut dyn Carrier,
    ) -> Self {
        let hashmap = MapHashes::parse(&accepted.hashmap).unwrap_or_default();
        let mut receiver = Self {
            hash: accepted.hash,
            salt: accepted.salt,
            transfer_size: accepted.transfer_size as u64,
            part_size: accepted.part_size,
            limit: accepted.limit,
            assembly: Assembly::new(accepted.transfer_size, accepted.part_size, accepted.is_compressed),
            map: PartMap::new(accepted.parts, hashmap),
            window,
            rounds: Rounds::new(link, now),
            outstanding: 0,
            awaits_map: false,
            received_bytes: 0,
            retries: 0,
            last_activity: now,
            repeat_at: (link.rtt <= REPEAT_RTT).then(|| now + repeat_patience(link.rtt, accepted.part_size)),
        };
        receiver.request(now, carrier);
        receiver
    }

    pub(super) const fn hash(&self) -> ResourceHash {
        self.hash
    }

    /// Returns the bytes of the stream that came.
    pub(super) const fn received_bytes(&self) -> u64 {
        self.received_bytes
    }

    /// Returns how many there will be.
    pub(super) const fn transfer_size(&self) -> u64 {
        self.transfer_size
    }

    pub(super) const fn window(&self) -> &Window {
        &self.window
    }

    pub(super) fn measured_rate(&self) -> Option<BitRate> {
        self.rounds.measured_rate()
    }

    /// A part came that may be this segment's.
    pub(super) fn handle_part(
        &mut self,
        now: Instant,
        crypto: &dyn CryptoProvider,
        key: &TokenKey,
        part: &[u8],
        hash: &PartHash,
        carrier: &mut dyn Carrier,
    ) -> PartOutcome {
        let Some(index) = self.map.find(hash.with(self.salt)) else { return PartOutcome::Stray };
        if !self.assembly.place(index, part) {
            return PartOutcome::Misfit;
        }
        self.map.mark(index);
        self.assembly.advance(crypto, key, self.map.contiguous());
        self.received_bytes += part.len() as u64;
        self.rounds.on_part(part.len());
        self.last_activity = now;
        self.retries = 0;
        self.repeat_at = None;
        self.outstanding = self.outstanding.saturating_sub(1);
        if self.map.is_complete() {
            return PartOutcome::Last;
        }
        if self.outstanding == 0 {
            let rate = self.rounds.on_round(now);
            self.window.on_round(rate.bytes_per_second());
            self.request(now, carrier);
        }
        PartOutcome::Stored
    }

    /// More of the hash map came. Says whether it was what is needed next.
    pub(super) fn handle_update(
        &mut self,
        now: Instant,
        update: &HashmapUpdate<'_>,
        carrier: &mut dyn Carrier,
    ) -> bool {
        if !self.map.extend(update) {
            return false;
        }
        self.awaits_map = false;
        self.last_activity = now;
        if self.outstanding == 0 {
            self.request(now, carrier);
        }
        true
    }

    /// The sender offers the segment again: if nothing came so far, it has not seen the request.
    pub(super) fn on_offered_again(&mut self, now: Instant, carrier: &mut dyn Carrier) {
        if self.received_bytes == 0 {
            self.awaits_map = false;
            self.request(now, carrier);
        }
    }

    pub(super) fn handle_timeout(
        &mut self,
        now: Instant,
        stats: &mut ResourceStats,
        carrier: &mut dyn Carrier,
    ) -> Result<(), FailReason> {
        if now >= self.patience_ends() {
            if self.retries == MAX_RETRIES {
                return Err(FailReason::TimedOut);
            }
            self.retries += 1;
            self.window.on_timeout();
        } else if self.repeat_at.is_none_or(|at| now < at) {
            return Ok(());
        }
        stats.retried_requests += 1;
        self.repeat_at = None;
        self.awaits_map = false;
        self.last_activity = now;
        self.request(now, carrier);
        Ok(())
    }

    pub(super) fn deadline(&self) -> Instant {
        let patience = self.patience_ends();
        self.repeat_at.map_or(patience, |at| at.min(patience))
    }

    /// Verifies the segment and hands it out.
    pub(super) fn finish(self, compression: &dyn Compression) -> Result<Assembled, FailReason> {
        self.assembly.finish(compression, self.salt, self.hash, self.limit)
    }

    /// Asks for the missing parts of the window, and for more of the hash map before its end is reached.
    fn request(&mut self, now: Instant, carrier: &mut dyn Carrier) {
        let window = self.window.size();
        let wanted: Vec<MapHash> = self.map.missing(window).collect();
        let ahead = self.map.known() - self.map.contiguous();
        let needs_map = self.map.known() < self.map.parts()
            && ahead <= (2 * window).min(Window::MAX_FAST)
            && !self.awaits_map;
        if wanted.is_empty() && !needs_map {
            return;
        }
        self.awaits_map |= needs_map;
        self.outstanding = wanted.len();
        self.rounds.on_request(now);
        let mut hashes = Vec::with_capacity(wanted.len() * MapHash::LEN);
        write_hashes(&wanted, &mut hashes);
        let request = ResourceRequest {
            last_known: self.map.last_known().filter(|_| needs_map),
            hash: self.hash,
            wanted: MapHashes::parse(&hashes).unwrap_or_default(),
        };
        carrier.send(Context::ResourceRequest, &request.to_vec());
    }

    fn patience_ends(&self) -> Instant {
        self.last_activity
            + self.rounds.patience(&Expected {
                parts: self.outstanding,
                part_size: self.part_size,
                map: self.awaits_map,
                retries: self.retries,
            })
    }
}

/// The parts that two round-trip times should bring, on a link that is fast but not arbitrarily so.
fn repeat_patience(rtt: Duration, part_size: usize) -> Duration {
    let part_time = Duration::from_nanos(100).saturating_mul(u32::try_from(part_size).unwrap_or(u32::MAX));
    rtt.saturating_mul(2) + Duration::from_millis(5) + part_time
}

/// On slower links a request that repeats too early costs more than it saves.
const REPEAT_RTT: Duration = Duration::from_millis(100);

const _: () = assert!(Window::MAX_FAST >= STRETCH, "a window must reach the end of a stretch");
