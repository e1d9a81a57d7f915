//! Byte streams: pairs of lanes between two links.

use super::{Landing, Link, Wire};
use crate::{
    node::LinkEnd,
    stream::{Arrival, Lane, StreamConditions},
};
use proto_core::{DownReason, Flow, Instant, LinkEvent};
use std::time::Duration;

impl Wire {
    /// The longest pause between two chunks that have both arrived.
    const CHUNK_PAUSE: Duration = Duration::from_micros(100);

    /// Joins two links by a stream.
    pub(crate) fn connect(&mut self, a: LinkEnd, b: LinkEnd, conditions: StreamConditions) {
        let (outgoing, incoming) = (self.lanes.len(), self.lanes.len() + 1);
        self.lanes.push(Lane::new(a, b, conditions));
        self.lanes.push(Lane::new(b, a, conditions));
        self.links.insert(a, Link::Stream { outgoing, incoming });
        self.links.insert(b, Link::Stream { outgoing: incoming, incoming: outgoing });
    }

    pub(crate) fn send_stream(&mut self, end: LinkEnd, bytes: &[u8]) -> Flow {
        let Some(&Link::Stream { outgoing, .. }) = self.links.get(&end) else { return Flow::Sent };
        let now = self.now;
        let lane = &mut self.lanes[outgoing];
        if lane.is_over() {
            self.take_down(end, DownReason::Reset);
            return Flow::Sent;
        }
        let at = lane.send(now, bytes);
        let blocked = lane.is_blocked();
        self.launch(at, Landing::Lane(outgoing));
        if blocked { Flow::Blocked } else { Flow::Sent }
    }

    /// Closes one end: the other reads what is under way and then the end, and is reset when it sends.
    pub(crate) fn close_stream(&mut self, end: LinkEnd, reason: DownReason) {
        let Some(&Link::Stream { outgoing, incoming }) = self.links.get(&end) else { return };
        let at = self.lanes[outgoing].finish(self.now);
        self.lanes[incoming].cut_off();
        self.launch(at, Landing::Lane(outgoing));
        self.take_down(end, reason);
    }

    /// Breaks a stream: both ends go down at once and what is under way is lost.
    pub(crate) fn reset_stream(&mut self, end: LinkEnd) {
        let Some(&Link::Stream { outgoing, incoming }) = self.links.get(&end) else { return };
        let peer = self.lanes[outgoing].to;
        for lane in [outgoing, incoming] {
            self.lanes[lane].cut_off();
        }
        self.take_down(end, DownReason::Reset);
        self.take_down(peer, DownReason::Reset);
    }

    /// Returns whom a lane leads to, if there is something to receive now and no partition between.
    pub(crate) fn ready_receiver(&mut self, index: usize) -> Option<LinkEnd> {
        let lane = &self.lanes[index];
        let to = lane.to;
        let is_current =
            matches!(self.links.get(&to), Some(Link::Stream { incoming, .. }) if *incoming == index);
        if !is_current || !lane.is_ready(self.now) {
            return None;
        }
        let is_cut = self.is_cut(lane.from.node, to.node);
        if is_cut {
            self.stall_lane(index);
        }
        (!is_cut).then_some(to)
    }

    /// Leaves a lane alone until [`resume_lanes`](Self::resume_lanes) picks it.
    pub(crate) fn stall_lane(&mut self, lane: usize) {
        self.stalled.insert(lane);
    }

    /// Takes the next chunk or the end off a lane and comes back to it while there is more.
    pub(crate) fn receive_stream(&mut self, lane: usize) -> Option<Arrival> {
        let now = self.now;
        let arrival = self.lanes[lane].receive(now, &mut *self.entropy);
        if self.lanes[lane].take_writable() {
            self.notify(self.lanes[lane].from, LinkEvent::Writable);
        }
        if self.lanes[lane].is_ready(now) {
            let pause = self.entropy.between(0, Self::CHUNK_PAUSE.as_micros() as u64);
            self.launch(now + Duration::from_micros(pause), Landing::Lane(lane));
        }
        arrival
    }

    /// Comes back at once to the stalled lanes that a predicate picks.
    pub(crate) fn resume_lanes(&mut self, is_meant: impl Fn(&Lane) -> bool) {
        let resumed: Vec<usize> =
            self.stalled.iter().copied().filter(|&lane| is_meant(&self.lanes[lane])).collect();
        for lane in resumed {
            self.stalled.remove(&lane);
            self.launch(self.now, Landing::Lane(lane));
        }
    }

    /// Returns the latest time at which a handshake over the path of two nodes ends.
    pub(super) fn handshake_end(&self, from: LinkEnd, to: LinkEnd) -> Instant {
        let delay = self
            .paths
            .get(&(from.node, to.node))
            .map_or(self.default_conditions.delay, |path| path.conditions.delay);
        self.now + delay + delay
    }

    pub(super) fn take_down(&mut self, end: LinkEnd, reason: DownReason) {
        self.links.remove(&end);
        self.notify(end, LinkEvent::Down(reason));
    }
}
