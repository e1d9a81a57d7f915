//! What time alone brings about.

use super::{Announced, Locals, PathState, Router, Step, inbound::Arrival, link_table::RelayedLink};
use crate::{
    DestinationHash, Env, LinkHash,
    identity::KnownDestinations,
    iface::{InterfaceId, InterfaceKind, Interfaces, Pace},
    wire::OwnedPacket,
};
use alloc::vec::Vec;
use proto_core::Instant;

impl Router {
    /// Does what is due: passes announces on, answers path requests, releases held announces, forgets what is over.
    ///
    /// Returns the announces that were held and gave better paths.
    #[must_use]
    pub fn handle_timeout(
        &mut self,
        env: &mut Env<'_>,
        known: &mut KnownDestinations,
        out: &mut dyn Interfaces,
    ) -> Vec<Announced> {
        let now = env.now;
        let mut step = Step { env, locals: &Nobody, known, out };
        self.send_due_announces(now, step.out);
        let mut released = Vec::new();
        while let Some((id, _)) = self.ports.due(now) {
            self.send_queued_announce(now, id, step.out);
            released.extend(self.release_held(&mut step, id));
            self.rearm(id);
        }
        while let Some(link) = self.links.expire(now) {
            self.on_link_over(&mut step, &link);
        }
        self.paths.expire(now);
        self.requests.expire(now);
        self.reverse.expire(now);
        self.tunnels.expire(now);
        self.rates.expire(now);
        released
    }

    /// Returns when [`handle_timeout`](Self::handle_timeout) has something to do, without looking at any table's
    /// entries.
    pub fn poll_timeout(&self) -> Option<Instant> {
        [
            self.announces.deadline(),
            self.ports.deadline(),
            self.links.deadline(),
            self.paths.deadline(),
            self.requests.deadline(),
            self.reverse.deadline(),
            self.tunnels.deadline(),
            self.rates.deadline(),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    fn send_queued_announce(&mut self, now: Instant, id: InterfaceId, out: &mut dyn Interfaces) {
        let Some(port) = self.ports.get_mut(&id) else { return };
        let Some(to) = out.properties(id) else {
            port.announces.clear();
            return;
        };
        let pace = Pace { bitrate: to.bitrate, cap: to.announce_cap };
        let queued = port.announces.pop(now, pace);
        if let Some(announce) = queued {
            out.send(id, &announce.as_packet());
        }
    }

    fn release_held(&mut self, step: &mut Step<'_, '_>, id: InterfaceId) -> Option<Announced> {
        let now = step.env.now;
        let properties = step.out.properties(id)?;
        let (control, kind) = (properties.announce_ingress?, properties.kind);
        let age = now.saturating_since(properties.created);
        let port = self.ports.get_mut(&id)?;
        let held = port.held.release(now, age, &mut port.announce_gauge, &control)?;
        self.learn_released(step, id, kind, &held)
    }

    /// Treats a held announce as if it came only now, from where it came.
    fn learn_released(
        &mut self,
        step: &mut Step<'_, '_>,
        from: InterfaceId,
        kind: InterfaceKind,
        held: &OwnedPacket,
    ) -> Option<Announced> {
        let arrival = Arrival { packet: held.as_packet(), from, kind, hash: None };
        self.learn(step, &arrival).map_err(|reason| self.stats.count(reason)).ok()
    }

    /// Draws conclusions from a link that ended: if its destination never answered, the path may be wrong.
    fn on_link_over(&mut self, step: &mut Step<'_, '_>, link: &RelayedLink) {
        if link.validated {
            return;
        }
        let is_near = self.paths.get(&link.destination).is_none_or(|path| path.hops <= 1);
        self.paths.set_state(&link.destination, PathState::Unresponsive);
        if is_near || link.taken_hops <= 1 {
            self.request_path_automatically(step.env, link.destination, step.out);
        }
    }
}

/// Nothing is at home: what time brings about concerns others only.
struct Nobody;

impl Locals for Nobody {
    fn has_destination(&self, _destination: &DestinationHash) -> bool {
        false
    }

    fn has_link(&self, _link: &LinkHash) -> bool {
        false
    }
}
