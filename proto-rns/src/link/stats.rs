//! What a link counts.

/// The counters of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkStats {
    /// Packets sent.
    pub sent_packets: u64,
    /// Bytes of their data, as encrypted.
    pub sent_bytes: u64,
    /// Packets received and not dropped.
    pub received_packets: u64,
    /// Bytes of their data, as encrypted.
    pub received_bytes: u64,
    /// Channel messages sent again.
    pub resent_messages: u64,
    dropped: [u64; DropReason::ALL.len()],
}

impl LinkStats {
    /// Returns how many packets were dropped for `reason`.
    pub fn dropped(&self, reason: DropReason) -> u64 {
        self.dropped.get(reason as usize).copied().unwrap_or(0)
    }

    /// Returns how many packets were dropped for any reason.
    pub fn dropped_packets(&self) -> u64 {
        self.dropped.iter().sum()
    }

    pub(super) fn count_drop(&mut self, reason: DropReason) {
        if let Some(count) = self.dropped.get_mut(reason as usize) {
            *count += 1;
        }
    }

    pub(super) fn count_sent(&mut self, bytes: usize) {
        self.sent_packets += 1;
        self.sent_bytes += u64::try_from(bytes).unwrap_or(0);
    }

    pub(super) fn count_received(&mut self, bytes: usize) {
        self.received_packets += 1;
        self.received_bytes += u64::try_from(bytes).unwrap_or(0);
    }
}

/// Why a link dropped a packet of the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DropReason {
    /// The link is closed, or not far enough for this kind of packet.
    State,
    /// The packet does not open with the link's key.
    Undecryptable,
    /// The plaintext is not the message that it should be.
    Malformed,
    /// A signature that does not fit.
    Signature,
    /// The responder agreed to what was not proposed: another cipher, or a larger MTU.
    Terms,
    /// A context that means nothing on a link.
    Context,
    /// A proof of a packet whose proof is not awaited.
    UnknownProof,
    /// The peer's role does not allow it.
    Role,
    /// A request to a path that is not offered.
    UnknownPath,
    /// A request by somebody who is not on the path's list.
    NotAllowed,
    /// A request longer than `max_request_size`.
    TooLarge,
    /// A response that nobody waits for.
    UnknownResponse,
    /// The channel is not open.
    ChannelClosed,
    /// A channel message further ahead than the window, or one that arrived before.
    OutsideWindow,
    /// The application does not keep up; see `max_events` and `max_stream_bytes`.
    Backlog,
}

impl DropReason {
    /// All reasons.
    pub const ALL: [Self; 15] = [
        Self::State,
        Self::Undecryptable,
        Self::Malformed,
        Self::Signature,
        Self::Terms,
        Self::Context,
        Self::UnknownProof,
        Self::Role,
        Self::UnknownPath,
        Self::NotAllowed,
        Self::TooLarge,
        Self::UnknownResponse,
        Self::ChannelClosed,
        Self::OutsideWindow,
        Self::Backlog,
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_is_counted_for_itself() {
        let mut stats = LinkStats::default();
        for (place, reason) in DropReason::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, place);
            stats.count_drop(reason);
            assert_eq!(stats.dropped(reason), 1);
        }
        assert_eq!(stats.dropped_packets(), 15);
    }
}
