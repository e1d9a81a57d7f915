//! Where the drained machine's output goes.

use bytes::Bytes;
use proto_core::{Flow, Instant, LinkRequest, Sink, Transmit};
use runtime_core::Stats;
use std::{collections::VecDeque, mem, num::NonZeroUsize};

use crate::links::Links;

/// Bytes to the links, events to the queue.
pub(crate) struct Outputs<'a, E> {
    pub(crate) links: &'a mut Links,
    pub(crate) events: &'a mut VecDeque<E>,
    pub(crate) stats: &'a mut Stats,
    /// The list of pieces, for reuse.
    pub(crate) pieces: &'a mut Vec<Bytes>,
    pub(crate) now: Instant,
}

impl<E> Sink<E> for Outputs<'_, E> {
    fn max_segments(&self) -> NonZeroUsize {
        self.links.max_segments()
    }

    fn link(&mut self, request: LinkRequest) {
        self.links.request(request, self.now, self.stats);
    }

    fn transmit(&mut self, transmit: &Transmit, bytes: &[u8]) -> Flow {
        self.links.send(transmit, bytes, &[], self.stats)
    }

    fn gather(&mut self, transmit: &Transmit, bytes: &[u8], pieces: &[Bytes]) -> Flow {
        self.links.send(transmit, bytes, pieces, self.stats)
    }

    fn event(&mut self, event: E) {
        self.events.push_back(event);
    }

    fn lend_pieces(&mut self) -> Vec<Bytes> {
        mem::take(self.pieces)
    }

    fn return_pieces(&mut self, pieces: Vec<Bytes>) {
        *self.pieces = pieces;
    }
}
