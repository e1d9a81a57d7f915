//! Where the drained machine's output goes.

use bytes::Bytes;
use proto_core::{Flow, Instant, LinkRequest, Machine, Sink, Transmit};
use std::{marker::PhantomData, num::NonZeroUsize};

use crate::{Face, Runtime, Stats, ports::Ports};

/// Bytes to the ports, events to the face.
pub(super) struct Outputs<'a, M, F, R: Runtime> {
    pub(super) ports: &'a mut Ports<R>,
    pub(super) face: &'a mut F,
    pub(super) stats: &'a mut Stats,
    pub(super) now: Instant,
    /// The longest run of datagrams in one transmit.
    pub(super) max_segments: NonZeroUsize,
    pub(super) machine: PhantomData<M>,
}

impl<M: Machine, F: Face<M>, R: Runtime> Sink<M::Event> for Outputs<'_, M, F, R> {
    fn max_segments(&self) -> NonZeroUsize {
        self.max_segments
    }

    fn link(&mut self, request: LinkRequest) {
        self.ports.request(request, self.now, self.stats);
    }

    fn transmit(&mut self, transmit: &Transmit, bytes: &[u8]) -> Flow {
        self.ports.send(transmit, bytes, self.stats)
    }

    fn gather(&mut self, transmit: &Transmit, bytes: &[u8], pieces: &[Bytes]) -> Flow {
        self.ports.gather(transmit, bytes, pieces, self.stats)
    }

    fn event(&mut self, event: M::Event) {
        self.face.event(event);
    }
}
