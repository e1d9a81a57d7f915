//! What a step of a machine needs from its surroundings.

use crate::{
    compression::Compression,
    crypto::{CryptoProvider, Entropy},
};
use core::time::Duration;
use proto_core::{Instant, UnixTime};

/// The time, the tools and the randomness of one step.
pub struct Env<'a> {
    /// The monotonic time.
    pub now: Instant,
    /// The wall time.
    pub wall: UnixTime,
    /// Signatures, agreements, sealing.
    pub crypto: &'a dyn CryptoProvider,
    /// bz2.
    pub compression: &'a dyn Compression,
    /// Random bytes.
    pub entropy: &'a mut dyn Entropy,
}

impl Env<'_> {
    /// Returns the wall time in whole seconds, as announces carry it.
    pub const fn unix_seconds(&self) -> u64 {
        self.wall.since_epoch().as_secs()
    }

    /// Returns the wall time as the floating point seconds that MessagePack fields carry.
    pub const fn unix_seconds_f64(&self) -> f64 {
        self.wall.since_epoch().as_secs_f64()
    }

    /// Draws a duration in `Duration::ZERO..limit`.
    pub fn jitter(&mut self, limit: Duration) -> Duration {
        let draw = u32::from_be_bytes(crate::crypto::draw(self.entropy));
        limit.mul_f64(f64::from(draw) / (f64::from(u32::MAX) + 1.0))
    }
}

impl core::fmt::Debug for Env<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Env").field("now", &self.now).field("wall", &self.wall).finish_non_exhaustive()
    }
}
