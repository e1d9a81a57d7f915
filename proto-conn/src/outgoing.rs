//! Bytes on their way to a stream.

use alloc::{collections::VecDeque, vec::Vec};
use bytes::{Buf as _, Bytes};

use crate::Payload;

/// What a protocol has to send on a stream: copied bytes and payloads that are only referred to, in order.
///
/// Short payloads are copied behind the bytes before them, so that head and body leave in one piece; long ones are
/// kept as they are, for a gathering write.
#[derive(Debug, Default)]
pub struct Outgoing {
    parts: VecDeque<Part>,
    /// The last part, as long as it grows.
    tail: Vec<u8>,
    /// How much of `tail` has been taken.
    taken: usize,
    /// The memory of a copied part that has left, for the next one.
    kept: Vec<u8>,
    len: usize,
}

#[derive(Debug)]
enum Part {
    Copied { bytes: Vec<u8>, taken: usize },
    Payload(Bytes),
}

impl Outgoing {
    /// Payloads up to this many bytes are copied.
    pub const COPIED: usize = 16 << 10;

    /// Returns how many bytes wait.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Says whether nothing waits.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends what `write` appends to the buffer that it is given; that buffer holds other bytes before.
    pub fn write<T>(&mut self, write: impl FnOnce(&mut Vec<u8>) -> T) -> T {
        let before = self.tail.len();
        let answer = write(&mut self.tail);
        self.len += self.tail.len().saturating_sub(before);
        answer
    }

    /// Appends a payload.
    pub fn push(&mut self, payload: Payload) {
        if payload.len() <= Self::COPIED {
            return self.write(|tail| tail.extend_from_slice(&payload));
        }
        self.len += payload.len();
        self.close_tail();
        self.parts.push_back(Part::Payload(payload.into_bytes()));
    }

    /// Moves what waits to the front of a write: copied bytes to `buf`, and payloads that follow them to `pieces`.
    /// Returns how many bytes were appended to `buf`, and how many altogether; both are zero when nothing waits.
    ///
    /// What is in the way of a single gather list (copied bytes behind a payload) is left for the next call, but for a
    /// short rest, which is copied into a piece.
    pub fn take(&mut self, buf: &mut Vec<u8>, pieces: &mut Vec<Bytes>) -> (usize, usize) {
        let before = buf.len();
        let mut gathered = 0;
        if self.parts.is_empty() {
            if before == 0 && self.taken == 0 && self.tail.len() > Self::COPIED {
                // Much was written in place, such as a masked payload: the buffers change places instead.
                buf.clear();
                core::mem::swap(buf, &mut self.tail);
            } else {
                buf.extend_from_slice(self.tail.get(self.taken..).unwrap_or_default());
                self.tail.clear();
                self.taken = 0;
            }
            let copied = buf.len() - before;
            self.len -= copied;
            return (copied, copied);
        }
        while let Some(part) = self.parts.pop_front() {
            match part {
                Part::Copied { bytes, taken } => {
                    let waiting = bytes.get(taken..).unwrap_or_default();
                    if pieces.is_empty() {
                        buf.extend_from_slice(waiting);
                    } else {
                        pieces.push(Bytes::copy_from_slice(waiting));
                        gathered += waiting.len();
                    }
                    self.keep(bytes);
                }
                Part::Payload(payload) => {
                    gathered += payload.len();
                    pieces.push(payload);
                }
            }
        }
        if !self.tail.is_empty() && self.tail.len() <= Self::COPIED {
            pieces.push(Bytes::copy_from_slice(self.tail.get(self.taken..).unwrap_or_default()));
            gathered += self.tail.len() - self.taken;
            self.tail.clear();
            self.taken = 0;
        }
        let copied = buf.len() - before;
        self.len -= copied + gathered;
        (copied, copied + gathered)
    }

    /// Copies at most `limit` bytes from the front to `buf`, and says how many: for a layer below that copies anyway.
    pub fn copy(&mut self, limit: usize, buf: &mut Vec<u8>) -> usize {
        let mut left = limit;
        while left > 0 {
            let done = match self.parts.front_mut() {
                None => {
                    let waiting = self.tail.get(self.taken..).unwrap_or_default();
                    let len = waiting.len().min(left);
                    buf.extend_from_slice(waiting.get(..len).unwrap_or_default());
                    self.taken += len;
                    left -= len;
                    if self.taken >= self.tail.len() {
                        self.tail.clear();
                        self.taken = 0;
                    }
                    break;
                }
                Some(Part::Copied { bytes, taken }) => {
                    let waiting = bytes.get(*taken..).unwrap_or_default();
                    let len = waiting.len().min(left);
                    buf.extend_from_slice(waiting.get(..len).unwrap_or_default());
                    *taken += len;
                    left -= len;
                    *taken >= bytes.len()
                }
                Some(Part::Payload(payload)) => {
                    let len = payload.len().min(left);
                    buf.extend_from_slice(payload.get(..len).unwrap_or_default());
                    payload.advance(len);
                    left -= len;
                    payload.is_empty()
                }
            };
            if done {
                self.drop_front();
            }
        }
        let copied = limit - left;
        self.len -= copied;
        copied
    }

    /// Returns the first bytes, as far as they lie in one piece.
    pub fn front(&self) -> &[u8] {
        match self.parts.front() {
            None => self.tail.get(self.taken..).unwrap_or_default(),
            Some(Part::Copied { bytes, taken }) => bytes.get(*taken..).unwrap_or_default(),
            Some(Part::Payload(payload)) => payload,
        }
    }

    /// Drops `len` bytes of those that [`front`](Self::front) returns.
    pub fn consume(&mut self, len: usize) {
        let len = len.min(self.front().len());
        self.len -= len;
        match self.parts.front_mut() {
            None => self.taken += len,
            Some(Part::Copied { taken, .. }) => *taken += len,
            Some(Part::Payload(payload)) => payload.advance(len),
        }
        if self.front().is_empty() && !self.drop_front() {
            self.tail.clear();
            self.taken = 0;
        }
    }

    /// Drops everything.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Drops the first part, unless that is the tail. Says whether there was one.
    fn drop_front(&mut self) -> bool {
        match self.parts.pop_front() {
            Some(Part::Copied { bytes, .. }) => {
                self.keep(bytes);
                true
            }
            Some(Part::Payload(_)) => true,
            None => false,
        }
    }

    fn keep(&mut self, mut bytes: Vec<u8>) {
        if bytes.capacity() <= MAX_KEPT {
            bytes.clear();
            self.kept = bytes;
        }
    }

    fn close_tail(&mut self) {
        if self.taken < self.tail.len() {
            let next = core::mem::take(&mut self.kept);
            let bytes = core::mem::replace(&mut self.tail, next);
            self.parts.push_back(Part::Copied { bytes, taken: self.taken });
        }
        self.tail.clear();
        self.taken = 0;
    }
}

/// Memory of at most this many bytes is kept.
const MAX_KEPT: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn drained(outgoing: &mut Outgoing) -> Vec<u8> {
        let mut all = vec![];
        loop {
            let (mut buf, mut pieces) = (vec![], vec![]);
            let (copied, total) = outgoing.take(&mut buf, &mut pieces);
            assert_eq!(copied, buf.len());
            all.extend(&buf);
            pieces.iter().for_each(|piece| all.extend(piece));
            if total == 0 {
                assert!(outgoing.is_empty());
                return all;
            }
        }
    }

    fn mixed() -> (Outgoing, Vec<u8>) {
        let mut outgoing = Outgoing::default();
        let mut expected = vec![];
        for (n, len) in (0..).zip([3, 20_000, 5, 17_000, 40_000, 9]) {
            let bytes = vec![n; len];
            expected.extend(&bytes);
            outgoing.push(bytes.into());
        }
        (outgoing, expected)
    }

    #[test]
    fn a_head_and_a_short_body_are_one_piece() {
        let mut outgoing = Outgoing::default();
        outgoing.write(|buf| buf.extend_from_slice(b"head"));
        outgoing.push("body".into());
        let (mut buf, mut pieces) = (vec![], vec![]);
        assert_eq!(outgoing.take(&mut buf, &mut pieces), (8, 8));
        assert_eq!((buf.as_slice(), pieces.len()), (&b"headbody"[..], 0));
    }

    #[test]
    fn a_long_body_is_not_copied() {
        let mut outgoing = Outgoing::default();
        outgoing.write(|buf| buf.extend_from_slice(b"head"));
        let body = Payload::from(vec![1; 100_000]);
        outgoing.push(body.clone());
        let (mut buf, mut pieces) = (vec![], vec![]);
        assert_eq!(outgoing.take(&mut buf, &mut pieces), (4, 100_004));
        assert_eq!(pieces[0].as_ptr(), body.as_ptr());
    }

    #[test]
    fn the_order_is_kept_however_it_is_taken() {
        let (mut outgoing, expected) = mixed();
        assert_eq!(outgoing.len(), expected.len());
        assert!(drained(&mut outgoing) == expected);
        for limit in [1, 7, 16_384, usize::MAX] {
            let (mut outgoing, expected) = mixed();
            let mut all = vec![];
            while outgoing.copy(limit, &mut all) > 0 {}
            assert!(all == expected && outgoing.is_empty(), "{limit}");
            let (mut outgoing, expected) = mixed();
            let mut all: Vec<u8> = vec![];
            while !outgoing.is_empty() {
                let front = outgoing.front();
                let len = front.len().min(limit);
                all.extend(&front[..len]);
                outgoing.consume(len);
            }
            assert!(all == expected, "{limit}");
            let (mut outgoing, expected) = mixed();
            let mut all = vec![];
            outgoing.copy(limit, &mut all);
            all.extend(drained(&mut outgoing));
            assert!(all == expected, "{limit}");
        }
    }
}
