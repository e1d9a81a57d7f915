//! What is under way, ordered by its landing.

use crate::node::{LinkEnd, NodeId};
use proto_core::{Ecn, Instant, LinkEvent};
use std::{cmp::Ordering, net::SocketAddr};

/// Something that happens later. Flights that land together do so in the order in which they were launched.
#[derive(Debug)]
pub(crate) struct Flight {
    pub(crate) at: Instant,
    pub(crate) number: u64,
    pub(crate) landing: Landing,
}

/// What a flight brings.
#[derive(Debug)]
pub(crate) enum Landing {
    /// A datagram for a link. `sender` is missing where it was forged.
    Datagram { sender: Option<NodeId>, end: LinkEnd, packet: Packet },
    /// News of a link's life.
    Event { end: LinkEnd, event: LinkEvent },
    /// A lane may have bytes for its receiver.
    Lane(usize),
}

/// A datagram as its receiver sees it.
#[derive(Clone, Debug)]
pub(crate) struct Packet {
    pub(crate) from: SocketAddr,
    pub(crate) to: SocketAddr,
    pub(crate) ecn: Option<Ecn>,
    pub(crate) data: Vec<u8>,
}

impl Ord for Flight {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

impl PartialOrd for Flight {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Flight {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Flight {}
