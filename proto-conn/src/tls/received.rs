//! Ciphertext that has arrived.

use alloc::{vec, vec::Vec};

/// A buffer that is read into at its end and used up from its front. It is allocated once, and bytes move only when
/// there is no room for another record behind them: an incomplete one, as a rule.
#[derive(Debug)]
pub(super) struct Received {
    memory: Vec<u8>,
    start: usize,
    end: usize,
}

impl Received {
    pub(super) fn new() -> Self {
        Self { memory: vec![0; LEN], start: 0, end: 0 }
    }

    /// Returns where the next bytes go. It is empty only when there is no room at all.
    pub(super) fn spare(&mut self) -> &mut [u8] {
        if self.memory.len() - self.end < MAX_RECORD && self.start > 0 {
            self.memory.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        self.memory.get_mut(self.end..).unwrap_or_default()
    }

    /// Takes note that `len` bytes were put there.
    pub(super) fn advance(&mut self, len: usize) {
        self.end = self.end.saturating_add(len).min(self.memory.len());
    }

    /// Returns what is there.
    pub(super) fn held(&mut self) -> &mut [u8] {
        self.memory.get_mut(self.start..self.end).unwrap_or_default()
    }

    /// Drops `len` bytes from the front.
    pub(super) fn discard(&mut self, len: usize) {
        self.start = self.start.saturating_add(len).min(self.end);
        if self.start == self.end {
            self.clear();
        }
    }

    /// Drops everything.
    pub(super) const fn clear(&mut self) {
        self.start = 0;
        self.end = 0;
    }

    pub(super) const fn is_full(&self) -> bool {
        self.start == 0 && self.end == self.memory.len()
    }

    /// Makes room for a handshake message that is longer than usual, and says whether it may be so long.
    pub(super) fn grow(&mut self) -> bool {
        let may_grow = self.memory.len() < MAX_LEN;
        if may_grow {
            self.memory.resize(MAX_LEN, 0);
        }
        may_grow
    }
}

/// Two records and what the kernel has of the next.
const LEN: usize = 36 << 10;

/// The longest handshake message (64 KiB) in records of reasonable size.
const MAX_LEN: usize = 80 << 10;

/// A record and its head, with the expansion that TLS 1.2 allows.
const MAX_RECORD: usize = 5 + (16 << 10) + (2 << 10);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_for_a_record_unless_it_is_full() {
        let mut received = Received::new();
        for round in 0..100 {
            let room = received.spare().len();
            assert!(room >= MAX_RECORD - 5, "{round}");
            received.spare()[..room].fill(round);
            received.advance(room);
            let held = received.held().len();
            received.discard(held - 100);
            assert_eq!(received.held(), [round; 100]);
        }
    }

    #[test]
    fn it_grows_once_when_it_is_full() {
        let mut received = Received::new();
        received.advance(usize::MAX);
        assert!(received.is_full() && received.spare().is_empty());
        assert!(received.grow() && !received.spare().is_empty());
        received.advance(usize::MAX);
        assert!(!received.grow());
    }
}
