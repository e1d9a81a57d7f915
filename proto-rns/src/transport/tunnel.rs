//! Tunnels: paths that survive the reconnection of an interface (spec 1.14).

use super::{path::Path, slots::Slots};
use crate::{DestinationHash, iface::InterfaceId, wire::TunnelId};
use alloc::vec::Vec;
use core::time::Duration;
use proto_core::Instant;

/// How long the paths of a tunnel outlive its interface.
pub const TUNNEL_TIMEOUT: Duration = Duration::from_secs(8 * 60 * 60);

/// The tunnels; paths are kept here only while their tunnel has no interface.
#[derive(Clone, Debug)]
pub(crate) struct TunnelTable {
    tunnels: Slots<TunnelId, Tunnel>,
    capacity: usize,
    max_paths: usize,
}

/// A tunnel.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tunnel {
    /// The interface that it is attached to.
    pub(crate) interface: Option<InterfaceId>,
    /// The paths that led through it when its interface went.
    pub(crate) paths: Vec<(DestinationHash, Path)>,
    /// When it is forgotten, while it has no interface.
    pub(crate) expires: Option<Instant>,
}

impl TunnelTable {
    pub(crate) fn new(capacity: usize, max_paths: usize, hash_key: &[u8; 16]) -> Self {
        Self { tunnels: Slots::new(hash_key), capacity, max_paths }
    }

    /// Attaches an interface to a tunnel and returns what it was before; `None` when there is no room.
    pub(crate) fn attach(&mut self, tunnel: TunnelId, interface: InterfaceId) -> Option<Tunnel> {
        if self.tunnels.len() >= self.capacity && !self.tunnels.contains(&tunnel) {
            return None;
        }
        let attached = Tunnel { interface: Some(interface), ..Tunnel::default() };
        Some(self.tunnels.insert(tunnel, attached, None).unwrap_or_default())
    }

    /// Keeps `paths` for when the tunnel's next interface comes.
    pub(crate) fn detach(&mut self, now: Instant, tunnel: TunnelId, mut paths: Vec<(DestinationHash, Path)>) {
        paths.truncate(self.max_paths);
        self.restore(tunnel, Tunnel { interface: None, paths, expires: Some(now + TUNNEL_TIMEOUT) });
    }

    /// Puts a tunnel in the table as it was.
    pub(crate) fn restore(&mut self, tunnel: TunnelId, state: Tunnel) {
        if self.tunnels.len() < self.capacity || self.tunnels.contains(&tunnel) {
            let expires = state.expires;
            self.tunnels.insert(tunnel, state, expires);
        }
    }

    pub(crate) fn expire(&mut self, now: Instant) {
        while let Some((tunnel, _)) = self.tunnels.due(now) {
            self.tunnels.remove(&tunnel);
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&TunnelId, &Tunnel)> {
        self.tunnels.iter()
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.tunnels.deadline()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::path::Blobs;

    fn path() -> (DestinationHash, Path) {
        let path = Path::restored(None, 1, InterfaceId(1), Instant::ZERO, Instant::ZERO, Blobs::default());
        (DestinationHash::new([1; 16]), path)
    }

    fn tunnel(number: u8) -> TunnelId {
        TunnelId::from_slice(&[number; 32]).unwrap()
    }

    #[test]
    fn a_tunnel_gives_its_paths_to_its_next_interface_within_eight_hours() {
        let mut table = TunnelTable::new(2, 1, &[0; 16]);
        assert!(table.attach(tunnel(1), InterfaceId(1)).unwrap().paths.is_empty());
        assert_eq!(table.deadline(), None);
        table.detach(Instant::ZERO, tunnel(1), alloc::vec![path(), path()]);
        assert_eq!(table.attach(tunnel(1), InterfaceId(2)).unwrap().paths.len(), 1);
        table.detach(Instant::ZERO, tunnel(1), alloc::vec![path()]);
        let end = Instant::ZERO + TUNNEL_TIMEOUT;
        assert_eq!(table.deadline(), Some(end));
        table.expire(end);
        assert!(table.attach(tunnel(1), InterfaceId(3)).unwrap().paths.is_empty());
    }

    #[test]
    fn a_full_table_takes_no_new_tunnel() {
        let mut table = TunnelTable::new(1, 1, &[0; 16]);
        assert!(table.attach(tunnel(1), InterfaceId(1)).is_some());
        assert!(table.attach(tunnel(2), InterfaceId(2)).is_none());
        assert!(table.attach(tunnel(1), InterfaceId(2)).is_some());
    }
}
