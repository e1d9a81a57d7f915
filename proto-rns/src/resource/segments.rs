//! How data become segments (spec 1.12, step 1).
//!
//! ```text
//! | length 3 | metadata | data ...                      |
//! | segment 1: 1 048 575 | segment 2: 1 048 575 | ...   |
//! ```

use super::{Data, SendError};
use alloc::vec::Vec;
use bytes::Bytes;

/// The length of every segment but the last (MAX_EFFICIENT_SIZE).
pub const MAX_SEGMENT: usize = 1_048_575;

/// Returns how many segments data of this size, metadata included, have.
pub const fn segment_count(total_size: u64) -> u64 {
    total_size.div_ceil(MAX_SEGMENT as u64)
}

/// Data and metadata, cut into segments without being copied.
#[derive(Clone, Debug)]
pub(super) struct Segments {
    block: Bytes,
    data: Data,
    count: u32,
}

impl Segments {
    pub(super) fn new(data: Data, metadata: Option<&[u8]>) -> Result<Self, SendError> {
        let block = metadata.map_or(Ok(Bytes::new()), metadata_block)?;
        let count = segment_count(size(&block, &data));
        match u32::try_from(count) {
            Ok(0) => Err(SendError::Empty),
            Ok(count) => Ok(Self { block, data, count }),
            Err(_) => Err(SendError::TooLong),
        }
    }

    pub(super) const fn count(&self) -> u32 {
        self.count
    }

    /// Returns the length of all segments.
    pub(super) fn total_size(&self) -> u64 {
        size(&self.block, &self.data)
    }

    pub(super) fn has_metadata(&self) -> bool {
        !self.block.is_empty()
    }

    /// Returns a segment by its number, from 1; `None` where its data cannot be read.
    pub(super) fn get(&self, number: u32) -> Option<SegmentContent> {
        let first = (MAX_SEGMENT as u64).saturating_sub(self.block.len() as u64);
        let (start, len) = match number.checked_sub(2) {
            None => (0, first),
            Some(further) => (
                (MAX_SEGMENT as u64).saturating_mul(further.into()).saturating_add(first),
                MAX_SEGMENT as u64,
            ),
        };
        let start = start.min(self.data.len());
        let end = start.saturating_add(len).min(self.data.len());
        let metadata = if number <= 1 { self.block.clone() } else { Bytes::new() };
        Some(SegmentContent { metadata, data: self.data.slice(start, end)? })
    }
}

/// What one segment holds: bytes in two pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SegmentContent {
    metadata: Bytes,
    data: Bytes,
}

impl SegmentContent {
    /// Takes data without metadata.
    pub const fn from_data(data: Bytes) -> Self {
        Self { metadata: Bytes::new(), data }
    }

    /// Returns the two pieces.
    pub(super) fn pieces(&self) -> [&[u8]; 2] {
        [&self.metadata, &self.data]
    }

    /// Returns the length in bytes.
    pub const fn len(&self) -> usize {
        self.metadata.len() + self.data.len()
    }

    /// Says whether there are no bytes.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Takes the metadata off the front of a first segment; `None` where their length is impossible.
pub(super) fn split_metadata(mut content: Bytes) -> Option<(Bytes, Bytes)> {
    let [high, middle, low] = *content.first_chunk::<METADATA_LENGTH>()?;
    let len = usize::try_from(u32::from_be_bytes([0, high, middle, low])).ok()?;
    let end = len.checked_add(METADATA_LENGTH)?;
    if end > content.len() {
        return None;
    }
    let mut block = content.split_to(end);
    Some((block.split_off(METADATA_LENGTH), content))
}

fn metadata_block(metadata: &[u8]) -> Result<Bytes, SendError> {
    let len = u32::try_from(metadata.len()).map_err(|_| SendError::MetadataTooLong)?;
    if metadata.len() > MAX_SEGMENT - METADATA_LENGTH {
        return Err(SendError::MetadataTooLong);
    }
    let mut block = Vec::with_capacity(METADATA_LENGTH + metadata.len());
    block.extend(len.to_be_bytes().into_iter().skip(1));
    block.extend_from_slice(metadata);
    Ok(block.into())
}

fn size(block: &Bytes, data: &Data) -> u64 {
    (block.len() as u64).saturating_add(data.len())
}

/// How many bytes hold the length of the metadata.
const METADATA_LENGTH: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn segments_are_full_but_the_last_and_make_up_the_data() {
        for (len, metadata) in [
            (1, 0),
            (MAX_SEGMENT, 0),
            (MAX_SEGMENT + 1, 0),
            (3 * MAX_SEGMENT - 10, 7),
            (0, 5),
            (9, MAX_SEGMENT - 3),
        ] {
            let data: Vec<u8> = (0..len).map(|i| u8::try_from(i % 251).unwrap()).collect();
            let metadata = (metadata > 0).then(|| vec![0xc0; metadata]);
            let segments = Segments::new(data.clone().into(), metadata.as_deref()).unwrap();
            let mut joined = Vec::new();
            for number in 1..=segments.count() {
                let content = segments.get(number).unwrap();
                assert!(content.len() == MAX_SEGMENT || number == segments.count());
                joined.extend_from_slice(&content.pieces().concat());
            }
            assert_eq!(joined.len() as u64, segments.total_size());
            if let Some(metadata) = metadata {
                let (split, rest) = split_metadata(joined.into()).unwrap();
                assert_eq!((&split[..], &rest[..]), (&metadata[..], &data[..]));
            } else {
                assert_eq!(joined, data);
            }
        }
    }

    #[test]
    fn nothing_and_too_long_metadata_are_refused() {
        assert_eq!(Segments::new(Data::default(), None).unwrap_err(), SendError::Empty);
        let metadata = vec![0; MAX_SEGMENT - 2];
        assert_eq!(Segments::new(Data::default(), Some(&metadata)).unwrap_err(), SendError::MetadataTooLong);
    }

    #[test]
    fn metadata_longer_than_their_segment_are_impossible() {
        assert_eq!(split_metadata(Bytes::from_static(&[0, 0, 2, 1])), None);
        assert_eq!(split_metadata(Bytes::from_static(&[0, 0])), None);
        let empty = split_metadata(Bytes::from_static(&[0, 0, 0])).unwrap();
        assert_eq!(empty, (Bytes::new(), Bytes::new()));
    }
}
