//! What the router keeps for each interface.

use crate::{
    iface::{AnnounceQueue, BurstGauge, EgressGauge, HeldAnnounces},
    wire::TunnelId,
};
use proto_core::Instant;

/// The state of one interface.
#[derive(Clone, Debug)]
pub(super) struct Port {
    /// Announces that wait for their share of the bitrate.
    pub(super) announces: AnnounceQueue,
    /// How many announces come in.
    pub(super) announce_gauge: BurstGauge,
    /// Announces that wait for the end of a burst.
    pub(super) held: HeldAnnounces,
    /// How many path requests come in.
    pub(super) request_gauge: BurstGauge,
    /// How many path requests of searches go out.
    pub(super) egress: EgressGauge,
    /// The tunnel that leads over it.
    pub(super) tunnel: Option<TunnelId>,
}

impl Port {
    pub(super) fn new() -> Self {
        Self {
            announces: AnnounceQueue::new(),
            announce_gauge: BurstGauge::for_announces(),
            held: HeldAnnounces::default(),
            request_gauge: BurstGauge::for_path_requests(),
            egress: EgressGauge::default(),
            tunnel: None,
        }
    }

    /// Returns when something is to be sent or released.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.announces.deadline().into_iter().chain(self.held.deadline()).min()
    }
}
