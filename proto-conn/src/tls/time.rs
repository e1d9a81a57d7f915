//! Wall time as an input.

use alloc::sync::Arc;
use core::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};
use proto_core::UnixTime;

/// The wall time by which certificates are judged, as somebody outside sets it. Clones show the same time.
///
/// TLS needs it to the day, not to the second: set it when the program starts and now and then. Before the first
/// [`set`](Self::set) it is 1970, when no certificate is valid yet.
#[derive(Clone, Debug, Default)]
pub struct WallClock(Arc<AtomicU64>);

impl WallClock {
    /// Creates one that shows `time`.
    pub fn new(time: UnixTime) -> Self {
        Self(Arc::new(AtomicU64::new(time.since_epoch().as_secs())))
    }

    /// Sets it; parts of a second are left out.
    pub fn set(&self, time: UnixTime) {
        self.0.store(time.since_epoch().as_secs(), Ordering::Relaxed);
    }

    /// Returns what it shows.
    pub fn now(&self) -> UnixTime {
        UnixTime::new(Duration::from_secs(self.0.load(Ordering::Relaxed)))
    }
}

/// Shows a wall clock to rustls.
#[derive(Debug)]
pub(super) struct Provided(pub(super) WallClock);

impl rustls::time_provider::TimeProvider for Provided {
    fn current_time(&self) -> Option<rustls::pki_types::UnixTime> {
        Some(rustls::pki_types::UnixTime::since_unix_epoch(self.0.now().since_epoch()))
    }
}
