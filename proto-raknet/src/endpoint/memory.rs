//! Small bounded memories of addresses outside sessions: pings under way, versions asked for.

use alloc::collections::VecDeque;
use core::net::SocketAddr;

use crate::{limits::MAX_PENDING_PINGS, wire::ProtocolVersion};

/// Pings that wait for their pong; the oldest makes room.
#[derive(Debug, Default)]
pub(crate) struct PendingPings(VecDeque<(SocketAddr, u64)>);

impl PendingPings {
    /// Takes note of a ping that carries `time`.
    pub(crate) fn add(&mut self, to: SocketAddr, time: u64) {
        if self.0.len() >= MAX_PENDING_PINGS {
            self.0.pop_front();
        }
        self.0.push_back((to, time));
    }

    /// Takes out the ping that a pong answers: by the echoed time, or, since some servers send their own clock instead
    /// (rust-raknet), by the address alone.
    pub(crate) fn take(&mut self, from: SocketAddr, time: u64) -> Option<u64> {
        let exact = self.0.iter().position(|&(to, sent)| to == from && sent == time);
        let at = exact.or_else(|| self.0.iter().position(|&(to, _)| to == from))?;
        self.0.remove(at).map(|(_, sent)| sent)
    }
}

/// The protocol versions that addresses asked for lately, for servers without cookies (Network#66).
#[derive(Debug, Default)]
pub(crate) struct RecentVersions(VecDeque<(SocketAddr, ProtocolVersion)>);

impl RecentVersions {
    const MAX: usize = 256;

    /// Takes note of a first request.
    pub(crate) fn add(&mut self, from: SocketAddr, version: ProtocolVersion) {
        if let Some(known) = self.0.iter_mut().rev().take(16).find(|(address, _)| *address == from) {
            known.1 = version;
            return;
        }
        if self.0.len() >= Self::MAX {
            self.0.pop_front();
        }
        self.0.push_back((from, version));
    }

    /// Takes out the version of an address.
    pub(crate) fn take(&mut self, from: SocketAddr) -> Option<ProtocolVersion> {
        let at = self.0.iter().rposition(|(address, _)| *address == from)?;
        self.0.remove(at).map(|(_, version)| version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(port: u16) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], port))
    }

    #[test]
    fn a_pong_finds_its_ping_even_if_it_does_not_echo_the_time() {
        let mut pings = PendingPings::default();
        pings.add(address(1), 10);
        pings.add(address(1), 20);
        assert_eq!(pings.take(address(1), 20), Some(20));
        assert_eq!(pings.take(address(1), 999), Some(10));
        assert_eq!(pings.take(address(1), 10), None);
    }

    #[test]
    fn memories_are_bounded() {
        let (mut pings, mut versions) = (PendingPings::default(), RecentVersions::default());
        for port in 0..1_000 {
            pings.add(address(port), 0);
            versions.add(address(port), ProtocolVersion(11));
        }
        assert_eq!((pings.0.len(), versions.0.len()), (MAX_PENDING_PINGS, RecentVersions::MAX));
        assert_eq!(versions.take(address(999)), Some(ProtocolVersion(11)));
        assert_eq!(versions.take(address(0)), None);
    }
}
