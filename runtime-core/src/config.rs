//! The numbers of a driver.

use std::{num::NonZeroUsize, time::Duration};

/// How a driver divides its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DriverConfig {
    /// How many datagrams are read before the answers are sent. A receive batch is never cut, so a round may go beyond
    /// it by one batch.
    pub datagrams_per_round: usize,
    /// How many bytes are read from streams before the answers are sent. Each stream that is ready gives a piece of up
    /// to 128 KiB, and a piece is never cut, so a round may go beyond it by one.
    pub stream_bytes_per_round: usize,
    /// How many equal-sized datagrams leave in one system call, where the system can segment; at most what it allows.
    ///
    /// A longer run costs less a datagram, but its receiver starts later: both sides then take turns instead of working
    /// at the same time.
    pub segments_per_send: NonZeroUsize,
    /// How many transmits leave before the links are read again.
    pub transmits_per_round: usize,
    /// How long a driver looks for an answer after it sent or received something, before it sleeps. Waking up costs
    /// tens of microseconds, which is what this saves in a dialogue with a near peer. It stops by itself where it does not
    /// pay, so with distant peers it costs next to nothing. Zero turns it off.
    pub spin: Duration,
    /// How long a driver without handles may take to end in good order.
    pub linger: Duration,
}

impl Default for DriverConfig {
    fn default() -> Self {
        Self {
            datagrams_per_round: 128,
            stream_bytes_per_round: 512 * 1024,
            segments_per_send: NonZeroUsize::new(16).unwrap_or(NonZeroUsize::MIN),
            transmits_per_round: 256,
            spin: Duration::from_micros(50),
            linger: Duration::from_secs(3),
        }
    }
}
