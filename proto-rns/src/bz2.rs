//! bz2 on the `bzip2` crate.

use crate::compression::{Compression, ExpandError};
use alloc::vec::Vec;
use bzip2::{Action, Compress, Decompress, Status};

/// Compresses with as little workspace as the data need, and expands what any bz2 made.
///
/// bz2 works on blocks of up to 900 KB; a smaller block than the data fill gives the same result up to two bits of the
/// header, for 1.2 MB of workspace instead of 8. Data that no code of single bytes could shorten are not tried at all.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bz2 {
    level: Option<u32>,
}

impl Bz2 {
    /// Compresses at one level, 1 to 9, whatever the data: the reference's bytes come out at 9.
    pub fn at_level(level: u32) -> Self {
        Self { level: Some(level.clamp(1, 9)) }
    }

    fn level_for(self, len: usize) -> u32 {
        self.level.unwrap_or_else(|| u32::try_from(len.div_ceil(BLOCK_UNIT)).unwrap_or(9).clamp(1, 9))
    }
}

impl Compression for Bz2 {
    fn compress(&self, data: &[u8]) -> Option<Vec<u8>> {
        if data.len() <= SHORTEST_STREAM || is_dense(data) {
            return None;
        }
        // One byte less than the data: a stream that does not fit is not worth sending.
        let mut out = Vec::with_capacity(data.len() - 1);
        let mut stream = Compress::new(bzip2::Compression::new(self.level_for(data.len())), 0);
        loop {
            let taken = usize::try_from(stream.total_in()).ok()?;
            match stream.compress_vec(data.get(taken..)?, &mut out, Action::Finish).ok()? {
                Status::StreamEnd => return (out.len() < data.len()).then_some(out),
                _ if out.len() == out.capacity() => return None,
                Status::Ok | Status::FlushOk | Status::RunOk | Status::FinishOk | Status::MemNeeded => {}
            }
        }
    }

    fn expand(&self, stream: &[u8], limit: usize) -> Result<Vec<u8>, ExpandError> {
        let mut expander = Decompress::new(false);
        let mut out = Vec::new();
        let mut window = stream.len().saturating_mul(4).max(4096);
        loop {
            if out.len() == limit {
                return end_at_limit(&mut expander, stream).map(|()| out);
            }
            out.reserve_exact(window.min(limit - out.len()));
            let (before, produced) = (expander.total_in(), out.len());
            let rest = unread(&expander, stream)?;
            let status = expander.decompress_vec(rest, &mut out).map_err(|_| ExpandError::Damaged)?;
            if out.len() > limit {
                return Err(ExpandError::TooLong);
            }
            match status {
                Status::StreamEnd if unread(&expander, stream)?.is_empty() => return Ok(out),
                Status::StreamEnd => return Err(ExpandError::Damaged),
                _ if expander.total_in() == before && out.len() == produced => {
                    return Err(ExpandError::Damaged);
                }
                Status::Ok | Status::FlushOk | Status::RunOk | Status::FinishOk | Status::MemNeeded => {
                    window = out.len()
                }
            }
        }
    }
}

/// Makes sure that the stream ends although there is room for no more than a byte to prove the contrary.
fn end_at_limit(expander: &mut Decompress, stream: &[u8]) -> Result<(), ExpandError> {
    let written = expander.total_out();
    let rest = unread(expander, stream)?;
    let status = expander.decompress(rest, &mut [0]).map_err(|_| ExpandError::Damaged)?;
    if expander.total_out() > written {
        return Err(ExpandError::TooLong);
    }
    match status {
        Status::StreamEnd if unread(expander, stream)?.is_empty() => Ok(()),
        Status::StreamEnd
        | Status::Ok
        | Status::FlushOk
        | Status::RunOk
        | Status::FinishOk
        | Status::MemNeeded => Err(ExpandError::Damaged),
    }
}

fn unread<'a>(expander: &Decompress, stream: &'a [u8]) -> Result<&'a [u8], ExpandError> {
    usize::try_from(expander.total_in())
        .ok()
        .and_then(|taken| stream.get(taken..))
        .ok_or(ExpandError::Damaged)
}

/// Says whether the bytes are spread so evenly that coding them singly gains nothing.
///
/// Two bytes drawn from the data are equal with a probability whose logarithm (the Rényi entropy of order 2) is never
/// above the Shannon entropy, and it is estimated without bias from few bytes. Above 7.8 bits a byte, at most 2.5 per
/// cent could be won, which the overhead of bz2 eats.
fn is_dense(data: &[u8]) -> bool {
    let mut counts = [0_u64; 256];
    let sample = data.get(..SAMPLE).unwrap_or(data);
    let tail =
        data.len().checked_sub(SAMPLE).and_then(|start| data.get(start.max(SAMPLE)..)).unwrap_or_default();
    for byte in sample.iter().chain(tail) {
        if let Some(count) = counts.get_mut(usize::from(*byte)) {
            *count += 1;
        }
    }
    let total = counts.iter().sum::<u64>();
    let equal_pairs = counts.iter().map(|count| count * count.saturating_sub(1)).sum::<u64>();
    let pairs = total * total.saturating_sub(1);
    // 256 * 2^-7.8 = 1.149
    equal_pairs * 256 * 1000 < pairs * 1149
}

/// Level `n` works on blocks of `n` times so many bytes.
const BLOCK_UNIT: usize = 100_000;

/// The length of the shortest stream that holds anything.
const SHORTEST_STREAM: usize = 36;

/// How many bytes of each end of the data are looked at.
const SAMPLE: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;
    use proto_core::Rng;

    fn random(len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        Rng::from_u64(7).fill(&mut bytes);
        bytes
    }

    proptest! {
        #[test]
        fn text_expands_to_what_was_compressed(words in prop::collection::vec("[a-e]{1,6}", 20..400), slack in 0..3_usize) {
            let text = words.join(" ").into_bytes();
            if let Some(stream) = Bz2::default().compress(&text) {
                prop_assert!(stream.len() < text.len());
                prop_assert_eq!(Bz2::default().expand(&stream, text.len() + slack), Ok(text.clone()));
                prop_assert_eq!(Bz2::default().expand(&stream, text.len() - 1), Err(ExpandError::TooLong));
                for cut in 0..stream.len() {
                    prop_assert!(Bz2::default().expand(&stream[..cut], text.len()).is_err());
                }
                prop_assert!(Bz2::default().expand(&[&stream[..], b"x"].concat(), text.len()).is_err());
            }
        }

        #[test]
        fn any_bytes_expand_without_panic_and_within_the_limit(mut bytes: Vec<u8>, limit in 0..10_000_usize) {
            bytes.splice(0..0, *b"BZh9");
            prop_assert!(Bz2::default().expand(&bytes, limit).map_or(true, |out| out.len() <= limit));
        }
    }

    #[test]
    fn a_bomb_allocates_no_more_than_its_limit() {
        let stream = Bz2::default().compress(&vec![0; 40_000_000]).unwrap();
        assert!(stream.len() < 1_000);
        assert_eq!(Bz2::default().expand(&stream, 1_000_000), Err(ExpandError::TooLong));
        let whole = Bz2::default().expand(&stream, 40_000_000).unwrap();
        assert_eq!((whole.len(), whole.capacity()), (40_000_000, 40_000_000));
    }

    #[test]
    fn dense_data_are_not_tried_and_text_in_base64_is() {
        for len in [300, 1_000, 100_000] {
            assert!(is_dense(&random(len)), "{len}");
            let digits: Vec<u8> = random(len).iter().map(|byte| b'0' + (byte & 63)).collect();
            assert!(!is_dense(&digits), "{len}");
        }
        assert_eq!(Bz2::default().compress(&random(100_000)), None);
    }

    #[test]
    fn a_small_level_is_as_good_as_the_highest() {
        let text: Vec<u8> = random(90_000).iter().map(|byte| b'a' + (byte & 7)).collect();
        let small = Bz2::default().compress(&text).unwrap();
        let large = Bz2::at_level(9).compress(&text).unwrap();
        assert_eq!(small.len(), large.len());
        assert_eq!((small[3], large[3]), (b'1', b'9'));
    }
}
