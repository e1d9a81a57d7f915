//! One direction of a byte stream between two links.

use crate::{
    entropy::Entropy,
    node::LinkEnd,
    path::{happens, time_for},
};
use proto_core::Instant;
use std::{collections::VecDeque, time::Duration};

/// How one direction of a byte stream behaves. The default has no delay and ample room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamConditions {
    /// How long a byte takes.
    pub delay: Duration,
    /// The rate, if it is limited.
    pub bits_per_second: Option<u64>,
    /// How many bytes may be under way before the sender is told to stop.
    pub capacity: usize,
    /// The largest chunk in which bytes arrive. 1 delivers byte by byte.
    pub max_chunk: usize,
}

impl Default for StreamConditions {
    fn default() -> Self {
        Self { delay: Duration::ZERO, bits_per_second: None, capacity: 64 << 10, max_chunk: 16 << 10 }
    }
}

/// A direction of a stream: the bytes under way and how their journey ends.
#[derive(Debug)]
pub(crate) struct Lane {
    pub(crate) from: LinkEnd,
    pub(crate) to: LinkEnd,
    conditions: StreamConditions,
    /// Bytes in the order they were sent. The first `arrived` can be read.
    bytes: VecDeque<u8>,
    arrived: usize,
    /// When the bytes behind those arrive, and how many at a time.
    under_way: VecDeque<(Instant, usize)>,
    free_at: Instant,
    is_blocked: bool,
    ending: Ending,
}

/// How far the end of a lane is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// The sender may send.
    Open,
    /// The sender has closed; the receiver learns it after the last byte.
    Finished,
    /// The receiver knows, or is gone itself.
    Over,
}

/// What a lane gives its receiver.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    Chunk(Vec<u8>),
    Eof,
}

impl Lane {
    pub(crate) fn new(from: LinkEnd, to: LinkEnd, conditions: StreamConditions) -> Self {
        Self {
            from,
            to,
            conditions,
            bytes: VecDeque::new(),
            arrived: 0,
            under_way: VecDeque::new(),
            free_at: Instant::ZERO,
            is_blocked: false,
            ending: Ending::Open,
        }
    }

    /// Takes bytes and returns when the last of them arrives.
    pub(crate) fn send(&mut self, now: Instant, bytes: &[u8]) -> Instant {
        self.bytes.extend(bytes);
        let rate = self.conditions.bits_per_second;
        self.free_at =
            self.free_at.max(now) + rate.map_or(Duration::ZERO, |rate| time_for(bytes.len(), rate));
        let at = self.free_at + self.conditions.delay;
        self.under_way.push_back((at, bytes.len()));
        self.is_blocked = self.bytes.len() > self.conditions.capacity;
        at
    }

    /// Lets the sender send no more and returns when the receiver can learn it.
    pub(crate) fn finish(&mut self, now: Instant) -> Instant {
        if self.ending == Ending::Open {
            self.ending = Ending::Finished;
        }
        self.free_at.max(now) + self.conditions.delay
    }

    /// Drops what is under way: the receiver is gone.
    pub(crate) fn cut_off(&mut self) {
        self.ending = Ending::Over;
        self.bytes.clear();
        self.under_way.clear();
        self.arrived = 0;
    }

    /// Hands out the next chunk, whose size chance decides, or the end.
    pub(crate) fn receive(&mut self, now: Instant, entropy: &mut dyn Entropy) -> Option<Arrival> {
        while let Some((_, len)) = self.under_way.front().copied().filter(|(at, _)| *at <= now) {
            self.under_way.pop_front();
            self.arrived += len;
        }
        let most = self.arrived.min(self.conditions.max_chunk.max(1));
        if most > 0 {
            let all = happens(entropy, 0.5);
            let len = if all { most } else { entropy.between(1, most as u64) as usize };
            self.arrived -= len;
            return Some(Arrival::Chunk(self.bytes.drain(..len).collect()));
        }
        if self.ending == Ending::Finished && self.bytes.is_empty() {
            self.ending = Ending::Over;
            return Some(Arrival::Eof);
        }
        None
    }

    /// Says once that a sender that was told to stop may go on: when half of the room is free again.
    pub(crate) fn take_writable(&mut self) -> bool {
        let writable = self.is_blocked && self.bytes.len() <= self.conditions.capacity / 2;
        self.is_blocked &= !writable;
        writable
    }

    pub(crate) const fn is_blocked(&self) -> bool {
        self.is_blocked
    }

    /// Says whether the receiver is gone.
    pub(crate) const fn is_over(&self) -> bool {
        matches!(self.ending, Ending::Over)
    }

    /// Says whether something can be received now.
    pub(crate) fn is_ready(&self, now: Instant) -> bool {
        let arrives = self.under_way.front().is_some_and(|(at, _)| *at <= now);
        self.arrived > 0 || arrives || (self.ending == Ending::Finished && self.bytes.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{entropy::ByteEntropy, node::NodeId};
    use proto_core::{LinkId, Rng};

    fn lane(conditions: StreamConditions) -> Lane {
        let end = |node| LinkEnd { node: NodeId(node), link: LinkId(1) };
        Lane::new(end(0), end(1), conditions)
    }

    #[test]
    fn bytes_arrive_in_order_in_chunks_of_chance_and_then_the_end() {
        let mut lane = lane(StreamConditions { max_chunk: 7, ..StreamConditions::default() });
        let sent: Vec<u8> = (0..100).collect();
        lane.send(Instant::ZERO, &sent);
        lane.finish(Instant::ZERO);
        let (mut received, mut sizes, mut rng) = (vec![], vec![], Rng::from_u64(4));
        let end = loop {
            match lane.receive(Instant::ZERO, &mut rng) {
                Some(Arrival::Chunk(chunk)) => {
                    sizes.push(chunk.len());
                    received.extend(chunk);
                }
                other => break other,
            }
        };
        assert_eq!(end, Some(Arrival::Eof));
        assert_eq!(received, sent);
        assert!(sizes.iter().all(|size| (1..=7).contains(size)) && sizes.contains(&7) && sizes.contains(&1));
        assert_eq!(lane.receive(Instant::ZERO, &mut rng), None);
    }

    #[test]
    fn a_full_lane_blocks_until_half_of_its_room_is_free() {
        let mut lane = lane(StreamConditions { capacity: 10, max_chunk: 4, ..StreamConditions::default() });
        lane.send(Instant::ZERO, &[0; 12]);
        assert!(lane.is_blocked());
        let mut all = ByteEntropy::new([0, 0, 0]);
        lane.receive(Instant::ZERO, &mut all);
        assert!(!lane.take_writable());
        lane.receive(Instant::ZERO, &mut all);
        assert!(lane.take_writable() && !lane.is_blocked());
        assert!(!lane.take_writable());
    }

    #[test]
    fn a_slow_lane_spreads_its_bytes_over_time() {
        // One byte a millisecond.
        let rate = StreamConditions { bits_per_second: Some(8_000), ..StreamConditions::default() };
        let mut lane = lane(rate);
        assert_eq!(lane.send(Instant::ZERO, &[0; 5]), Instant::from_millis(5));
        assert_eq!(lane.send(Instant::ZERO, &[0; 5]), Instant::from_millis(10));
        assert!(!lane.is_ready(Instant::from_millis(4)));
        assert!(lane.is_ready(Instant::from_millis(5)));
    }
}
