//! What can be tuned about a link, with its defaults and its memory.

use super::RequestPolicies;
use crate::resource::{ResourceConfig, ResourceConfigError};
use alloc::sync::Arc;

/// How a link behaves. Cloning is cheap: the table of policies is shared.
#[derive(Clone, Debug)]
pub struct LinkConfig {
    /// Which of the peer's data packets are proved.
    pub proofs: ProofStrategy,
    /// Whether the channel is open from the start; see [`Link::open_channel`](super::Link::open_channel).
    pub channel: bool,
    /// Whether pieces of streams are compressed where that makes them shorter.
    pub compress_streams: bool,
    /// The paths that the peer may ask for.
    pub requests: Arc<RequestPolicies>,
    /// The most bytes of a response to a request that says nothing else, 1 to 4 GiB. The peer's requests are limited
    /// by [`ResourceConfig::max_request_size`].
    pub max_response_size: usize,
    /// Requests without response at a time, 1 to 65,536; about 100 bytes each. More are an error.
    pub max_pending_requests: usize,
    /// Requests of the peer that the application has not answered, 1 to 65,536; about 50 bytes each. A new one takes
    /// the place of the oldest.
    pub max_unanswered_requests: usize,
    /// Packets whose proof is awaited, 1 to 65,536; about 150 bytes each. More are an error.
    pub max_receipts: usize,
    /// Events that the application has not fetched, 16 to 65,536, each with at most a packet's data. At the limit the
    /// peer's messages are dropped unproved.
    pub max_events: usize,
    /// Streams of the peer with unread data or an unread end, 1 to 16,384.
    pub max_streams: usize,
    /// Unread bytes of all streams, 16 KiB to 1 GiB. At the limit the peer's pieces are dropped unproved, so that it
    /// sends them again.
    pub max_stream_bytes: usize,
    /// How resources are transferred, and which are taken.
    pub resources: ResourceConfig,
}

impl Default for LinkConfig {
    fn default() -> Self {
        Self {
            proofs: ProofStrategy::None,
            channel: false,
            compress_streams: true,
            requests: Arc::default(),
            max_response_size: 64 << 20,
            max_pending_requests: 256,
            max_unanswered_requests: 256,
            max_receipts: 1_024,
            max_events: 1_024,
            max_streams: 64,
            max_stream_bytes: 1 << 20,
            resources: ResourceConfig::default(),
        }
    }
}

impl LinkConfig {
    /// Checks every value.
    ///
    /// # Errors
    /// The first value that is out of its range, by name.
    pub fn validate(&self) -> Result<(), LinkConfigError> {
        let ranges = [
            ("max_response_size", self.max_response_size, 1, u32::MAX.try_into().unwrap_or(usize::MAX)),
            ("max_pending_requests", self.max_pending_requests, 1, 65_536),
            ("max_unanswered_requests", self.max_unanswered_requests, 1, 65_536),
            ("max_receipts", self.max_receipts, 1, 65_536),
            ("max_events", self.max_events, 16, 65_536),
            ("max_streams", self.max_streams, 1, 16_384),
            ("max_stream_bytes", self.max_stream_bytes, 16 << 10, 1 << 30),
        ];
        match ranges.into_iter().find(|(_, value, low, high)| !(low..=high).contains(&value)) {
            Some((field, _, low, high)) => Err(LinkConfigError::OutOfRange { field, low, high }),
            None => Ok(self.resources.validate()?),
        }
    }
}

/// Which data packets a link proves without being told (spec 1.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ProofStrategy {
    /// None.
    #[default]
    None,
    /// Those that the application asks for, with [`Link::prove`](super::Link::prove).
    App,
    /// All.
    All,
}

/// A value out of its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkConfigError {
    /// A value of the link's own.
    #[error("{field} must be {low} to {high}")]
    OutOfRange {
        /// The name of the value.
        field: &'static str,
        /// The lowest that it may be.
        low: usize,
        /// The highest that it may be.
        high: usize,
    },
    /// The limits of resources contradict each other.
    #[error("resources: {0}")]
    Resources(#[from] ResourceConfigError),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_valid_and_a_value_out_of_range_is_named() {
        assert_eq!(LinkConfig::default().validate(), Ok(()));
        let config = LinkConfig { max_events: 3, ..LinkConfig::default() };
        let error = config.validate().unwrap_err();
        assert_eq!(alloc::format!("{error}"), "max_events must be 16 to 65536");
    }
}
