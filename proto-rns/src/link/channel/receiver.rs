//! Putting a channel's messages in order.

use crate::wire::MessageType;
use alloc::collections::BTreeMap;
use bytes::Bytes;

/// The receiving end of a channel. It holds at most the messages of one window, each at most a packet long.
#[derive(Debug, Default)]
pub(in crate::link) struct Receiver {
    next: u16,
    /// Messages that arrived before their turn.
    early: BTreeMap<u16, (MessageType, Bytes)>,
}

/// Where an arriving message stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::link) enum Place {
    /// Within the window, and new.
    New,
    /// Delivered or held already: only the proof got lost.
    Known,
    /// Further ahead than a sender may be.
    Beyond,
}

impl Receiver {
    /// Says where the message with this number stands.
    pub(in crate::link) fn place(&self, sequence: u16) -> Place {
        match sequence.wrapping_sub(self.next) {
            ahead if ahead <= WINDOW && !self.early.contains_key(&sequence) => Place::New,
            ahead if ahead <= WINDOW => Place::Known,
            ahead if ahead >= HALF => Place::Known,
            _ => Place::Beyond,
        }
    }

    /// Holds a message that [`place`](Self::place) called new.
    pub(in crate::link) fn hold(&mut self, sequence: u16, message_type: MessageType, data: Bytes) {
        self.early.insert(sequence, (message_type, data));
    }

    /// Returns the next message in order, once it is there.
    pub(in crate::link) fn pop(&mut self) -> Option<(MessageType, Bytes)> {
        let message = self.early.remove(&self.next)?;
        self.next = self.next.wrapping_add(1);
        Some(message)
    }
}

/// How far ahead of the next message one may be.
pub(super) const WINDOW: u16 = 48;
/// Numbers less than half the circle ahead are ahead, the others behind.
const HALF: u16 = 0x8000;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn take(receiver: &mut Receiver, sequence: u16) -> Vec<u16> {
        if receiver.place(sequence) == Place::New {
            receiver.hold(sequence, MessageType(sequence), Bytes::new());
        }
        core::iter::from_fn(|| receiver.pop()).map(|(kind, _)| kind.0).collect()
    }

    #[test]
    fn messages_come_out_in_order_across_the_wrap() {
        let mut receiver = Receiver { next: 65_534, early: BTreeMap::new() };
        assert_eq!(take(&mut receiver, 0), []);
        assert_eq!(take(&mut receiver, 65_535), []);
        assert_eq!(take(&mut receiver, 65_534), [65_534, 65_535, 0]);
        assert_eq!(take(&mut receiver, 1), [1]);
    }

    #[test]
    fn a_message_is_taken_once() {
        let mut receiver = Receiver::default();
        assert_eq!(take(&mut receiver, 1), []);
        assert_eq!(receiver.place(1), Place::Known);
        assert_eq!(take(&mut receiver, 0), [0, 1]);
        assert_eq!(receiver.place(0), Place::Known);
        assert_eq!(receiver.place(65_000), Place::Known);
    }

    #[test]
    fn what_is_beyond_the_window_is_not_taken() {
        let receiver = Receiver::default();
        assert_eq!(receiver.place(48), Place::New);
        assert_eq!(receiver.place(49), Place::Beyond);
        assert_eq!(receiver.place(0x7fff), Place::Beyond);
    }
}
