//! The sink of one node: where the simulator's drains go.

use super::Wire;
use crate::node::{LinkEnd, NodeId};
use proto_core::{Flow, LinkRequest, Sink, Transmit};
use std::num::NonZeroUsize;

/// A node's way onto the wire.
pub(crate) struct Port<'a, E> {
    wire: &'a mut Wire,
    node: NodeId,
    max_segments: NonZeroUsize,
    events: &'a mut Vec<E>,
}

impl<'a, E> Port<'a, E> {
    pub(crate) const fn new(
        wire: &'a mut Wire,
        node: NodeId,
        max_segments: NonZeroUsize,
        events: &'a mut Vec<E>,
    ) -> Self {
        Self { wire, node, max_segments, events }
    }
}

impl<E> Sink<E> for Port<'_, E> {
    fn max_segments(&self) -> NonZeroUsize {
        self.max_segments
    }

    fn link(&mut self, request: LinkRequest) {
        self.wire.carry_out(self.node, request);
    }

    fn transmit(&mut self, transmit: &Transmit, bytes: &[u8]) -> Flow {
        let end = LinkEnd { node: self.node, link: transmit.link };
        match transmit.to {
            Some(to) => self.wire.send_batch(end, to, transmit, bytes),
            None => self.wire.send_stream(end, bytes),
        }
    }

    fn event(&mut self, event: E) {
        self.events.push(event);
    }
}
