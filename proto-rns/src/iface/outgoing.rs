//! What waits to leave by an interface.

use alloc::{collections::VecDeque, vec::Vec};
use core::num::NonZeroUsize;

/// The frames that wait for an interface, already in the form in which they leave.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    bytes: Vec<u8>,
    /// How many bytes at the front have left.
    sent: usize,
    /// The lengths of the datagrams; empty on a stream, where frames delimit themselves.
    datagrams: VecDeque<usize>,
}

impl Outgoing {
    /// Returns how many bytes wait.
    pub(super) fn len(&self) -> usize {
        self.bytes.len().saturating_sub(self.sent)
    }

    /// Lets `write` append a frame to a stream.
    pub(super) fn push_frame(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.bytes);
    }

    /// Lets `write` append a datagram.
    pub(super) fn push_datagram(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let before = self.bytes.len();
        write(&mut self.bytes);
        self.datagrams.push_back(self.bytes.len().saturating_sub(before));
    }

    /// Moves everything to the end of `out`, as one write to a stream, and says how much that was.
    pub(super) fn take_stream(&mut self, out: &mut Vec<u8>) -> usize {
        let len = self.bytes.len();
        if out.is_empty() {
            // The buffers change places, and no byte is copied.
            core::mem::swap(out, &mut self.bytes);
        } else {
            out.append(&mut self.bytes);
        }
        len
    }

    /// Moves a run of equally long datagrams to the end of `out`, the last of which may be shorter. Returns the length
    /// of the first and of all, or `None` when there is none.
    pub(super) fn take_datagrams(&mut self, most: NonZeroUsize, out: &mut Vec<u8>) -> Option<(usize, usize)> {
        let first = self.datagrams.pop_front()?;
        let mut len = first;
        for _ in 1..most.get() {
            match self.datagrams.front() {
                Some(&next) if next <= first && len.saturating_add(next) <= MAX_RUN => {
                    self.datagrams.pop_front();
                    len += next;
                    if next < first {
                        break;
                    }
                }
                _ => break,
            }
        }
        out.extend_from_slice(self.bytes.get(self.sent..self.sent.saturating_add(len)).unwrap_or_default());
        self.sent = self.sent.saturating_add(len);
        if self.datagrams.is_empty() {
            self.clear();
        } else if self.sent > MAX_RUN {
            self.bytes.drain(..self.sent);
            self.sent = 0;
        }
        Some((first, len))
    }

    /// Drops everything.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.datagrams.clear();
        self.sent = 0;
    }
}

/// The longest run of datagrams in one system call (a UDP datagram's limit).
const MAX_RUN: usize = 65_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagrams_leave_in_runs_of_equal_length() {
        let mut outgoing = Outgoing::default();
        for len in [5, 5, 5, 3, 7, 5] {
            outgoing.push_datagram(|out| out.resize(out.len() + len, 1));
        }
        let most = NonZeroUsize::new(64).unwrap();
        let mut runs = Vec::new();
        let mut out = Vec::new();
        while let Some(run) = outgoing.take_datagrams(most, &mut out) {
            runs.push(run);
        }
        assert_eq!(runs, [(5, 18), (7, 12)]);
        assert_eq!((out.len(), outgoing.len()), (30, 0));
    }

    #[test]
    fn a_stream_leaves_as_one_piece() {
        let mut outgoing = Outgoing::default();
        outgoing.push_frame(|out| out.extend_from_slice(b"one"));
        outgoing.push_frame(|out| out.extend_from_slice(b"two"));
        let mut out = Vec::new();
        assert_eq!(outgoing.take_stream(&mut out), 6);
        assert_eq!((&out[..], outgoing.len()), (&b"onetwo"[..], 0));
    }
}
