//! Counters of what did not go as it should.

/// What a link's resources came across.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResourceStats {
    refused: [u64; Refusal::COUNT],
    /// Messages that could not be parsed.
    pub malformed: u64,
    /// Messages for no resource that is under way.
    pub stray: u64,
    /// Parts that belong to no resource that is under way, or came before.
    pub stray_parts: u64,
    /// Parts of the wrong length for their place.
    pub misfit_parts: u64,
    /// Wanted hashes that no part in reach has.
    pub unknown_hashes: u64,
    /// Requests for parts sent again because the parts did not come.
    pub retried_requests: u64,
    /// Proofs sent again because the sender asked.
    pub repeated_proofs: u64,
}

impl ResourceStats {
    /// Returns how many advertisements were refused for this reason.
    pub fn refused(&self, reason: Refusal) -> u64 {
        self.refused.get(reason as usize).copied().unwrap_or_default()
    }

    pub(super) fn count_refusal(&mut self, reason: Refusal) {
        if let Some(count) = self.refused.get_mut(reason as usize) {
            *count += 1;
        }
    }
}

/// Why an advertisement was refused. Nothing is allocated for a refused one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The stream is said to be unencrypted.
    Unencrypted,
    /// The stream's length is not that of a token, or above what a segment can have.
    TransferSize,
    /// The number of parts is not that of the stream on this link.
    PartCount,
    /// The number of hashes is not that of the parts.
    HashmapLength,
    /// The number of the segment or of the segments does not fit the data's size.
    Segments,
    /// A further segment of no resource under way, not the next one, or of another size than the first said.
    OutOfOrder,
    /// An uncompressed stream of another length than its data.
    SizeMismatch,
    /// Larger than allowed for its kind.
    TooLarge,
    /// No memory left for it.
    NoMemory,
    /// Too many resources under way.
    TooMany,
    /// The strategy refuses everything, or the application did.
    Unwanted,
    /// A response to a request that nobody made.
    Unrequested,
    /// The flags contradict each other or the request's hash.
    Flags,
}

impl Refusal {
    const COUNT: usize = Self::Flags as usize + 1;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_counted_by_reason() {
        let mut stats = ResourceStats::default();
        stats.count_refusal(Refusal::Flags);
        stats.count_refusal(Refusal::Flags);
        assert_eq!((stats.refused(Refusal::Flags), stats.refused(Refusal::TooMany)), (2, 0));
    }
}
