//! What the network counted, for assertions.

use std::fmt;

/// Counters of one direction between two nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathStats {
    /// What the sender handed to the path.
    pub sent: Traffic,
    /// What reached the receiver's machine, duplicates included.
    pub delivered: Traffic,
    /// What did not arrive, for whatever reason.
    pub lost: Traffic,
    /// Second copies that the path made.
    pub duplicated: Traffic,
}

impl PathStats {
    /// Adds the counters of another direction.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            sent: self.sent.plus(other.sent),
            delivered: self.delivered.plus(other.delivered),
            lost: self.lost.plus(other.lost),
            duplicated: self.duplicated.plus(other.duplicated),
        }
    }
}

/// A number of datagrams and the bytes of their payloads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Datagrams.
    pub datagrams: u64,
    /// Payload bytes, without IP and UDP headers.
    pub bytes: u64,
}

impl Traffic {
    pub(crate) const fn count(&mut self, len: usize) {
        self.datagrams += 1;
        self.bytes += len as u64;
    }

    const fn plus(self, other: Self) -> Self {
        Self { datagrams: self.datagrams + other.datagrams, bytes: self.bytes + other.bytes }
    }
}

/// Why a datagram did not arrive.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Loss {
    /// The path's random loss.
    Random,
    /// The path's burst loss.
    Burst,
    /// The bottleneck's queue was full.
    QueueFull,
    /// Longer than the path's MTU.
    TooBig,
    /// The test picked it.
    Picked,
    /// The two nodes are cut off from each other.
    Partition,
    /// Nobody has the destination address.
    NoRoute,
    /// The receiver's NAT has no mapping for it, or does not let this sender in.
    Nat,
    /// The receiver does not read and its socket buffer is full.
    ReceiveBufferFull,
    /// The receiver's link is closed.
    LinkClosed,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Random => "random loss",
            Self::Burst => "burst loss",
            Self::QueueFull => "queue full",
            Self::TooBig => "exceeds the MTU",
            Self::Picked => "picked by the test",
            Self::Partition => "partition",
            Self::NoRoute => "no route",
            Self::Nat => "no NAT mapping",
            Self::ReceiveBufferFull => "receive buffer full",
            Self::LinkClosed => "link closed",
        })
    }
}
