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
pub(super) struct Tail {
    pieces: VecDeque<Bytes>,
}

impl Tail {
    /// Keeps all of `bytes` and `pieces` but the first `done` bytes. Only the unsent part of `bytes` is copied.
    pub(super) fn keep(&mut self, bytes: &[u8], pieces: &[Bytes], done: usize) {
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

    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    pub(super) fn clear(&mut self) {
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
    mut pieces: impl Iterator<Item = &'a [u8]>,
    sent: &mut Traffic,
) -> (usize, io::Result<()>) {
    let mut done = 0;
    loop {
        let mut slices = [IoSlice::new(&[]); MAX_SLICES];
        let mut count = 0;
        for (slice, piece) in slices.iter_mut().zip(&mut pieces) {
            *slice = IoSlice::new(piece);
            count += 1;
        }
        let mut rest = slices.get_mut(..count).unwrap_or_default();
        while rest.iter().any(|slice| !slice.is_empty()) {
            match writer.try_write(rest) {
                Ok(0) => return (done, Err(ErrorKind::WriteZero.into())),
                Ok(written) => {
                    sent.add(0, written);
                    done += written;
                    IoSlice::advance_slices(&mut rest, written);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return (done, Err(error)),
            }
        }
        if count < MAX_SLICES {
            return (done, Ok(()));
        }
    }
}

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
}
