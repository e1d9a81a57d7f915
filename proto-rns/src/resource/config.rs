//! What a link's resources may cost.

use super::segments::MAX_SEGMENT;
use core::time::Duration;

/// The limits and habits of one link's resources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceConfig {
    /// Which resources of its own accord the peer may send.
    pub strategy: Strategy,
    /// How what arrives is handed out. Requests and responses always come whole.
    pub deliver: Deliver,
    /// The largest incoming resource in bytes, all segments and metadata included, after expansion. Larger ones are
    /// refused when they are offered.
    pub max_incoming_size: u64,
    /// The largest request that comes as a resource; 0 refuses them all. A response's limit is told with
    /// [`expect_response`](super::Resources::expect_response).
    pub max_request_size: u64,
    /// How many resources may come in at a time, offers that wait for an answer included.
    pub max_incoming: usize,
    /// The memory in bytes that incoming resources may take together, from the offer's acceptance until the
    /// application has taken the data. What does not fit is refused when it is offered; a further segment of an
    /// accepted resource waits for its sender to offer it again.
    pub max_incoming_bytes: usize,
    /// How many resources may wait to be sent.
    pub max_outgoing: usize,
    /// How many bytes may wait to be sent. The data are shared, not copied; sealed are at most two segments.
    pub max_outgoing_bytes: u64,
    /// Resources above this size in bytes are sent uncompressed.
    pub compress_limit: u64,
    /// How long the sender of an accepted resource may take between the proof of a segment and the next one's offer.
    pub segment_gap: Duration,
    /// How long after the proof of a resource the next one is offered to a peer that is near, which is one at less than
    /// ten times this and that takes its time over asking and proving.
    ///
    /// The reference gives each part to every resource that it has not put away, and takes some milliseconds to put
    /// away one that it has proved: the part of a next one then spoils it. Zero does for other peers.
    pub resource_gap: Duration,
    /// Whether the proof of a segment is held back for a moment.
    pub proof_delay: ProofDelay,
}

/// What to do with a resource that the peer offers unasked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// Refuse it.
    None,
    /// Ask the application by [`Event::Offered`](super::Event::Offered).
    #[default]
    App,
    /// Accept it.
    All,
}

/// How an incoming resource is handed out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Deliver {
    /// In one piece, once all segments are there.
    #[default]
    Whole,
    /// Segment by segment, so that a resource of any size needs the memory of one.
    Segments,
}

/// Whether the proof of a segment waits before it leaves.
///
/// The reference prepares the next segment only while it waits for the proof of the last; where the proof arrives
/// first, it looks for the prepared segment just every 50 ms. A proof that comes a little later then saves the rest.
/// The proof of a resource's last segment never waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProofDelay {
    /// Every proof leaves at once.
    Off,
    /// Proofs leave at once until the peer was seen to take long to offer a next segment; then they wait, 2 ms at
    /// first, and twice as long each time that was not enough, up to this.
    Adaptive(Duration),
    /// Every proof waits so long.
    Always(Duration),
}

impl ResourceConfig {
    /// Checks that the limits can be kept together.
    ///
    /// # Errors
    /// A limit contradicts another.
    pub const fn validate(&self) -> Result<(), ResourceConfigError> {
        if self.max_incoming_bytes < 3 * MAX_SEGMENT {
            return Err(ResourceConfigError::TooLittleMemory);
        }
        if matches!(self.deliver, Deliver::Whole) && self.max_incoming_size > self.max_incoming_bytes as u64 {
            return Err(ResourceConfigError::WholeDoesNotFit);
        }
        if self.max_request_size > self.max_incoming_bytes as u64 {
            return Err(ResourceConfigError::WholeDoesNotFit);
        }
        if self.max_outgoing == 0 || self.max_incoming == 0 {
            return Err(ResourceConfigError::NoPlace);
        }
        Ok(())
    }
}

impl Default for ResourceConfig {
    fn default() -> Self {
        Self {
            strategy: Strategy::App,
            deliver: Deliver::Whole,
            max_incoming_size: 64 << 20,
            max_request_size: 16 << 20,
            max_incoming: 4,
            max_incoming_bytes: 80 << 20,
            max_outgoing: 64,
            max_outgoing_bytes: 1 << 40,
            compress_limit: 64 << 20,
            segment_gap: Duration::from_secs(120),
            resource_gap: Duration::from_millis(5),
            proof_delay: ProofDelay::Adaptive(Duration::from_millis(32)),
        }
    }
}

/// Limits that contradict each other.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResourceConfigError {
    /// `max_incoming_bytes` is below three segments, which one compressed segment may take with its neighbours.
    #[error("max_incoming_bytes is below three segments")]
    TooLittleMemory,
    /// A resource that is delivered whole may be larger than the memory for it.
    #[error("a resource may be larger than the memory for it")]
    WholeDoesNotFit,
    /// No resource at all may be queued or come in.
    #[error("max_incoming and max_outgoing must not be 0")]
    NoPlace,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_can_be_kept_and_contradictions_are_named() {
        let config = ResourceConfig::default();
        assert_eq!(config.validate(), Ok(()));
        let large = ResourceConfig { max_incoming_size: u64::MAX, ..config.clone() };
        assert_eq!(large.validate(), Err(ResourceConfigError::WholeDoesNotFit));
        assert_eq!(ResourceConfig { deliver: Deliver::Segments, ..large }.validate(), Ok(()));
        let little = ResourceConfig { max_incoming_bytes: 1 << 20, ..config.clone() };
        assert_eq!(little.validate(), Err(ResourceConfigError::TooLittleMemory));
        let none = ResourceConfig { max_outgoing: 0, ..config };
        assert_eq!(none.validate(), Err(ResourceConfigError::NoPlace));
    }
}
