//! A window that never changes.

use proto_core::Instant;

use super::{Acked, Controller};

/// A fixed number of bytes in flight, whatever happens.
#[derive(Debug)]
pub(crate) struct Fixed(pub(crate) usize);

impl Controller for Fixed {
    fn on_ack(&mut self, _now: Instant, _ack: Acked) {}

    fn on_loss(&mut self, _now: Instant, _sent_at: Instant) {}

    fn on_timeout(&mut self, _now: Instant) {}

    fn window(&self) -> usize {
        self.0
    }

    fn wants_pacing(&self) -> bool {
        false
    }
}
