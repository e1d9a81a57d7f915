//! Writing pieces to a socket, and keeping what it has no room for.

use bytes::{Buf, Bytes};
use std::{
    collections::VecDeque,
    io::{self, ErrorKind, IoSlice},
};

use crate::stats::Traffic;

/// What takes bytes without waiting.
pub(super) trait Writer {
    /// Writes what there is room for.
    fn try_write(&self, slices: &[IoSlice<'_>]) -> io::Result<usize>;
}

/// The unsent rest of one transmit.
#[derive(Debug, Default)]
pub struct Tail {
    pieces: VecDeque<Bytes>,
}

impl Tail {
    /// Keeps all of `bytes` and `pieces` but the first `done` bytes. Only the unsent part of `bytes` is copied.
    pub fn keep(&mut self, bytes: &[u8], pieces: &[Bytes], done: usize) {
        if let Some(rest) = bytes.get(done..).filter(|rest| !rest.is_empty()) {
            self.pieces.push_back(Bytes::copy_from_slice(rest));
        }
        self.pieces.extend(pieces.iter().cloned());
        self.advance(done.saturating_sub(bytes.len()));
    }

    /// Writes what there is room for; `WouldBlock` says that some is left.
    pub(super) fn flush(&mut self, writer: &impl Writer, sent: &mut Traffic) -> io::Result<()> {
        let (done, result) = write(writer, self.pieces.iter().map(Bytes::as_ref), sent);
        self.advance(done);
        result
    }

    /// Says whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Gives up what is left.
    pub fn clear(&mut self) {
        self.pieces.clear();
    }

    fn advance(&mut self, mut done: usize) {
        while let Some(first) = self.pieces.front_mut()
            && (done > 0 || first.is_empty())
        {
            let step = done.min(first.len());
            first.advance(step);
            done -= step;
            if first.is_empty() {
                self.pieces.pop_front();
            }
        }
    }
}

/// Writes `pieces` until all is written or the writer takes no more, and returns how many bytes it took.
pub(super) fn write<'a>(
    writer: &impl Writer,
    pieces: impl Iterator<Item = &'a [u8]> + Clone,
    sent: &mut Traffic,
) -> (usize, io::Result<()>) {
    let pieces = pieces.filter(|piece| !piece.is_empty());
    let (count, total) =
        pieces.clone().fold((0_usize, 0), |(count, total), piece| (count + 1, total + piece.len()));
    let most = most_in_a_call(count, total);
    let mut done = 0;
    while done < total {
        let mut slices = [IoSlice::new(&[]); MAX_SLICES];
        match writer.try_write(gather(&mut slices, pieces.clone(), done, most)) {
            Ok(0) => return (done, Err(ErrorKind::WriteZero.into())),
            Ok(written) => {
                sent.add(0, written);
                done += written;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return (done, Err(error)),
        }
    }
    (done, Ok(()))
}

/// Lists up to `most` bytes of `pieces` after the first `done`.
fn gather<'a, 's>(
    slices: &'s mut [IoSlice<'a>],
    pieces: impl Iterator<Item = &'a [u8]>,
    done: usize,
    most: usize,
) -> &'s [IoSlice<'a>] {
    let (mut skip, mut left, mut count) = (done, most, 0);
    let mut free = slices.iter_mut();
    for piece in pieces {
        let Some(rest) = piece.get(skip..).filter(|rest| !rest.is_empty()) else {
            skip -= piece.len();
            continue;
        };
        skip = 0;
        let part = rest.get(..left).unwrap_or(rest);
        if part.is_empty() {
            break;
        }
        let Some(slice) = free.next() else { break };
        *slice = IoSlice::new(part);
        count += 1;
        left -= part.len();
    }
    slices.get(..count).unwrap_or_default()
}

/// Returns how many bytes one system call is to take of `total` in `count` pieces.
///
/// A whole message in one call is the cheapest for both sides. But one that goes a few bytes beyond 64 KiB, the most that
/// the kernel segments at once, can cost twice as much as two that stay below. A single piece is part of something longer
/// that its maker already cut, and goes on in step with the peer's reading.
const fn most_in_a_call(count: usize, total: usize) -> usize {
    let just_beyond = total > SEGMENTED_AT_ONCE && total <= SEGMENTED_AT_ONCE + MAX_PIECE / 8;
    if count == 1 || just_beyond { MAX_PIECE } else { total }
}

/// The longest part of a stream in one system call, unless it is a whole message.
const MAX_PIECE: usize = 60_000;

/// What Linux hands to TCP's segmentation at once.
const SEGMENTED_AT_ONCE: usize = 64 * 1024;

/// Pieces in one system call.
const MAX_SLICES: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::{Cell, RefCell};

    /// Takes `room` bytes, at most `step` in a call.
    struct Fake {
        room: Cell<usize>,
        step: usize,
        taken: RefCell<Vec<u8>>,
    }

    impl Writer for Fake {
        fn try_write(&self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
            let whole: Vec<u8> = slices.iter().flat_map(|slice| slice.iter().copied()).collect();
            let len = whole.len().min(self.step).min(self.room.get());
            if len == 0 {
                return Err(ErrorKind::WouldBlock.into());
            }
            self.room.set(self.room.get() - len);
            self.taken.borrow_mut().extend_from_slice(&whole[..len]);
            Ok(len)
        }
    }

    fn fake(room: usize, step: usize) -> Fake {
        Fake { room: Cell::new(room), step, taken: RefCell::default() }
    }

    fn send(writer: &Fake, bytes: &[u8], pieces: &[Bytes]) -> Tail {
        let all = std::iter::once(bytes).chain(pieces.iter().map(Bytes::as_ref));
        let (done, result) = write(writer, all, &mut Traffic::default());
        let mut tail = Tail::default();
        if result.is_err() {
            tail.keep(bytes, pieces, done);
        }
        tail
    }

    fn len(tail: &Tail) -> usize {
        tail.pieces.iter().map(Bytes::len).sum()
    }

    #[test]
    fn wherever_the_writer_stops_the_tail_goes_on() {
        let pieces =
            [Bytes::from_static(b"cde"), Bytes::new(), Bytes::from_static(b"fg"), Bytes::from_static(b"h")];
        for room in 0..=9 {
            for step in 1..=9 {
                let writer = fake(room, step);
                let mut tail = send(&writer, b"ab", &pieces);
                assert_eq!(len(&tail), 8 - room.min(8), "{room} {step}");
                assert_eq!(tail.is_empty(), room >= 8);
                writer.room.set(100);
                tail.flush(&writer, &mut Traffic::default()).unwrap();
                assert!(tail.is_empty());
                assert_eq!(*writer.taken.borrow(), b"abcdefgh");
            }
        }
    }

    #[test]
    fn more_pieces_than_one_call_takes_go_out_in_order() {
        let bytes: Vec<u8> = (0..=255).collect();
        let pieces: Vec<Bytes> = bytes.iter().map(|&byte| Bytes::copy_from_slice(&[byte])).collect();
        let writer = fake(1_000, 1_000);
        assert!(send(&writer, &[], &pieces).is_empty());
        assert_eq!(*writer.taken.borrow(), bytes);
    }

    #[test]
    fn a_partial_flush_keeps_the_rest() {
        let writer = fake(0, 9);
        let mut tail = send(&writer, b"abc", &[Bytes::from_static(b"def")]);
        writer.room.set(4);
        assert_eq!(tail.flush(&writer, &mut Traffic::default()).unwrap_err().kind(), ErrorKind::WouldBlock);
        assert_eq!((len(&tail), writer.taken.borrow().as_slice()), (2, b"abcd".as_slice()));
    }

    #[test]
    fn a_message_is_one_call_and_a_long_piece_is_cut() {
        let calls = |bytes: usize, pieces: &[usize]| {
            let writer = Calls::default();
            let pieces: Vec<Bytes> = pieces.iter().map(|&len| Bytes::from(vec![0; len])).collect();
            let bytes = vec![0; bytes];
            let all = std::iter::once(bytes.as_slice()).chain(pieces.iter().map(Bytes::as_ref));
            write(&writer, all, &mut Traffic::default()).1.unwrap();
            writer.0.into_inner()
        };
        assert_eq!(calls(100, &[1 << 20]), [100 + (1 << 20)]);
        assert_eq!(calls(60_000, &[]), [60_000]);
        assert_eq!(calls(150_000, &[]), [60_000, 60_000, 30_000]);
        assert_eq!(calls(14, &[65_536]), [60_000, 5_550]);
    }

    /// Takes everything, and notes how much at a time.
    #[derive(Default)]
    struct Calls(RefCell<Vec<usize>>);

    impl Writer for Calls {
        fn try_write(&self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
            let len = slices.iter().map(|slice| slice.len()).sum();
            self.0.borrow_mut().push(len);
            Ok(len)
        }
    }
}
