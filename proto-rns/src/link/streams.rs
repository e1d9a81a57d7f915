//! Streams of bytes on the channel (spec 1.13).

use crate::{
    compression::{Compression, ExpandError},
    wire::{StreamData, StreamId},
};
use alloc::{
    collections::{BTreeMap, VecDeque},
    vec::Vec,
};
use bytes::Bytes;

/// The peer's streams, as far as the application has not read them.
///
/// Messages that arrived ahead of their turn are proved before it is known how much they expand to, so that beyond the
/// limit there may be a channel's window of pieces.
#[derive(Debug)]
pub(super) struct Streams {
    unread: BTreeMap<StreamId, Unread>,
    unread_bytes: usize,
    max_streams: usize,
    max_bytes: usize,
}

/// What was received of a stream.
#[derive(Debug, Default)]
struct Unread {
    pieces: VecDeque<Bytes>,
    ended: bool,
}

/// What there is to read of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamRead {
    /// The next bytes, never empty.
    Data(Bytes),
    /// Nothing yet.
    Empty,
    /// The end; the peer may use the number for another stream.
    End,
}

impl Streams {
    pub(super) const fn new(max_streams: usize, max_bytes: usize) -> Self {
        Self { unread: BTreeMap::new(), unread_bytes: 0, max_streams, max_bytes }
    }

    /// Says whether a piece may be taken, whatever it expands to.
    pub(super) fn has_room(&self, stream: StreamId) -> bool {
        self.unread_bytes + MAX_PIECE <= self.max_bytes
            && (self.unread.contains_key(&stream) || self.unread.len() < self.max_streams)
    }

    /// Takes a piece; says whether its stream has something to read that had nothing before.
    ///
    /// # Errors
    /// The piece is compressed and does not expand, or to too much.
    pub(super) fn on_piece(
        &mut self,
        compression: &dyn Compression,
        piece: &StreamData<'_>,
        message: &Bytes,
    ) -> Result<bool, ExpandError> {
        let data = if piece.compressed {
            Bytes::from(compression.expand(piece.data, MAX_PIECE)?)
        } else {
            message.slice_ref(piece.data)
        };
        let unread = self.unread.entry(piece.stream).or_default();
        let had_nothing = unread.pieces.is_empty() && !unread.ended;
        self.unread_bytes += data.len();
        if !data.is_empty() {
            unread.pieces.push_back(data);
        }
        unread.ended |= piece.end;
        let has_something = !unread.pieces.is_empty() || unread.ended;
        if !has_something {
            self.unread.remove(&piece.stream);
        }
        Ok(had_nothing && has_something)
    }

    /// Returns the next bytes of a stream.
    pub(super) fn read(&mut self, stream: StreamId) -> StreamRead {
        let Some(unread) = self.unread.get_mut(&stream) else { return StreamRead::Empty };
        let piece = unread.pieces.pop_front();
        if unread.pieces.is_empty() && !(unread.ended && piece.is_some()) {
            self.unread.remove(&stream);
        }
        match piece {
            Some(data) => {
                self.unread_bytes -= data.len();
                StreamRead::Data(data)
            }
            None => StreamRead::End,
        }
    }
}

/// The next piece of data that are to be sent.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// How many bytes of the data it stands for.
    pub(super) consumed: usize,
    /// Those bytes compressed, where that is shorter.
    pub(super) compressed: Option<Vec<u8>>,
}

impl Piece {
    /// Cuts a piece for a message with room for `room` bytes off the front of `data`. All, a half and a third of the
    /// data are tried with compression.
    pub(super) fn cut(compression: Option<&dyn Compression>, data: &[u8], room: usize) -> Self {
        let longest = data.len().min(MAX_PIECE);
        let divisors: &[usize] = if longest > NOT_WORTH_COMPRESSING { &[1, 2, 3] } else { &[] };
        for (compression, divisor) in
            compression.into_iter().flat_map(|it| divisors.iter().map(move |n| (it, n)))
        {
            let consumed = longest / divisor;
            let compressed = data.get(..consumed).and_then(|part| compression.compress(part));
            if let Some(compressed) = compressed.filter(|it| it.len() < room && it.len() < consumed) {
                return Self { consumed, compressed: Some(compressed) };
            }
        }
        Self { consumed: longest.min(room), compressed: None }
    }
}

/// The most bytes that a piece stands for, compressed or not.
const MAX_PIECE: usize = 16_384;
/// Data so short are sent as they are.
const NOT_WORTH_COMPRESSING: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compression::NoCompression;

    /// Runs of one byte, as its value and their length; stands in for bz2.
    #[derive(Debug)]
    struct Runs;

    impl Compression for Runs {
        fn compress(&self, data: &[u8]) -> Option<Vec<u8>> {
            let first = *data.first()?;
            let len = u32::try_from(data.len()).ok()?;
            let run = data.iter().all(|byte| *byte == first);
            run.then(|| [&[first][..], &len.to_be_bytes()].concat()).filter(|run| run.len() < data.len())
        }

        fn expand(&self, stream: &[u8], limit: usize) -> Result<Vec<u8>, ExpandError> {
            let (first, len) = stream.split_first().ok_or(ExpandError::Damaged)?;
            let len = u32::from_be_bytes(len.try_into().map_err(|_| ExpandError::Damaged)?) as usize;
            if len > limit { Err(ExpandError::TooLong) } else { Ok(alloc::vec![*first; len]) }
        }
    }

    const STREAM: StreamId = StreamId::MAX;

    fn put(streams: &mut Streams, data: &[u8], end: bool, compressed: bool) -> Result<bool, ExpandError> {
        let message = Bytes::copy_from_slice(data);
        streams.on_piece(&Runs, &StreamData { stream: STREAM, end, compressed, data: &message }, &message)
    }

    #[test]
    fn a_stream_is_read_as_it_came_and_ends_once() {
        let mut streams = Streams::new(2, 1 << 20);
        assert_eq!(put(&mut streams, b"one", false, false), Ok(true));
        assert_eq!(put(&mut streams, b"two", true, false), Ok(false));
        assert_eq!(streams.read(STREAM), StreamRead::Data("one".into()));
        assert_eq!(streams.read(STREAM), StreamRead::Data("two".into()));
        assert_eq!(streams.read(STREAM), StreamRead::End);
        assert_eq!(streams.read(STREAM), StreamRead::Empty);
        assert_eq!(streams.unread_bytes, 0);
    }

    #[test]
    fn a_piece_that_expands_beyond_its_limit_is_refused() {
        let mut streams = Streams::new(2, 1 << 20);
        let run = |len: u32| [&[7][..], &len.to_be_bytes()].concat();
        assert_eq!(put(&mut streams, &run(16_384), false, true), Ok(true));
        assert_eq!(put(&mut streams, &run(16_385), false, true), Err(ExpandError::TooLong));
        assert_eq!(streams.unread_bytes, 16_384);
    }

    #[test]
    fn unread_bytes_and_streams_are_bounded() {
        let mut streams = Streams::new(1, 20_000);
        let other = StreamId::new(1).unwrap();
        assert!(streams.has_room(other));
        put(&mut streams, &[0; 3_000], false, false).unwrap();
        assert!(!streams.has_room(other));
        assert!(streams.has_room(STREAM));
        put(&mut streams, &[0; 3_000], false, false).unwrap();
        assert!(!streams.has_room(STREAM));
        streams.read(STREAM);
        assert!(streams.has_room(STREAM));
    }

    #[test]
    fn an_empty_piece_tells_nothing_and_takes_no_room() {
        let mut streams = Streams::new(1, 1 << 20);
        assert_eq!(put(&mut streams, b"", false, false), Ok(false));
        assert!(streams.unread.is_empty());
        assert_eq!(put(&mut streams, b"", true, false), Ok(true));
        assert_eq!(streams.read(STREAM), StreamRead::End);
    }

    #[test]
    fn what_compresses_is_sent_compressed_and_the_rest_fills_the_packet() {
        let run = [7; 20_000];
        let piece = Piece::cut(Some(&Runs), &run, 423);
        assert_eq!(piece.consumed, 16_384);
        assert!(piece.compressed.is_some());
        let mut half = alloc::vec![7; 1_000];
        half.resize(2_000, 8);
        assert_eq!(Piece::cut(Some(&Runs), &half, 423).consumed, 1_000);
        assert_eq!(Piece::cut(None, &half, 423), Piece { consumed: 423, compressed: None });
        assert_eq!(Piece::cut(Some(&NoCompression), &half, 423).consumed, 423);
        assert_eq!(Piece::cut(Some(&Runs), &[7; 32], 423), Piece { consumed: 32, compressed: None });
    }
}
