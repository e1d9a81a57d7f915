//! Messages that wait to be sent for the first time: four priorities, reliable and unreliable ones apart.

use alloc::{collections::VecDeque, vec::Vec};
use bytes::Bytes;
use core::time::Duration;
use proto_core::{Instant, U24};

use crate::{
    Channel, Message, ReceiptId, Reliability,
    wire::{DataHeader, Frame, Order, OrderingIndex, ReliableIndex, SequencingIndex, SplitId, SplitPart},
};

/// A frame without its reliable number, which it gets when it is sent for the first time.
#[derive(Clone, Debug)]
pub(crate) struct OutFrame {
    pub(crate) payload: Bytes,
    pub(crate) reliability: Reliability,
    pub(crate) order: Order,
    pub(crate) sequencing: SequencingIndex,
    pub(crate) split: Option<SplitPart>,
    pub(crate) receipt: Option<ReceiptId>,
}

impl OutFrame {
    /// Returns the frame as it goes on the wire.
    pub(crate) fn to_wire(&self, reliable: ReliableIndex) -> Frame<'_> {
        Frame {
            reliability: self.reliability,
            reliable,
            sequencing: self.sequencing,
            order: self.order,
            split: self.split,
            payload: &self.payload,
        }
    }

    /// Returns the length on the wire.
    pub(crate) fn encoded_len(&self) -> usize {
        Frame::header_len(self.reliability, self.split.is_some()) + self.payload.len()
    }
}

/// A message in the queue; a long one hands out its parts one by one.
#[derive(Debug)]
struct Waiting {
    frame: OutFrame,
    queued_at: Instant,
    /// The order of sending within the priority.
    stamp: u64,
    part_len: usize,
}

impl Waiting {
    /// Returns the length on the wire of what leaves next.
    fn next_len(&self) -> usize {
        Frame::header_len(self.frame.reliability, self.frame.split.is_some()) + self.next_payload()
    }

    fn next_payload(&self) -> usize {
        if self.frame.split.is_some() {
            self.frame.payload.len().min(self.part_len)
        } else {
            self.frame.payload.len()
        }
    }

    fn is_last(&self) -> bool {
        self.frame.split.is_none_or(|part| part.index + 1 >= part.count)
    }

    /// Takes off the next part of a split message.
    fn next_part(&mut self) -> OutFrame {
        let len = self.next_payload();
        let part = OutFrame { payload: self.frame.payload.split_to(len), ..self.frame.clone() };
        if let Some(split) = &mut self.frame.split {
            split.index += 1;
        }
        part
    }
}

/// The two queues of one priority.
#[derive(Debug, Default)]
struct Lane {
    reliable: VecDeque<Waiting>,
    unreliable: VecDeque<Waiting>,
    /// How much of its share the lane has used: the one with the least goes next.
    pass: u64,
}

impl Lane {
    fn is_empty(&self) -> bool {
        self.reliable.is_empty() && self.unreliable.is_empty()
    }

    /// Returns the queue whose head goes next among those allowed.
    fn next(&mut self, allow: Allow) -> Option<&mut VecDeque<Waiting>> {
        let reliable = self.reliable.front().filter(|_| allow.reliable).map(|w| w.stamp);
        let unreliable = self.unreliable.front().filter(|_| allow.unreliable).map(|w| w.stamp);
        match (reliable, unreliable) {
            (None, None) => None,
            (Some(_), None) => Some(&mut self.reliable),
            (None, Some(_)) => Some(&mut self.unreliable),
            (Some(r), Some(u)) => Some(if r < u { &mut self.reliable } else { &mut self.unreliable }),
        }
    }
}

/// Which kinds may leave now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allow {
    pub(crate) reliable: bool,
    pub(crate) unreliable: bool,
}

/// What one look into the queue gave.
#[derive(Debug)]
pub(crate) enum Next {
    /// The next frame.
    Frame(OutFrame),
    /// The next frame does not fit into the room that is left.
    TooLong,
    /// Nothing that may leave.
    Empty,
}

/// The counters that give messages of a channel their place.
#[derive(Clone, Copy, Debug, Default)]
struct Counters {
    order: U24,
    sequence: U24,
}

/// The queue of one peer. Its owner bounds the bytes.
#[derive(Debug, Default)]
pub(crate) struct SendQueue {
    lanes: [Lane; 4],
    counters: Vec<Counters>,
    stamp: u64,
    pass: u64,
    next_split: u16,
    messages: usize,
    reliable_bytes: usize,
    unreliable_bytes: usize,
}

impl SendQueue {
    /// Queues a message and gives it its place in its channel. `max_datagram` is the room of a datagram, head
    /// included. Says whether the message was split.
    pub(crate) fn push(
        &mut self,
        message: Message,
        receipt: Option<ReceiptId>,
        max_datagram: usize,
        now: Instant,
    ) -> Option<u32> {
        let Message { payload, mut reliability, channel, priority } = message;
        let room = max_datagram - DataHeader::LEN;
        let fits = Frame::header_len(reliability, false) + payload.len() <= room;
        if !fits {
            reliability = reliability.upgraded();
        }
        let part_len = if fits { payload.len() } else { room - Frame::header_len(reliability, true) };
        let (order, sequencing) = self.place(reliability, channel);
        let mut parts = None;
        let split = (!fits).then(|| {
            let id = SplitId(self.next_split);
            self.next_split = self.next_split.wrapping_add(1);
            let count = u32::try_from(payload.len().div_ceil(part_len)).unwrap_or(u32::MAX);
            parts = Some(count);
            SplitPart { count, id, index: 0 }
        });
        self.messages += 1;
        self.stamp += 1;
        let frame = OutFrame { payload, reliability, order, sequencing, split, receipt };
        let pass = self.pass;
        let Some(lane) = self.lanes.get_mut(priority as usize) else { return parts };
        if lane.is_empty() {
            lane.pass = lane.pass.max(pass);
        }
        let len = frame.payload.len();
        let waiting = Waiting { frame, queued_at: now, stamp: self.stamp, part_len };
        if reliability.is_reliable() {
            self.reliable_bytes += len;
            lane.reliable.push_back(waiting);
        } else {
            self.unreliable_bytes += len;
            lane.unreliable.push_back(waiting);
        }
        parts
    }

    /// Takes out the next frame that may leave, if it fits into `room` bytes.
    pub(crate) fn next(&mut self, room: usize, allow: Allow) -> Next {
        let mut best: Option<(u64, usize)> = None;
        for (at, lane) in self.lanes.iter_mut().enumerate() {
            if !lane.is_empty() && best.is_none_or(|(pass, _)| lane.pass < pass) && lane.next(allow).is_some()
            {
                best = Some((lane.pass, at));
            }
        }
        let Some((pass, at)) = best else { return Next::Empty };
        let Some(lane) = self.lanes.get_mut(at) else { return Next::Empty };
        let Some(queue) = lane.next(allow) else { return Next::Empty };
        let Some(head) = queue.front_mut() else { return Next::Empty };
        if head.next_len() > room {
            return Next::TooLong;
        }
        let frame = if head.is_last() {
            self.messages -= 1;
            match queue.pop_front() {
                Some(waiting) => waiting.frame,
                None => return Next::Empty,
            }
        } else {
            head.next_part()
        };
        // Each priority gets twice the share of the next lower one.
        lane.pass = pass + (1 << at);
        self.pass = pass;
        if frame.reliability.is_reliable() {
            self.reliable_bytes -= frame.payload.len();
        } else {
            self.unreliable_bytes -= frame.payload.len();
        }
        Next::Frame(frame)
    }

    /// Drops unreliable messages that have waited longer than `expiry`; their receipts go to `lost`. Returns how
    /// many were dropped.
    pub(crate) fn expire(&mut self, now: Instant, expiry: Duration, mut lost: impl FnMut(ReceiptId)) -> u64 {
        let mut dropped = 0;
        for lane in &mut self.lanes {
            while lane.unreliable.front().is_some_and(|w| w.queued_at + expiry <= now) {
                let Some(waiting) = lane.unreliable.pop_front() else { break };
                self.messages -= 1;
                self.unreliable_bytes -= waiting.frame.payload.len();
                waiting.frame.receipt.into_iter().for_each(&mut lost);
                dropped += 1;
            }
        }
        dropped
    }

    /// Returns when the oldest unreliable message will have waited for `expiry`.
    pub(crate) fn next_expiry(&self, expiry: Duration) -> Option<Instant> {
        self.lanes.iter().filter_map(|lane| lane.unreliable.front()).map(|w| w.queued_at + expiry).min()
    }

    /// Returns when the oldest message was queued.
    pub(crate) fn oldest(&self) -> Option<Instant> {
        self.lanes
            .iter()
            .flat_map(|lane| [lane.reliable.front(), lane.unreliable.front()])
            .flatten()
            .map(|w| w.queued_at)
            .min()
    }

    /// Says whether something waits that may leave.
    pub(crate) fn has(&self, allow: Allow) -> bool {
        (allow.reliable && self.reliable_bytes > 0) || (allow.unreliable && self.unreliable_bytes > 0)
    }

    /// Returns the receipts of messages that have not left, or not wholly.
    pub(crate) fn receipts(&self) -> impl Iterator<Item = ReceiptId> {
        let lanes = self.lanes.iter();
        lanes.flat_map(|lane| lane.reliable.iter().chain(&lane.unreliable)).filter_map(|w| w.frame.receipt)
    }

    /// Returns the bytes of reliable messages.
    pub(crate) fn reliable_bytes(&self) -> usize {
        self.reliable_bytes
    }

    /// Returns the bytes of unreliable messages.
    pub(crate) fn unreliable_bytes(&self) -> usize {
        self.unreliable_bytes
    }

    /// Returns how many messages wait, by priority, the most urgent first.
    pub(crate) fn lengths(&self) -> [usize; 4] {
        let [a, b, c, d] = &self.lanes;
        [a, b, c, d].map(|lane| lane.reliable.len() + lane.unreliable.len())
    }

    /// Says whether nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.messages == 0
    }

    /// Gives a message its place among those of its channel: a sequenced one takes the order of the ordered one that
    /// comes next, and counts on its own (spec 1.5, sender).
    fn place(&mut self, reliability: Reliability, channel: Channel) -> (Order, SequencingIndex) {
        let mut order = Order { index: OrderingIndex::default(), channel: Channel::ZERO };
        let mut sequencing = SequencingIndex::default();
        if reliability.has_channel() {
            let at = usize::from(channel.get());
            if self.counters.len() <= at {
                self.counters.resize(at + 1, Counters::default());
            }
            if let Some(counters) = self.counters.get_mut(at) {
                order = Order { index: OrderingIndex(counters.order), channel };
                if reliability.is_ordered() {
                    *counters = Counters { order: counters.order.next(), sequence: U24::ZERO };
                } else {
                    sequencing = SequencingIndex(counters.sequence);
                    counters.sequence = counters.sequence.next();
                }
            }
        }
        (order, sequencing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Priority;
    use alloc::vec;

    const BOTH: Allow = Allow { reliable: true, unreliable: true };
    const ROOM: usize = 1_000;

    fn message(name: u8) -> Message {
        Message::new(vec![name])
    }

    fn names(queue: &mut SendQueue, allow: Allow) -> Vec<u8> {
        core::iter::from_fn(|| match queue.next(ROOM, allow) {
            Next::Frame(frame) => Some(frame.payload[0]),
            Next::TooLong | Next::Empty => None,
        })
        .collect()
    }

    #[test]
    fn one_priority_keeps_the_order_across_reliable_and_unreliable() {
        let mut queue = SendQueue::default();
        for name in 0..6 {
            let mode = if name % 2 == 0 { Reliability::Unreliable } else { Reliability::ReliableOrdered };
            queue.push(message(name).reliability(mode), None, ROOM, Instant::ZERO);
        }
        assert_eq!(names(&mut queue, BOTH), [0, 1, 2, 3, 4, 5]);
        assert!(queue.is_empty() && queue.reliable_bytes() == 0 && queue.unreliable_bytes() == 0);
    }

    #[test]
    fn a_full_reliable_window_does_not_hold_back_unreliable_messages() {
        let mut queue = SendQueue::default();
        queue.push(message(1), None, ROOM, Instant::ZERO);
        queue.push(message(2).reliability(Reliability::Unreliable), None, ROOM, Instant::ZERO);
        assert_eq!(names(&mut queue, Allow { reliable: false, unreliable: true }), [2]);
        assert!(queue.has(BOTH));
    }

    #[test]
    fn each_priority_gets_twice_the_share_of_the_next() {
        let mut queue = SendQueue::default();
        for _ in 0..300 {
            for priority in Priority::ALL {
                queue.push(message(priority as u8).priority(priority), None, ROOM, Instant::ZERO);
            }
        }
        let first: Vec<_> = names(&mut queue, BOTH).into_iter().take(150).collect();
        let count = |p: Priority| first.iter().filter(|&&name| name == p as u8).count();
        let counts = Priority::ALL.map(count);
        assert_eq!(counts.iter().sum::<usize>(), 150);
        for pair in counts.windows(2) {
            assert!(pair[0] >= 2 * pair[1] - 2 && pair[0] <= 2 * pair[1] + 2, "{counts:?}");
        }
    }

    #[test]
    fn long_messages_are_cut_into_full_parts() {
        let mut queue = SendQueue::default();
        let payload: Vec<u8> = (0..2_500_u32).map(|n| (n % 251) as u8).collect();
        let parts = queue.push(Message::new(payload.clone()), None, ROOM, Instant::ZERO);
        assert_eq!(parts, Some(3));
        let mut joined = vec![];
        for index in 0..3 {
            let Next::Frame(frame) = queue.next(ROOM - DataHeader::LEN, BOTH) else { panic!("three parts") };
            let split = frame.split.unwrap();
            assert_eq!((split.count, split.index), (3, index));
            assert!(index == 2 || frame.encoded_len() == ROOM - DataHeader::LEN);
            joined.extend_from_slice(&frame.payload);
        }
        assert_eq!(joined, payload);
        assert!(queue.is_empty());
    }

    #[test]
    fn an_unreliable_message_that_must_be_split_becomes_reliable() {
        let mut queue = SendQueue::default();
        let long = Message::new(vec![0; 2_000]).reliability(Reliability::UnreliableSequenced);
        queue.push(long, None, ROOM, Instant::ZERO);
        let Next::Frame(frame) = queue.next(ROOM, BOTH) else { panic!("a part") };
        assert_eq!(frame.reliability, Reliability::ReliableSequenced);
    }

    #[test]
    fn a_frame_that_does_not_fit_stays_first() {
        let mut queue = SendQueue::default();
        queue.push(Message::new(vec![1; 100]), None, ROOM, Instant::ZERO);
        assert!(matches!(queue.next(50, BOTH), Next::TooLong));
        assert!(matches!(queue.next(110, BOTH), Next::Frame(_)));
    }

    #[test]
    fn old_unreliable_messages_expire_with_their_receipts() {
        let mut queue = SendQueue::default();
        let expiry = Duration::from_secs(1);
        let mode = Reliability::UnreliableWithReceipt;
        queue.push(message(1).reliability(mode), Some(ReceiptId(9)), ROOM, Instant::ZERO);
        queue.push(message(2), None, ROOM, Instant::ZERO);
        assert_eq!(queue.next_expiry(expiry), Some(Instant::from_millis(1_000)));
        let mut lost = vec![];
        assert_eq!(queue.expire(Instant::from_millis(1_000), expiry, |r| lost.push(r)), 1);
        assert_eq!(lost, [ReceiptId(9)]);
        assert_eq!(names(&mut queue, BOTH), [2]);
    }

    #[test]
    fn sequenced_messages_share_the_order_of_the_next_ordered_one() {
        let mut queue = SendQueue::default();
        let modes = [
            Reliability::ReliableOrdered,
            Reliability::UnreliableSequenced,
            Reliability::ReliableSequenced,
            Reliability::ReliableOrdered,
            Reliability::UnreliableSequenced,
        ];
        let places: Vec<_> = modes
            .into_iter()
            .map(|mode| {
                queue.push(message(0).reliability(mode), None, ROOM, Instant::ZERO);
                let Next::Frame(frame) = queue.next(ROOM, BOTH) else { panic!("a frame") };
                (frame.order.index.0.get(), frame.sequencing.0.get())
            })
            .collect();
        assert_eq!(places, [(0, 0), (1, 0), (1, 1), (1, 0), (2, 0)]);
    }
}
