//! The numbers of a driver.

use std::time::Duration;

/// How a driver divides its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DriverConfig {
    /// How many datagrams are read from one link before the answers are sent. A receive batch is never cut, so a
    /// round may go beyond it by one batch.
    pub datagrams_per_round: usize,
    /// How many transmits leave before the links are read again.
    pub transmits_per_round: usize,
    /// How long a driver without handles may take to end in good order.
    pub linger: Duration,
}

impl Default for DriverConfig {
    fn default() -> Self {
        Self { datagrams_per_round: 128, transmits_per_round: 256, linger: Duration::from_secs(3) }
    }
}
