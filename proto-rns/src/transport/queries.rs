//! What others may know and change of the router's tables.

use super::{
    BASE_MTU, Blackhole, PER_HOP_TIMEOUT, PathState, RateInfo, Refusal, Router, RouterStats, path::Path,
};
use crate::{
    DestinationHash, IdentityHash, PacketHash,
    iface::{InterfaceId, Interfaces, MINIMUM_BITRATE},
    wire::Malformed,
};
use alloc::vec::Vec;
use core::time::Duration;
use proto_core::Instant;

/// A path, as others may know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathInfo {
    /// Where it leads.
    pub destination: DestinationHash,
    /// The node to send to; `None` where the destination itself is in reach.
    pub next_hop: Option<IdentityHash>,
    /// How many nodes it passes, the destination included.
    pub hops: u8,
    /// The interface that it starts at.
    pub interface: InterfaceId,
    /// When it was learned or last used.
    pub refreshed: Instant,
    /// When any other path replaces it.
    pub expires: Instant,
    /// Whether it works.
    pub state: PathState,
    /// The hash of the announce that it was learned from.
    pub packet: PacketHash,
}

/// How many entries the router's tables have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableSizes {
    /// Paths.
    pub paths: usize,
    /// Announces that are being passed on.
    pub announces: usize,
    /// Links that pass.
    pub links: usize,
}

impl Router {
    /// Returns the router's transport id.
    pub const fn id(&self) -> IdentityHash {
        self.id
    }

    /// Says whether packets of others are forwarded.
    pub const fn is_transport(&self) -> bool {
        self.transport
    }

    /// Returns the path to a destination.
    pub fn path(&self, destination: DestinationHash) -> Option<PathInfo> {
        self.paths.get(&destination).map(|path| info(destination, path))
    }

    /// Returns how many nodes the path to a destination passes, the destination included.
    pub fn hops_to(&self, destination: DestinationHash) -> Option<u8> {
        self.paths.get(&destination).map(|path| path.hops)
    }

    /// Returns all paths.
    pub fn paths(&self) -> impl Iterator<Item = PathInfo> {
        self.paths.iter().map(|(destination, path)| info(*destination, path))
    }

    /// Forgets the path to a destination; false when there is none.
    pub fn drop_path(&mut self, destination: DestinationHash) -> bool {
        self.announces.remove(&destination);
        self.paths.remove(&destination).is_some()
    }

    /// Forgets all paths that lead to a node first and returns how many there were.
    pub fn drop_all_via(&mut self, next_hop: IdentityHash) -> usize {
        self.paths.remove_if(|path| path.next_hop == Some(next_hop))
    }

    /// Forgets all paths over an interface, as when a shared instance is lost, and returns how many there were.
    pub fn drop_all_over(&mut self, interface: InterfaceId) -> usize {
        self.paths.remove_if(|path| path.interface == interface)
    }

    /// Notes that something sent along the path was not answered: a longer path of the same time may replace it.
    pub fn mark_unresponsive(&mut self, destination: DestinationHash) {
        self.paths.set_state(&destination, PathState::Unresponsive);
    }

    /// Notes that something sent along the path was answered.
    pub fn mark_responsive(&mut self, destination: DestinationHash) {
        self.paths.set_state(&destination, PathState::Responsive);
    }

    /// Corrects the length of a path, as a verified link proof showed it.
    pub fn correct_hops(&mut self, destination: DestinationHash, hops: u8) {
        self.paths.set_hops(&destination, hops);
    }

    /// Returns the announce rates of destinations that come over limited interfaces.
    pub fn rate_table(&self) -> Vec<RateInfo> {
        self.rates.infos()
    }

    /// Refuses an identity from now on and forgets the paths to its destinations. False when there is no room.
    pub fn refuse(&mut self, identity: IdentityHash, refusal: Refusal) -> bool {
        let refused = self.blackhole.insert(identity, refusal);
        if refused {
            self.paths.remove_if(|path| path.identity == Some(identity));
        }
        refused
    }

    /// Returns the identities that are refused.
    pub const fn blackhole(&self) -> &Blackhole {
        &self.blackhole
    }

    /// Returns the identities that are refused, to change them.
    pub const fn blackhole_mut(&mut self) -> &mut Blackhole {
        &mut self.blackhole
    }

    /// Refuses the identities on a list that `source` published, and forgets the paths to their destinations. Returns
    /// how many were not refused before.
    ///
    /// # Errors
    /// It is no list. Nobody is refused then.
    pub fn refuse_listed(&mut self, list: &[u8], source: IdentityHash) -> Result<usize, Malformed> {
        let new = self.blackhole.extend(list, source)?;
        let blackhole = &self.blackhole;
        self.paths.remove_if(|path| path.identity.is_some_and(|identity| blackhole.contains(identity)));
        Ok(new)
    }

    /// Forgets the announces that wait on any interface for their turn.
    pub fn drop_announce_queues(&mut self) {
        let ports: Vec<InterfaceId> = self.ports.iter().map(|(id, _)| *id).collect();
        for id in ports {
            if let Some(port) = self.ports.get_mut(&id) {
                port.announces.clear();
            }
            self.rearm(id);
        }
    }

    /// Returns how many announces are held and how many wait on an interface.
    pub fn waiting_announces(&self, interface: InterfaceId) -> (usize, usize) {
        self.ports.get(&interface).map_or((0, 0), |port| (port.held.len(), port.announces.len()))
    }

    /// Returns how full the tables are.
    pub fn sizes(&self) -> TableSizes {
        TableSizes { paths: self.paths.len(), announces: self.announces.len(), links: self.links.len() }
    }

    /// Returns what was done and dropped so far.
    pub const fn stats(&self) -> &RouterStats {
        &self.stats
    }

    /// Returns how long the first node on the path to a destination may take.
    pub fn first_hop_timeout(&self, destination: DestinationHash, out: &dyn Interfaces) -> Duration {
        let bitrate = self
            .paths
            .get(&destination)
            .and_then(|path| out.properties(path.interface))
            .map(|properties| properties.bitrate);
        bitrate.map_or(PER_HOP_TIMEOUT, |bitrate| transmission_time(bitrate) + PER_HOP_TIMEOUT)
    }

    /// Returns how long it may take to find a path through the slowest interface.
    pub fn medium_path_timeout(&self, out: &dyn Interfaces) -> Duration {
        let bitrates = out.ids().into_iter().filter_map(|id| out.properties(id)).map(|of| of.bitrate);
        bitrates.min().map_or(PER_HOP_TIMEOUT, |lowest| transmission_time(lowest) * 2 + PER_HOP_TIMEOUT)
    }
}

fn info(destination: DestinationHash, path: &Path) -> PathInfo {
    PathInfo {
        destination,
        next_hop: path.next_hop,
        hops: path.hops,
        interface: path.interface,
        refreshed: path.refreshed,
        expires: path.expires,
        state: path.state,
        packet: path.packet,
    }
}

/// Returns how long a packet of the common size takes at a bitrate, which counts as 5 bit/s at least.
#[allow(clippy::cast_precision_loss, reason = "bitrates are far below 2^53")]
pub(super) fn transmission_time(bitrate: u64) -> Duration {
    Duration::from_secs_f64(BASE_MTU as f64 * 8.0 / bitrate.max(MINIMUM_BITRATE) as f64)
}
