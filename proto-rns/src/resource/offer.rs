//! Whether what an advertisement says can be true (spec 3.1).
//!
//! A legal stream is a token of at most one segment, so everything that an advertisement could make a receiver
//! allocate is bounded by a megabyte before anything is allocated.

use super::{
    Kind, Refusal,
    hashmap::STRETCH,
    receiver::Accepted,
    segments::{MAX_SEGMENT, segment_count},
};
use crate::{crypto::token_len, wire::ResourceAdvertisement};

/// Checks an advertisement for a link whose parts have this size.
pub(super) fn check(
    advertisement: &ResourceAdvertisement<'_>,
    part_size: usize,
) -> Result<Accepted, Refusal> {
    kind(advertisement)?;
    if !advertisement.flags.encrypted {
        return Err(Refusal::Unencrypted);
    }
    let limit = content_limit(advertisement).ok_or(Refusal::Segments)?;
    let longest = token_len(PREFIX + limit);
    let transfer_size = usize::try_from(advertisement.transfer_size)
        .ok()
        .filter(|size| (token_len(PREFIX)..=longest).contains(size) && size % 16 == 0)
        .ok_or(Refusal::TransferSize)?;
    // Where the number of segments is the least possible, so is the size of each.
    let is_packed = u64::from(advertisement.segments) == segment_count(advertisement.data_size);
    if !advertisement.flags.compressed && is_packed && transfer_size != longest {
        return Err(Refusal::SizeMismatch);
    }
    let parts = transfer_size.div_ceil(part_size.max(1));
    if usize::try_from(advertisement.parts) != Ok(parts) {
        return Err(Refusal::PartCount);
    }
    if advertisement.hashmap.len() != parts.min(STRETCH) {
        return Err(Refusal::HashmapLength);
    }
    Ok(Accepted {
        hash: advertisement.hash,
        salt: advertisement.salt,
        transfer_size,
        part_size,
        parts,
        is_compressed: advertisement.flags.compressed,
        hashmap: advertisement.hashmap.as_bytes().into(),
        limit,
    })
}

/// Returns what an advertised resource is for.
pub(super) const fn kind(advertisement: &ResourceAdvertisement<'_>) -> Result<Kind, Refusal> {
    let flags = advertisement.flags;
    match (flags.is_request, flags.is_response, advertisement.request) {
        (false, false, None) => Ok(Kind::Plain),
        (true, false, Some(request)) => Ok(Kind::Request(request)),
        (false, true, Some(request)) => Ok(Kind::Response(request)),
        _ => Err(Refusal::Flags),
    }
}

/// Returns how many bytes the segment may hold, or `None` where the numbers of segments are impossible.
fn content_limit(advertisement: &ResourceAdvertisement<'_>) -> Option<usize> {
    let (number, count) = (u64::from(advertisement.segment), u64::from(advertisement.segments));
    let least = segment_count(advertisement.data_size);
    if advertisement.data_size == 0
        || !(1..=count).contains(&number)
        || count < least
        || count > advertisement.data_size
    {
        return None;
    }
    let is_last_of_least = count == least && number == count;
    let before = if is_last_of_least { (number - 1).saturating_mul(MAX_SEGMENT as u64) } else { 0 };
    let left = advertisement.data_size.saturating_sub(before);
    Some(usize::try_from(left).unwrap_or(MAX_SEGMENT).min(MAX_SEGMENT))
}

/// The random bytes before the contents.
const PREFIX: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        RequestId, ResourceHash,
        wire::{MapHashes, ResourceFlags, ResourceSalt},
    };
    use alloc::{vec, vec::Vec};

    const PART: usize = 464;

    fn advertisement(data_size: u64, hashmap: &[u8]) -> ResourceAdvertisement<'_> {
        let transfer_size = token_len(4 + usize::try_from(data_size).unwrap().min(MAX_SEGMENT)) as u64;
        ResourceAdvertisement {
            transfer_size,
            data_size,
            parts: u32::try_from(transfer_size.div_ceil(PART as u64)).unwrap(),
            hash: ResourceHash::new([1; 32]),
            salt: ResourceSalt::new([2; 4]),
            first_hash: ResourceHash::new([1; 32]),
            segment: 1,
            segments: u32::try_from(segment_count(data_size)).unwrap(),
            request: None,
            flags: ResourceFlags { encrypted: true, ..ResourceFlags::default() },
            hashmap: MapHashes::parse(hashmap).unwrap(),
        }
    }

    fn refusal(change: impl Fn(&mut ResourceAdvertisement<'_>)) -> Option<Refusal> {
        let hashmap = [0; 8];
        let mut changed = advertisement(700, &hashmap);
        assert!(check(&changed, PART).is_ok());
        change(&mut changed);
        check(&changed, PART).err()
    }

    #[test]
    fn every_impossible_field_is_refused_with_its_reason() {
        assert_eq!(refusal(|a| a.flags.encrypted = false), Some(Refusal::Unencrypted));
        assert_eq!(refusal(|a| a.transfer_size = 3 << 20), Some(Refusal::TransferSize));
        assert_eq!(refusal(|a| a.transfer_size = u64::MAX), Some(Refusal::TransferSize));
        assert_eq!(refusal(|a| a.transfer_size -= 1), Some(Refusal::TransferSize));
        assert_eq!(refusal(|a| a.transfer_size -= 16), Some(Refusal::SizeMismatch));
        assert_eq!(refusal(|a| a.parts = 3), Some(Refusal::PartCount));
        assert_eq!(refusal(|a| a.parts = u32::MAX), Some(Refusal::PartCount));
        assert_eq!(refusal(|a| a.hashmap = MapHashes::default()), Some(Refusal::HashmapLength));
        assert_eq!(refusal(|a| a.segment = 0), Some(Refusal::Segments));
        assert_eq!(refusal(|a| a.segment = 2), Some(Refusal::Segments));
        assert_eq!(refusal(|a| a.segments = u32::MAX), Some(Refusal::Segments));
        assert_eq!(refusal(|a| a.data_size = 0), Some(Refusal::Segments));
        assert_eq!(refusal(|a| a.data_size = 2 << 20), Some(Refusal::Segments));
        assert_eq!(refusal(|a| a.flags.is_request = true), Some(Refusal::Flags));
        assert_eq!(refusal(|a| a.request = Some(RequestId::new([0; 16]))), Some(Refusal::Flags));
    }

    #[test]
    fn a_compressed_stream_may_be_shorter_than_its_data_but_not_longer() {
        assert_eq!(
            refusal(|a| {
                a.flags.compressed = true;
                a.transfer_size -= 16;
            }),
            None
        );
        assert_eq!(
            refusal(|a| {
                a.flags.compressed = true;
                a.transfer_size += 16;
            }),
            Some(Refusal::TransferSize)
        );
    }

    #[test]
    fn a_full_segment_of_many_is_as_long_as_one_can_be() {
        let hashmap: Vec<u8> = vec![0; 4 * STRETCH];
        let full = advertisement(5 * MAX_SEGMENT as u64 - 9, &hashmap);
        assert_eq!(check(&full, PART).unwrap().limit, MAX_SEGMENT);
        let last = ResourceAdvertisement { segment: 5, ..full };
        assert_eq!(check(&last, PART).unwrap_err(), Refusal::TransferSize);
    }
}
