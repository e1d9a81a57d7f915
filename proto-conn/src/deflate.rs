//! Compressed data: DEFLATE (RFC 1951), alone or in a zlib (RFC 1950) or gzip (RFC 1952) wrapping.
//!
//! Both directions are streams that take input in pieces of any size, need no memory before their first byte, and give
//! it back when told to.

use alloc::{boxed::Box, vec::Vec};
use core::fmt;
use zlib_rs::{Deflate, DeflateFlush, Inflate, InflateFlush, Status};

use crate::Filling;

/// What is around the compressed data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrapping {
    /// Nothing: DEFLATE alone, as permessage-deflate has it.
    Raw,
    /// gzip, any number of members one after the other (RFC 1952 §2.2).
    Gzip,
    /// zlib, which is what HTTP means by "deflate" (RFC 9110 §8.4.1.2), or nothing, which is what some servers send.
    ZlibOrRaw,
}

/// Unpacks a stream.
pub(crate) struct Inflater {
    wrapping: Wrapping,
    stream: Option<Box<Inflate>>,
    /// The first byte of a stream whose wrapping the second will tell.
    first: Option<u8>,
    state: State,
}

/// Where a stream is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before its first byte: it may be anything that the wrapping allows.
    Fresh,
    /// Within.
    Within,
    /// Behind its end. With gzip, another member may follow.
    Ended,
}

/// How far [`Inflater::inflate`] came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Inflated {
    /// Bytes of input that were used.
    pub(crate) consumed: usize,
    /// Why it stopped.
    pub(crate) stop: Stop,
}

/// Why unpacking stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// All input is used; more may follow.
    Input,
    /// The output has reached its limit. Call again with more room, be it without input.
    Output,
    /// The compressed stream is complete; what is left of the input does not belong to it.
    End,
}

/// The data is not what it should be, or its checksum is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Corrupt;

impl Inflater {
    /// Creates one. It takes memory, some 50 KiB, with the first byte.
    pub(crate) const fn new(wrapping: Wrapping) -> Self {
        Self { wrapping, stream: None, first: None, state: State::Fresh }
    }

    /// Unpacks `input` to the end of `output` until that is `limit` bytes long.
    ///
    /// # Errors
    /// The data is corrupt. What was unpacked before is in `output`.
    pub(crate) fn inflate(
        &mut self,
        input: &[u8],
        output: &mut Filling,
        limit: usize,
    ) -> Result<Inflated, Corrupt> {
        let mut consumed = 0;
        loop {
            let rest = input.get(consumed..).unwrap_or_default();
            match self.state {
                State::Within => {}
                State::Ended if self.wrapping != Wrapping::Gzip || rest.is_empty() => {
                    return Ok(Inflated { consumed, stop: Stop::End });
                }
                State::Ended if rest.first() != GZIP_MAGIC.first() => {
                    // Padding, or something else that other readers overlook as well.
                    return Ok(Inflated { consumed, stop: Stop::End });
                }
                State::Fresh if rest.is_empty() => return Ok(Inflated { consumed, stop: Stop::Input }),
                State::Fresh | State::Ended => {
                    if !self.open(rest) {
                        return Ok(Inflated { consumed: input.len(), stop: Stop::Input });
                    }
                }
            }
            if let Some(first) = self.first {
                if self.step(&[first], output, limit)?.consumed == 0 {
                    return Ok(Inflated { consumed, stop: Stop::Output });
                }
                self.first = None;
            }
            let step = self.step(rest, output, limit)?;
            consumed += step.consumed;
            match step.stop {
                Stop::End if self.wrapping == Wrapping::Gzip => {}
                stop @ (Stop::Input | Stop::Output | Stop::End) => return Ok(Inflated { consumed, stop }),
            }
        }
    }

    /// Makes it ready for another stream, and keeps its memory.
    pub(crate) fn reset(&mut self) {
        if self.wrapping == Wrapping::Raw {
            if let Some(stream) = &mut self.stream {
                stream.reset(false);
            }
        } else {
            self.stream = None;
        }
        self.first = None;
        self.state = State::Fresh;
    }

    /// Makes it ready for another raw stream that refers back to `history`.
    pub(crate) fn restart_with(&mut self, history: &[u8]) -> Result<(), Corrupt> {
        self.reset();
        let Some(stream) = &mut self.stream else { return Ok(()) };
        let window = history.get(history.len().saturating_sub(1 << MAX_WINDOW_BITS)..).unwrap_or_default();
        stream.set_dictionary(window).map(|_| ()).map_err(|_| Corrupt)
    }

    /// Makes it ready for another stream, and gives its memory back.
    pub(crate) fn release(&mut self) {
        *self = Self::new(self.wrapping);
    }

    /// Says whether a stream has begun and not ended.
    pub(crate) const fn is_within(&self) -> bool {
        matches!(self.state, State::Within) || self.first.is_some()
    }

    /// Begins a stream whose first bytes are given. False if those do not tell what it is yet.
    fn open(&mut self, start: &[u8]) -> bool {
        let (header, window_bits) = match self.wrapping {
            Wrapping::Raw => (false, MAX_WINDOW_BITS),
            Wrapping::Gzip => (true, MAX_WINDOW_BITS + GZIP),
            Wrapping::ZlibOrRaw => {
                let (first, second) = match (self.first, start) {
                    (Some(first), &[second, ..]) | (None, &[first, second, ..]) => (first, second),
                    (_, rest) => {
                        self.first = self.first.or_else(|| rest.first().copied());
                        return false;
                    }
                };
                (is_zlib_header(first, second), MAX_WINDOW_BITS)
            }
        };
        if self.stream.is_none() || self.wrapping != Wrapping::Raw {
            self.stream = Some(Box::new(Inflate::new(header, window_bits)));
        }
        self.state = State::Within;
        true
    }

    fn step(&mut self, input: &[u8], output: &mut Filling, limit: usize) -> Result<Inflated, Corrupt> {
        let stream = self.stream.as_mut().ok_or(Corrupt)?;
        let mut consumed = 0;
        loop {
            let rest = input.get(consumed..).unwrap_or_default();
            let room = output.spare(limit.saturating_sub(output.len()));
            let had_room = room.len();
            let (before_in, before_out) = (stream.total_in(), stream.total_out());
            let status = stream.decompress(rest, room, InflateFlush::NoFlush).map_err(|_| Corrupt)?;
            let taken = difference(before_in, stream.total_in());
            let made = difference(before_out, stream.total_out());
            consumed += taken;
            output.advance(made);
            if status == Status::StreamEnd {
                self.state = State::Ended;
                return Ok(Inflated { consumed, stop: Stop::End });
            }
            // The stream may hold more than it had room for, without needing more input for it.
            if made == had_room {
                if output.len() >= limit {
                    return Ok(Inflated { consumed, stop: Stop::Output });
                }
            } else if consumed >= input.len() || (taken == 0 && made == 0) {
                return Ok(Inflated { consumed, stop: Stop::Input });
            }
        }
    }
}

impl fmt::Debug for Inflater {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { wrapping, state, .. } = self;
        f.debug_struct("Inflater").field("wrapping", wrapping).field("state", state).finish_non_exhaustive()
    }
}

/// Packs a stream as raw DEFLATE.
pub(crate) struct Deflater {
    window_bits: u8,
    level: Level,
    stream: Option<Box<Deflate>>,
}

/// How hard to try: 1 is fast, 9 packs best.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Level(u8);

impl Level {
    /// Creates a level from 1 to 9; what is beyond becomes the nearest.
    pub(crate) fn new(level: u8) -> Self {
        Self(level.clamp(1, 9))
    }
}

impl Deflater {
    /// Creates one whose output refers back by at most `2^window_bits` bytes, 8 to 15. It takes memory, some 270 KiB for
    /// the largest window, with the first byte.
    pub(crate) fn new(window_bits: u8, level: Level) -> Self {
        // A window of 9 bits refers back by at most 250 bytes: zlib's, and ours, stands in for that of 8.
        Self { window_bits: window_bits.clamp(MIN_WINDOW_BITS, MAX_WINDOW_BITS), level, stream: None }
    }

    /// Packs `input` to the end of `output`; with `flush`, up to a byte boundary marked by an empty block, 00 00 FF FF at
    /// the end (zlib's sync flush).
    ///
    /// # Errors
    /// There is not enough memory.
    pub(crate) fn deflate(&mut self, input: &[u8], flush: bool, output: &mut Vec<u8>) -> Result<(), Corrupt> {
        let Self { window_bits, level, stream } = self;
        let open = || Box::new(Deflate::new(i32::from(level.0), false, *window_bits));
        let stream = stream.get_or_insert_with(open);
        let mode = if flush { DeflateFlush::SyncFlush } else { DeflateFlush::NoFlush };
        let mut consumed = 0;
        loop {
            let rest = input.get(consumed..).unwrap_or_default();
            let before = output.len();
            let step = (rest.len() / 2).clamp(MIN_STEP, MAX_STEP);
            output.resize(before + step, 0);
            let (before_in, before_out) = (stream.total_in(), stream.total_out());
            let room = output.get_mut(before..).unwrap_or_default();
            let status = stream.compress(rest, room, mode);
            let made = difference(before_out, stream.total_out());
            consumed += difference(before_in, stream.total_in());
            output.truncate(before + made);
            status.map_err(|_| Corrupt)?;
            if made < step && consumed >= input.len() {
                return Ok(());
            }
        }
    }

    /// Forgets what was packed before, and keeps the memory.
    pub(crate) fn reset(&mut self) {
        if let Some(stream) = &mut self.stream {
            stream.reset();
        }
    }

    /// Forgets what was packed before, and gives the memory back.
    pub(crate) fn release(&mut self) {
        self.stream = None;
    }
}

impl fmt::Debug for Deflater {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { window_bits, level, .. } = self;
        f.debug_struct("Deflater")
            .field("window_bits", window_bits)
            .field("level", level)
            .finish_non_exhaustive()
    }
}

/// Says whether two bytes are a zlib header (RFC 1950 §2.2).
fn is_zlib_header(first: u8, second: u8) -> bool {
    let (method, window) = (first & 0x0f, first >> 4);
    method == 8 && window <= 7 && u16::from_be_bytes([first, second]).is_multiple_of(31)
}

/// Returns how far a stream's counter went in one call, which is at most the length of a slice.
fn difference(before: u64, after: u64) -> usize {
    usize::try_from(after.saturating_sub(before)).unwrap_or(usize::MAX)
}

const MAX_WINDOW_BITS: u8 = 15;
const MIN_WINDOW_BITS: u8 = 9;
/// Added to the window bits, it asks zlib for gzip.
const GZIP: u8 = 16;
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
/// Room given to the packer at a time. More than an empty block takes, as zlib asks for.
const MIN_STEP: usize = 256;
const MAX_STEP: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Pool;
    use alloc::vec;
    use proto_core::Rng;

    /// Text with repetitions near and far.
    fn sample(len: usize) -> Vec<u8> {
        let mut rng = Rng::from_u64(1);
        let mut bytes = vec![];
        while bytes.len() < len {
            match rng.below(3) {
                0 => bytes.extend(rng.next_u64().to_le_bytes()),
                _ => {
                    let from = usize::try_from(rng.below(bytes.len() as u64 + 1)).unwrap();
                    let part = bytes[from..].iter().take(100).copied().collect::<Vec<_>>();
                    bytes.extend(part);
                }
            }
        }
        bytes.truncate(len);
        bytes
    }

    fn packed(window_bits: u8, bytes: &[u8]) -> Vec<u8> {
        let mut output = vec![];
        Deflater::new(window_bits, Level::new(6)).deflate(bytes, true, &mut output).unwrap();
        output
    }

    fn wrapped(config: zlib_rs::DeflateConfig, bytes: &[u8]) -> Vec<u8> {
        let mut room = vec![0; 2 * bytes.len() + 100];
        let (output, _) = zlib_rs::compress_slice(&mut room, bytes, config);
        output.to_vec()
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        wrapped(zlib_rs::DeflateConfig { window_bits: 15 + 16, ..Default::default() }, bytes)
    }

    fn unpacked(inflater: &mut Inflater, input: &[u8], piece: usize) -> Result<(Vec<u8>, Stop), Corrupt> {
        let mut output = Pool::new(0).fill(0);
        let mut stop = Stop::Input;
        for piece in input.chunks(piece) {
            stop = inflater.inflate(piece, &mut output, usize::MAX)?.stop;
        }
        Ok((output.filled().to_vec(), stop))
    }

    #[test]
    fn any_pieces_of_any_wrapping_unpack_to_the_same() {
        let bytes = sample(100_000);
        let zlib = wrapped(zlib_rs::DeflateConfig::default(), &bytes);
        let raw = wrapped(zlib_rs::DeflateConfig { window_bits: -15, ..Default::default() }, &bytes);
        let cases = [
            (Wrapping::Gzip, gzip(&bytes)),
            (Wrapping::ZlibOrRaw, zlib),
            (Wrapping::ZlibOrRaw, raw.clone()),
            (Wrapping::Raw, raw),
        ];
        for (wrapping, input) in cases {
            let mut inflater = Inflater::new(wrapping);
            for piece in [1, 7, 4_096, usize::MAX] {
                let (output, stop) = unpacked(&mut inflater, &input, piece).unwrap();
                assert!(output == bytes && stop == Stop::End, "{wrapping:?} {piece}");
                inflater.reset();
            }
        }
    }

    #[test]
    fn output_stops_at_its_limit_and_goes_on_without_input() {
        let bytes = sample(10_000);
        let input = packed(15, &bytes);
        let (mut inflater, mut all, mut rest) = (Inflater::new(Wrapping::Raw), vec![], &input[..]);
        loop {
            let mut output = Pool::new(0).fill(0);
            let inflated = inflater.inflate(rest, &mut output, 77).unwrap();
            assert!(output.len() <= 77);
            all.extend_from_slice(output.filled());
            rest = &rest[inflated.consumed..];
            if inflated.stop != Stop::Output {
                break;
            }
        }
        assert!(all == bytes && rest.is_empty());
    }

    #[test]
    fn members_of_gzip_follow_each_other_and_padding_ends_them() {
        let input = [gzip(b"one "), gzip(b"two"), b"\0\0".to_vec()].concat();
        for piece in [1, usize::MAX] {
            let mut inflater = Inflater::new(Wrapping::Gzip);
            assert_eq!(unpacked(&mut inflater, &input, piece).unwrap(), (b"one two".to_vec(), Stop::End));
        }
    }

    #[test]
    fn a_wrong_checksum_is_corrupt() {
        let mut input = gzip(b"some text");
        let last = input.len() - 5;
        input[last] ^= 1;
        assert_eq!(unpacked(&mut Inflater::new(Wrapping::Gzip), &input, 1), Err(Corrupt));
    }

    #[test]
    fn random_input_is_corrupt_or_unpacks_but_never_panics() {
        let mut rng = Rng::from_u64(2);
        for _ in 0..2_000 {
            let mut input = [0; 64];
            rng.fill(&mut input);
            for wrapping in [Wrapping::Raw, Wrapping::Gzip, Wrapping::ZlibOrRaw] {
                let whole = unpacked(&mut Inflater::new(wrapping), &input, usize::MAX);
                let bytewise = unpacked(&mut Inflater::new(wrapping), &input, 1);
                assert_eq!(whole.is_ok(), bytewise.is_ok());
            }
        }
    }

    #[test]
    fn no_window_is_exceeded() {
        let bytes = sample(50_000);
        for window_bits in 8..=15 {
            let input = packed(window_bits, &bytes);
            // zlib's own check: an inflater with that very window.
            let mut strict = Inflate::new(false, window_bits);
            let mut output = vec![0; bytes.len() + 1];
            let mut done = 0;
            // In small pieces, or it would look up its own output instead of its window.
            for piece in input.chunks(16) {
                let before = strict.total_out();
                let end = done + 3_000;
                let end = end.min(output.len());
                strict.decompress(piece, &mut output[done..end], InflateFlush::NoFlush).unwrap();
                done += difference(before, strict.total_out());
            }
            assert!(output[..done] == bytes[..], "{window_bits}");
        }
    }

    #[test]
    fn context_is_kept_until_it_is_forgotten() {
        let bytes = sample(2_000);
        let mut deflater = Deflater::new(15, Level::new(6));
        let mut piece = |forget: bool| {
            if forget {
                deflater.reset();
            }
            let mut output = vec![];
            deflater.deflate(&bytes, true, &mut output).unwrap();
            assert!(output.ends_with(&[0, 0, 0xff, 0xff]));
            output
        };
        let (first, second, third) = (piece(false), piece(false), piece(true));
        assert!(second.len() < first.len() / 4);
        assert_eq!(third, first);
        let mut inflater = Inflater::new(Wrapping::Raw);
        for input in [&first, &second] {
            assert!(unpacked(&mut inflater, input, 9).unwrap() == (bytes.clone(), Stop::Input));
        }
        inflater.reset();
        assert!(unpacked(&mut inflater, &second, 9) != Ok((bytes.clone(), Stop::Input)));
    }

    #[test]
    fn a_stream_may_refer_to_the_one_before_its_last_block() {
        let bytes = sample(3_000);
        let mut deflater = Deflater::new(15, Level::new(6));
        let (mut first, mut second) = (vec![], vec![]);
        deflater.deflate(&bytes, true, &mut first).unwrap();
        deflater.deflate(&bytes, true, &mut second).unwrap();
        let mut inflater = Inflater::new(Wrapping::Raw);
        unpacked(&mut inflater, &first, 100).unwrap();
        inflater.restart_with(&bytes).unwrap();
        assert!(unpacked(&mut inflater, &second, 100).unwrap().0 == bytes);
    }
}
