//! Ordering and sequencing of received messages within their channels (spec 1.5, receive side).
//!
//! ```text
//!            ordered, index = next            deliver, next += 1, then what waited for it
//! message -> sequenced, index = next          deliver if it is the newest, else drop
//!            index ahead                      wait (a sequenced one too: it was sent after that ordered one)
//!            index behind                     drop
//! ```

use alloc::{boxed::Box, collections::VecDeque, vec::Vec};
use proto_core::U24;

use super::ranges::unwrap;
use crate::{
    Received,
    limits::CHANNELS,
    wire::{Order, SequencingIndex},
};

/// What becomes of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placement {
    /// It was delivered, and perhaps others after it.
    Delivered,
    /// It waits for an earlier one.
    Held,
    /// A newer one was delivered before, or this one was.
    Stale,
    /// Too much waits already; it cannot be taken now.
    Full,
}

/// Limits of what waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HoldLimits {
    pub(crate) messages: usize,
    pub(crate) bytes: usize,
}

/// The channels of one peer. A channel costs nothing before its first message.
#[derive(Debug, Default)]
pub(crate) struct Channels {
    channels: Vec<Option<Box<Channel>>>,
    held_messages: usize,
    held_bytes: usize,
}

#[derive(Debug, Default)]
struct Channel {
    next_order: u64,
    next_sequence: u64,
    /// Messages ahead of `next_order`, sorted by [`Held::key`].
    held: VecDeque<Held>,
}

#[derive(Debug)]
struct Held {
    order: u64,
    /// The sequencing index of a sequenced message; `None` for an ordered one.
    sequence: Option<U24>,
    message: Received,
}

impl Held {
    /// Sequenced messages come before the ordered one with the same index: they were sent before it.
    fn key(&self) -> (u64, u32) {
        key(self.order, self.sequence)
    }
}

fn key(order: u64, sequence: Option<U24>) -> (u64, u32) {
    (order, sequence.map_or(u32::MAX, U24::get))
}

impl Channels {
    /// Places a message, and passes it and all that may follow it to `deliver`.
    pub(crate) fn place(
        &mut self,
        order: Order,
        sequence: Option<SequencingIndex>,
        message: Received,
        limits: HoldLimits,
        mut deliver: impl FnMut(Received),
    ) -> Placement {
        let at = usize::from(order.channel.get());
        if self.channels.len() <= at {
            self.channels.resize_with((at + 1).min(usize::from(CHANNELS)), || None);
        }
        let Some(slot) = self.channels.get_mut(at) else { return Placement::Stale };
        let channel = slot.get_or_insert_with(Box::default);
        let sequence = sequence.map(|index| index.0);
        let Some(index) = unwrap(order.index.0, channel.next_order).filter(|&i| i >= channel.next_order)
        else {
            return Placement::Stale;
        };
        if index == channel.next_order {
            if !channel.accept(sequence) {
                return Placement::Stale;
            }
            deliver(message);
            while let Some(next) = channel.next_held() {
                self.held_messages -= 1;
                self.held_bytes -= next.message.payload.len();
                if channel.accept(next.sequence) {
                    deliver(next.message);
                }
            }
            return Placement::Delivered;
        }
        if self.held_messages >= limits.messages || self.held_bytes >= limits.bytes {
            return Placement::Full;
        }
        let len = message.payload.len();
        if !channel.hold(Held { order: index, sequence, message }) {
            return Placement::Stale;
        }
        self.held_messages += 1;
        self.held_bytes += len;
        Placement::Held
    }

    /// Says whether a message with this order could be placed now: it is the next one, or what waits may grow.
    pub(crate) fn has_room(&self, order: Order, limits: HoldLimits) -> bool {
        let channel = self.channels.get(usize::from(order.channel.get())).and_then(Option::as_deref);
        let next = channel.map_or(0, |channel| channel.next_order);
        unwrap(order.index.0, next).is_none_or(|index| index <= next)
            || (self.held_messages < limits.messages && self.held_bytes < limits.bytes)
    }

    /// Returns how many messages wait for an earlier one.
    pub(crate) fn held(&self) -> usize {
        self.held_messages
    }
}

impl Channel {
    /// Steps past a message whose order is `next_order`; false if a newer sequenced one came before it.
    fn accept(&mut self, sequence: Option<U24>) -> bool {
        let Some(sequence) = sequence else {
            self.next_order += 1;
            self.next_sequence = 0;
            return true;
        };
        let number = unwrap(sequence, self.next_sequence).filter(|&number| number >= self.next_sequence);
        if let Some(number) = number {
            self.next_sequence = number + 1;
        }
        number.is_some()
    }

    /// Keeps a message in its place; false if one with the same place waits already.
    fn hold(&mut self, held: Held) -> bool {
        let key = held.key();
        if self.held.back().is_none_or(|last| last.key() < key) {
            self.held.push_back(held);
            return true;
        }
        match self.held.binary_search_by_key(&key, Held::key) {
            Ok(_) => false,
            Err(at) => {
                self.held.insert(at, held);
                true
            }
        }
    }

    /// Takes out the first message that waited, if its turn has come.
    fn next_held(&mut self) -> Option<Held> {
        let next_order = self.next_order;
        if self.held.front()?.order == next_order { self.held.pop_front() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Channel as ChannelNumber, Reliability, wire::OrderingIndex};
    use bytes::Bytes;
    use proptest::prelude::*;

    const LIMITS: HoldLimits = HoldLimits { messages: 100, bytes: 1_000 };

    struct Bench {
        channels: Channels,
        delivered: Vec<u8>,
    }

    impl Bench {
        fn new() -> Self {
            Self { channels: Channels::default(), delivered: Vec::new() }
        }

        fn place(&mut self, channel: u8, order: u32, sequence: Option<u32>, name: u8) -> Placement {
            let channel = ChannelNumber::new(channel).unwrap();
            let message = Received {
                payload: Bytes::copy_from_slice(&[name]),
                reliability: Reliability::ReliableOrdered,
                channel,
            };
            let order = Order { index: OrderingIndex(U24::new(order)), channel };
            let sequence = sequence.map(|index| SequencingIndex(U24::new(index)));
            let delivered = &mut self.delivered;
            self.channels.place(order, sequence, message, LIMITS, |m| delivered.push(m.payload[0]))
        }
    }

    #[test]
    fn an_ordered_message_waits_for_the_one_before() {
        let mut bench = Bench::new();
        assert_eq!(bench.place(0, 1, None, 1), Placement::Held);
        assert_eq!(bench.place(0, 1, None, 1), Placement::Stale, "it waits already");
        assert_eq!(bench.place(1, 0, None, 9), Placement::Delivered, "channels are independent");
        assert_eq!(bench.place(0, 0, None, 0), Placement::Delivered);
        assert_eq!(bench.place(0, 0, None, 0), Placement::Stale);
        assert_eq!(bench.delivered, [9, 0, 1]);
        assert_eq!((bench.channels.held_messages, bench.channels.held_bytes), (0, 0));
    }

    #[test]
    fn a_sequenced_message_waits_for_the_ordered_one_before_it() {
        let mut bench = Bench::new();
        // Sent: ordered 0, sequenced (1, 0), sequenced (1, 1), ordered 1, sequenced (2, 0).
        assert_eq!(bench.place(0, 2, Some(0), 4), Placement::Held);
        assert_eq!(bench.place(0, 1, Some(1), 2), Placement::Held);
        assert_eq!(bench.place(0, 1, None, 3), Placement::Held);
        assert_eq!(bench.place(0, 0, None, 0), Placement::Delivered);
        assert_eq!(bench.delivered, [0, 2, 3, 4]);
        assert_eq!(bench.place(0, 1, Some(0), 1), Placement::Stale, "older than what was delivered");
    }

    #[test]
    fn an_older_sequenced_message_is_dropped() {
        let mut bench = Bench::new();
        assert_eq!(bench.place(3, 0, Some(0), 0), Placement::Delivered);
        assert_eq!(bench.place(3, 0, Some(2), 2), Placement::Delivered);
        assert_eq!(bench.place(3, 0, Some(1), 1), Placement::Stale);
        assert_eq!(bench.place(3, 0, Some(3), 3), Placement::Delivered);
        assert_eq!(bench.delivered, [0, 2, 3], "every message but the late one: JRakNet#111");
    }

    #[test]
    fn what_waits_is_bounded() {
        let mut bench = Bench::new();
        for order in 1..=100 {
            assert_eq!(bench.place(0, order, None, 0), Placement::Held);
        }
        assert_eq!(bench.place(0, 101, None, 0), Placement::Full);
        assert_eq!(bench.place(0, 0, None, 0), Placement::Delivered, "the one that all wait for always fits");
        assert_eq!(bench.delivered.len(), 101);
    }

    proptest! {
        #[test]
        fn ordered_messages_come_out_in_order_however_they_arrive(order in Just((0_u8..60).collect::<Vec<_>>()).prop_shuffle()) {
            let mut bench = Bench::new();
            for n in order {
                bench.place(0, u32::from(n), None, n);
            }
            prop_assert_eq!(bench.delivered, (0..60).collect::<Vec<_>>());
        }
    }
}
