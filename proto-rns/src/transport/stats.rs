//! Why packets are dropped, and how many were.

/// Why the router dropped a packet.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropReason {
    /// The interface it came from is gone.
    UnknownInterface,
    /// Another node is to forward it.
    OtherTransport,
    /// It was seen before.
    Duplicate,
    /// It passed as many nodes as a packet may, or more than one to a plain or group destination.
    TooManyHops,
    /// A plain or group destination was announced.
    UnannounceableDestination,
    /// Its contents are not what its header says.
    Malformed,
    /// An announce longer than 500 bytes.
    TooLong,
    /// An announce, a link proof or a tunnel request with a wrong signature.
    BadSignature,
    /// An announce by an identity that is refused.
    Blackholed,
    /// An announce with other keys than those known.
    KeyCollision,
    /// An announce of a destination of this node.
    OwnAnnounce,
    /// An announce that gives no better path.
    NoBetterPath,
    /// A table or a queue is full.
    TableFull,
    /// There is no path to its destination.
    NoPath,
    /// The destination is not here, and nobody asked this node to forward.
    UnknownDestination,
    /// A packet of a link that its destination did not prove.
    LinkUnvalidated,
    /// A packet of a link, or a proof, from the wrong interface or after the wrong number of nodes.
    WrongWay,
    /// A path request that was answered or passed on before, or one without anything to answer.
    UnansweredRequest,
    /// The interface that it should leave by is down.
    InterfaceDown,
}

impl DropReason {
    /// All reasons.
    pub const ALL: [Self; 19] = [
        Self::UnknownInterface,
        Self::OtherTransport,
        Self::Duplicate,
        Self::TooManyHops,
        Self::UnannounceableDestination,
        Self::Malformed,
        Self::TooLong,
        Self::BadSignature,
        Self::Blackholed,
        Self::KeyCollision,
        Self::OwnAnnounce,
        Self::NoBetterPath,
        Self::TableFull,
        Self::NoPath,
        Self::UnknownDestination,
        Self::LinkUnvalidated,
        Self::WrongWay,
        Self::UnansweredRequest,
        Self::InterfaceDown,
    ];
}

/// What the router did so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RouterStats {
    /// Packets that were forwarded for others: by path, along links, back as proofs.
    pub forwarded: u64,
    /// Announces whose signature was checked.
    pub announces_verified: u64,
    /// Announces that were held back in a burst.
    pub announces_held: u64,
    /// Announces that waited for an interface's share of bitrate.
    pub announces_queued: u64,
    /// Announces that were not passed on because their destination announces too often.
    pub announces_rate_limited: u64,
    /// Path requests that were answered.
    pub path_responses: u64,
    dropped: [u64; DropReason::ALL.len()],
}

impl RouterStats {
    /// Returns how many packets were dropped for a reason.
    pub fn dropped(&self, reason: DropReason) -> u64 {
        self.dropped.get(reason as usize).copied().unwrap_or(0)
    }

    pub(crate) fn count(&mut self, reason: DropReason) {
        if let Some(count) = self.dropped.get_mut(reason as usize) {
            *count += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_has_a_counter_of_its_own() {
        let mut stats = RouterStats::default();
        for (place, reason) in DropReason::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, place);
            stats.count(reason);
        }
        assert!(DropReason::ALL.into_iter().all(|reason| stats.dropped(reason) == 1));
    }
}
