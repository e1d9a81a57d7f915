//! Interfaces that come and go, and the tunnels that outlive them (spec 1.14).

use super::{DropReason, Router, Step, Verdict, inbound::Arrival, path::Path};
use crate::{
    DestinationHash, Env, InterfaceHash,
    crypto::sha256,
    identity::Identity,
    iface::{InterfaceId, InterfaceProperties, Interfaces},
    wire::TunnelSynthesis,
};
use alloc::vec::Vec;
use proto_core::Instant;

impl Router {
    /// Heeds what happened to an interface.
    pub fn interface_changed(&mut self, env: &Env<'_>, id: InterfaceId, change: InterfaceChange) {
        match change {
            InterfaceChange::Added | InterfaceChange::Up => _ = self.port(id),
            // What waits would be old news when the interface is up again.
            InterfaceChange::Down => self.drop_announce_queue(id),
            InterfaceChange::Removed => self.forget_interface(env.now, id),
        }
    }

    /// Drops what leads over an interface that is gone for good. Paths of its tunnel wait for its successor.
    fn forget_interface(&mut self, now: Instant, id: InterfaceId) {
        if let Some(tunnel) = self.ports.get(&id).and_then(|port| port.tunnel) {
            let paths = self.paths_over(id);
            self.tunnels.detach(now, tunnel, paths);
        }
        self.paths.remove_if(|path| path.interface == id);
        self.links.remove_interface(id);
        self.ports.remove(&id);
    }

    /// Asks the peer at the other end of an interface that connected to take it for the one that it was before. Draws
    /// 16 bytes.
    pub fn synthesize_tunnel(
        &mut self,
        env: &mut Env<'_>,
        identity: &Identity,
        interface: InterfaceId,
        out: &mut dyn Interfaces,
    ) {
        let Some(name) = out.properties(interface).map(interface_hash) else { return };
        let synthesis = TunnelSynthesis::sign(identity, name, env.entropy);
        let mut data = Vec::new();
        synthesis.emit(&mut data);
        out.send(interface, &TunnelSynthesis::packet(&data));
    }

    /// Drops the announces that wait for an interface.
    pub fn drop_announce_queue(&mut self, id: InterfaceId) {
        if let Some(port) = self.ports.get_mut(&id) {
            port.announces.clear();
        }
        self.rearm(id);
    }

    /// Attaches the interface that a request came over to its tunnel and restores the tunnel's paths.
    pub(super) fn on_tunnel_synthesis<'p>(
        &mut self,
        step: &Step<'_, '_>,
        arrival: &Arrival<'p>,
    ) -> Verdict<'p> {
        let Ok(synthesis) = TunnelSynthesis::parse(arrival.packet.data) else {
            return Verdict::Dropped(DropReason::Malformed);
        };
        if !synthesis.verify(step.env.crypto) {
            return Verdict::Dropped(DropReason::BadSignature);
        }
        let tunnel = synthesis.tunnel();
        let Some(before) = self.tunnels.attach(tunnel, arrival.from) else {
            return Verdict::Dropped(DropReason::TableFull);
        };
        if let Some(port) = self.port(arrival.from) {
            port.tunnel = Some(tunnel);
        }
        let mut paths = before.paths;
        if let Some(old) = before.interface.filter(|old| *old != arrival.from) {
            paths.extend(self.paths_over(old));
            self.paths.remove_if(|path| path.interface == old);
            if let Some(port) = self.ports.get_mut(&old) {
                port.tunnel = None;
            }
        }
        for (destination, path) in paths {
            self.restore_path(step.env.now, destination, path.over(arrival.from));
        }
        Verdict::Handled
    }

    /// Puts a path back unless a better or newer one is known.
    fn restore_path(&mut self, now: Instant, destination: DestinationHash, path: Path) {
        let is_worse = self.paths.get(&destination).is_some_and(|known| {
            known.expires > now && (known.hops < path.hops || known.blobs.newest() > path.blobs.newest())
        });
        if !is_worse && path.expires > now {
            self.paths.insert(destination, path);
        }
    }

    pub(super) fn paths_over(&self, id: InterfaceId) -> Vec<(DestinationHash, Path)> {
        let over = self.paths.iter().filter(|(_, path)| path.interface == id);
        over.map(|(destination, path)| (*destination, path.clone())).collect()
    }
}

/// What happened to an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InterfaceChange {
    /// It is new.
    Added,
    /// It works.
    Up,
    /// It does not work at present.
    Down,
    /// It is gone for good.
    Removed,
}

/// Returns the hash by which stored tables and tunnels know an interface.
pub(super) fn interface_hash(properties: &InterfaceProperties) -> InterfaceHash {
    InterfaceHash::new(sha256(&[properties.name.as_bytes()]))
}
