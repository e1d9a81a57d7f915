//! The numbers of a driver.

use std::{num::NonZeroUsize, time::Duration};

use crate::ReceiveMode;

/// How a driver waits and divides its work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// How to wait for what arrives.
    pub mode: ReceiveMode,
    /// The most that one system call reads from a stream whose machine lends no buffer, in bytes. At least 64 KiB.
    pub scratch: usize,
    /// The most that a read from a stream takes while its machine lends no buffer; at most `scratch`. What is read so is
    /// copied: where machines lend the place of a long payload once they know its length, little is better.
    pub first_read: usize,
    /// How many system calls may read from one link before the others get their turn and the answers are sent.
    pub reads_per_turn: usize,
    /// How many equal-sized datagrams leave in one system call; at most what the system allows. With one, a connected
    /// datagram socket is read with the plainest call as well, which is the fastest way to ask and answer.
    pub segments_per_send: NonZeroUsize,
    /// How many transmits leave before the links are read again.
    pub transmits_per_round: usize,
    /// Events that may wait for the application before [`poll`](crate::Blocking::poll) reads no more.
    pub waiting_events: usize,
    /// How long connecting a stream may take.
    pub connect_timeout: Duration,
    /// How long resolving a name may take.
    pub lookup_timeout: Duration,
    /// How long the peer of a closed stream has to take what was sent before the close.
    pub leave_timeout: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            mode: ReceiveMode::Park,
            scratch: 128 * 1024,
            first_read: 128 * 1024,
            reads_per_turn: 16,
            segments_per_send: NonZeroUsize::new(16).unwrap_or(NonZeroUsize::MIN),
            transmits_per_round: 256,
            waiting_events: 1_024,
            connect_timeout: Duration::from_secs(30),
            lookup_timeout: Duration::from_secs(30),
            leave_timeout: Duration::from_secs(5),
        }
    }
}
