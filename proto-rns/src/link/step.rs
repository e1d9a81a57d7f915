//! What the parts of a link work with in one step.

use super::{LinkStats, PacketSink, event::Events, streams::Streams};
use crate::Env;

/// The surroundings of one step: the environment, the way out, and what waits for the application.
pub(super) struct Step<'s, 'e> {
    pub(super) env: &'s mut Env<'e>,
    pub(super) out: &'s mut dyn PacketSink,
    pub(super) events: &'s mut Events,
    pub(super) streams: &'s mut Streams,
    pub(super) stats: &'s mut LinkStats,
}
