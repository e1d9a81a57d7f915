//! Datagrams outside sessions that wait to be sent.

use alloc::{collections::VecDeque, vec::Vec};
use core::net::SocketAddr;
use proto_core::LinkId;

use crate::limits::MAX_OFFLINE_REPLIES;

/// The socket and the address that a datagram goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Way {
    pub(crate) link: LinkId,
    pub(crate) to: SocketAddr,
}

/// A queue of at most [`MAX_OFFLINE_REPLIES`] datagrams, all in one buffer.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    datagrams: VecDeque<(Way, usize)>,
    bytes: VecDeque<u8>,
    scratch: Vec<u8>,
}

impl Outbox {
    /// Queues what `write` appends; nothing if it appends nothing. Says whether there was room.
    pub(crate) fn push<T>(&mut self, way: Way, write: impl FnOnce(&mut Vec<u8>) -> T) -> (T, bool) {
        self.scratch.clear();
        let result = write(&mut self.scratch);
        if self.scratch.is_empty() {
            return (result, true);
        }
        let room = self.datagrams.len() < MAX_OFFLINE_REPLIES;
        if room {
            self.datagrams.push_back((way, self.scratch.len()));
            self.bytes.extend(&self.scratch);
        }
        (result, room)
    }

    /// Returns the socket of the next datagram.
    pub(crate) fn next_link(&self) -> Option<LinkId> {
        self.datagrams.front().map(|(way, _)| way.link)
    }

    /// Moves the next datagram into `buf`.
    pub(crate) fn pop(&mut self, buf: &mut Vec<u8>) -> Option<(Way, usize)> {
        let (way, len) = self.datagrams.pop_front()?;
        buf.extend(self.bytes.drain(..len.min(self.bytes.len())));
        if self.datagrams.is_empty() {
            self.clear();
        }
        Some((way, len))
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
        let to = Way { link: LinkId(0), to: SocketAddr::from(([127, 0, 0, 1], 1)) };
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
