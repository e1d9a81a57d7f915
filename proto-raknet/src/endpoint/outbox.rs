//! Datagrams outside sessions that wait to be sent.

use alloc::{collections::VecDeque, vec::Vec};
use core::net::SocketAddr;

use crate::limits::MAX_OFFLINE_REPLIES;

/// A queue of at most [`MAX_OFFLINE_REPLIES`] datagrams, all in one buffer.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    datagrams: VecDeque<(SocketAddr, usize)>,
    bytes: VecDeque<u8>,
    scratch: Vec<u8>,
}

impl Outbox {
    /// Queues what `write` appends; nothing if it appends nothing. Says whether there was room.
    pub(crate) fn push<T>(&mut self, to: SocketAddr, write: impl FnOnce(&mut Vec<u8>) -> T) -> (T, bool) {
        self.scratch.clear();
        let result = write(&mut self.scratch);
        if self.scratch.is_empty() {
            return (result, true);
        }
        let room = self.datagrams.len() < MAX_OFFLINE_REPLIES;
        if room {
            self.datagrams.push_back((to, self.scratch.len()));
            self.bytes.extend(&self.scratch);
        }
        (result, room)
    }

    /// Moves the next datagram into `buf`.
    pub(crate) fn pop(&mut self, buf: &mut Vec<u8>) -> Option<(SocketAddr, usize)> {
        let (to, len) = self.datagrams.pop_front()?;
        buf.extend(self.bytes.drain(..len.min(self.bytes.len())));
        if self.datagrams.is_empty() {
            self.clear();
        }
        Some((to, len))
    }

    /// Drops what waits, and the memory: most endpoints need none of it once their sessions stand.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn datagrams_leave_whole_and_in_order_and_are_bounded() {
        let to = SocketAddr::from(([127, 0, 0, 1], 1));
        let mut outbox = Outbox::default();
        assert!(outbox.push(to, |buf| buf.extend([1, 2])).1);
        assert!(outbox.push(to, |_| ()).1);
        assert!(outbox.push(to, |buf| buf.extend([3])).1);
        let mut buf = vec![];
        assert_eq!(outbox.pop(&mut buf), Some((to, 2)));
        assert_eq!(outbox.pop(&mut buf), Some((to, 1)));
        assert_eq!((outbox.pop(&mut buf), buf), (None, vec![1, 2, 3]));
        let taken = (0..2_000).filter(|_| outbox.push(to, |buf| buf.push(0)).1).count();
        assert_eq!(taken, MAX_OFFLINE_REPLIES);
    }
}
