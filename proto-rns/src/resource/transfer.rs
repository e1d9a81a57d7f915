//! One resource on its way in: its segments one after the other.

use super::{
    Deliver, Event, FailReason, MAX_SEGMENT, Offer, ResourceId,
    receiver::{Accepted, Receiver},
    segments::split_metadata,
};
use crate::{ResourceHash, crypto::token_len};
use alloc::{boxed::Box, vec::Vec};
use bytes::Bytes;
use proto_core::Instant;

/// A resource that was offered and not refused.
#[derive(Debug)]
pub(super) struct Transfer {
    pub offer: Offer,
    pub deliver: Deliver,
    /// The memory set aside for it.
    pub reserved: usize,
    pub stage: Stage,
    /// The segment under way, or the next one.
    pub number: u32,
    /// The bytes that the segments before it held, metadata included.
    content_bytes: u64,
    /// The bytes of their streams.
    stream_bytes: u64,
    joined: Vec<u8>,
    metadata: Option<Bytes>,
}

/// Where a transfer is.
#[derive(Debug)]
pub(super) enum Stage {
    /// The application has not answered.
    Offered {
        /// What it may accept.
        accepted: Accepted,
        /// How long it may take.
        until: Instant,
    },
    /// A segment comes in.
    Receiving(Box<Receiver>),
    /// The next segment's offer is waited for.
    Between {
        /// The segment before it.
        last: ResourceHash,
        /// How long the sender may take.
        until: Instant,
    },
}

impl Transfer {
    pub(super) const fn new(offer: Offer, deliver: Deliver, reserved: usize, stage: Stage) -> Self {
        Self {
            offer,
            deliver,
            reserved,
            stage,
            number: 1,
            content_bytes: 0,
            stream_bytes: 0,
            joined: Vec::new(),
            metadata: None,
        }
    }

    pub(super) const fn id(&self) -> ResourceId {
        self.offer.id
    }

    /// Says whether the segment under way is the last one.
    pub(super) const fn is_last(&self) -> bool {
        self.number >= self.offer.segments
    }

    pub(super) const fn receiver(&mut self) -> Option<&mut Receiver> {
        if let Stage::Receiving(receiver) = &mut self.stage { Some(receiver) } else { None }
    }

    /// Returns the hash of the segment under way, or of the one before.
    pub(super) const fn segment_hash(&self) -> ResourceHash {
        match &self.stage {
            Stage::Offered { accepted, .. } => accepted.hash,
            Stage::Receiving(receiver) => receiver.hash(),
            Stage::Between { last, .. } => *last,
        }
    }

    pub(super) fn deadline(&self) -> Instant {
        match &self.stage {
            Stage::Offered { until, .. } | Stage::Between { until, .. } => *until,
            Stage::Receiving(receiver) => receiver.deadline(),
        }
    }

    /// Returns how far the transfer is.
    pub(super) const fn progress(&self) -> Option<Event> {
        let Stage::Receiving(receiver) = &self.stage else { return None };
        let total = if self.offer.segments == 1 { receiver.transfer_size() } else { self.offer.total_size };
        let done = self.stream_bytes.saturating_add(receiver.received_bytes());
        Some(Event::Progress { id: self.offer.id, done, total })
    }

    /// Takes in a whole segment. Returns what there is to tell the application.
    pub(super) fn take_segment(
        &mut self,
        mut content: Bytes,
        stream_len: u64,
    ) -> Result<Option<Event>, FailReason> {
        self.content_bytes = self.content_bytes.saturating_add(content.len() as u64);
        self.stream_bytes = self.stream_bytes.saturating_add(stream_len);
        let is_last = self.is_last();
        if self.content_bytes > self.offer.total_size {
            return Err(FailReason::TooLarge);
        }
        if is_last && self.content_bytes != self.offer.total_size {
            return Err(FailReason::Corrupt);
        }
        let mut metadata = None;
        if self.number == 1 && self.offer.has_metadata {
            let (split, rest) = split_metadata(content).ok_or(FailReason::Corrupt)?;
            metadata = Some(split);
            content = rest;
        }
        Ok(match self.deliver {
            Deliver::Segments => Some(Event::SegmentReceived {
                id: self.id(),
                segment: self.number,
                segments: self.offer.segments,
                data: content,
                metadata,
            }),
            Deliver::Whole => {
                self.metadata = self.metadata.take().or(metadata);
                let data = self.join(content, is_last);
                data.map(|data| Event::Received {
                    id: self.id(),
                    kind: self.offer.kind,
                    data,
                    metadata: self.metadata.take(),
                })
            }
        })
    }

    pub(super) const fn failed(&self, reason: FailReason) -> Event {
        Event::Failed { id: self.offer.id, kind: self.offer.kind, reason }
    }

    /// Appends a segment; a single one is handed through without a copy.
    fn join(&mut self, content: Bytes, is_last: bool) -> Option<Bytes> {
        if is_last && self.joined.is_empty() {
            return Some(content);
        }
        let needed = self.joined.len() + content.len();
        if self.joined.capacity() < needed {
            // Segments that really came vouch for the size that was advertised: it is not reserved all at once.
            let whole = usize::try_from(self.offer.total_size).unwrap_or(usize::MAX);
            self.joined.reserve_exact(needed.saturating_mul(2).min(whole).max(needed) - self.joined.len());
        }
        self.joined.extend_from_slice(&content);
        is_last.then(|| core::mem::take(&mut self.joined).into())
    }
}

/// Returns the memory that a resource takes at most: its segment's stream and contents, and the segments joined so far.
pub(super) fn memory_for(accepted: &Accepted, total_size: u64, segments: u32, deliver: Deliver) -> usize {
    let contents = if accepted.is_compressed { accepted.limit } else { 0 };
    if segments == 1 {
        return accepted.transfer_size + contents;
    }
    let segment = token_len(MAX_SEGMENT + 4) + contents;
    match deliver {
        Deliver::Segments => segment,
        Deliver::Whole => usize::try_from(total_size).unwrap_or(usize::MAX).saturating_add(segment),
    }
}
