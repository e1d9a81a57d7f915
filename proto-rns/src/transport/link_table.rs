//! The links that pass through this node (spec 1.14).

use super::slots::Slots;
use crate::{DestinationHash, LinkHash, iface::InterfaceId};
use alloc::collections::BTreeMap;
use core::time::Duration;
use proto_core::Instant;

/// How long a link without traffic is remembered: 1.25 times the time after which its ends give it up.
pub const LINK_TIMEOUT: Duration = Duration::from_secs(900);
/// How often traffic moves a link's deadline.
const REFRESH_INTERVAL: Duration = Duration::from_secs(10);

/// The links that pass, about 150 bytes each.
#[derive(Clone, Debug)]
pub(crate) struct LinkTable {
    links: Slots<LinkHash, RelayedLink>,
    /// How many links that no proof was seen of came in by each interface.
    half_open: BTreeMap<InterfaceId, usize>,
    limits: LinkLimits,
}

/// The bounds of the link table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkLimits {
    pub(crate) links: usize,
    pub(crate) half_open_per_interface: usize,
}

/// A link that passes through this node.
#[derive(Clone, Debug)]
pub(crate) struct RelayedLink {
    pub(crate) destination: DestinationHash,
    /// Towards the destination.
    pub(crate) outbound: InterfaceId,
    /// Towards the initiator.
    pub(crate) received: InterfaceId,
    /// How many nodes there are to the destination.
    pub(crate) remaining_hops: u8,
    /// How many nodes there were from the initiator.
    pub(crate) taken_hops: u8,
    /// Whether the destination's proof passed.
    pub(crate) validated: bool,
    /// Whether the number of remaining hops was corrected; that happens once.
    pub(crate) rebalanced: bool,
    pub(crate) refreshed: Instant,
}

/// Why a link is not taken on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refused;

impl LinkTable {
    pub(crate) fn new(limits: LinkLimits, hash_key: &[u8; 16]) -> Self {
        Self { links: Slots::new(hash_key), half_open: BTreeMap::new(), limits }
    }

    /// Takes a link on until `proof_deadline`.
    pub(crate) fn insert(
        &mut self,
        link: LinkHash,
        relayed: RelayedLink,
        proof_deadline: Instant,
    ) -> Result<(), Refused> {
        let half_open = self.half_open.get(&relayed.received).copied().unwrap_or(0);
        if half_open >= self.limits.half_open_per_interface || self.links.len() >= self.limits.links {
            return Err(Refused);
        }
        self.remove(&link);
        *self.half_open.entry(relayed.received).or_default() += 1;
        self.links.insert(link, relayed, Some(proof_deadline));
        Ok(())
    }

    /// Notes that the destination's proof passed.
    pub(crate) fn validate(&mut self, now: Instant, link: &LinkHash, hops: u8) {
        let Some(relayed) = self.links.get_mut(link) else { return };
        relayed.rebalanced |= relayed.remaining_hops != hops;
        relayed.remaining_hops = hops;
        relayed.refreshed = now;
        if !relayed.validated {
            relayed.validated = true;
            let received = relayed.received;
            self.closed(received);
        }
        self.links.set_deadline(link, Some(now + LINK_TIMEOUT));
    }

    /// Returns where a packet of the link that came from `from` after `hops` nodes goes, and notes the traffic.
    pub(crate) fn forward(
        &mut self,
        now: Instant,
        link: &LinkHash,
        from: InterfaceId,
        hops: u8,
    ) -> Result<InterfaceId, WrongWay> {
        let relayed = self.links.get_mut(link).ok_or(WrongWay::Direction)?;
        if !relayed.validated {
            return Err(WrongWay::Unvalidated);
        }
        let to = relayed.way(from, hops).ok_or(WrongWay::Direction)?;
        if now.saturating_since(relayed.refreshed) >= REFRESH_INTERVAL {
            relayed.refreshed = now;
            self.links.set_deadline(link, Some(now + LINK_TIMEOUT));
        }
        Ok(to)
    }

    /// Returns a link whose time is over, and whether its proof was seen.
    pub(crate) fn expire(&mut self, now: Instant) -> Option<RelayedLink> {
        let (link, _) = self.links.due(now)?;
        self.remove(&link)
    }

    /// Drops the links over an interface.
    pub(crate) fn remove_interface(&mut self, interface: InterfaceId) {
        self.links.retain(|_, link| link.outbound != interface && link.received != interface);
        self.half_open.remove(&interface);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&LinkHash, &RelayedLink)> {
        self.links.iter()
    }

    pub(crate) fn get(&self, link: &LinkHash) -> Option<&RelayedLink> {
        self.links.get(link)
    }

    pub(crate) fn len(&self) -> usize {
        self.links.len()
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.links.deadline()
    }

    fn remove(&mut self, link: &LinkHash) -> Option<RelayedLink> {
        let relayed = self.links.remove(link)?;
        if !relayed.validated {
            self.closed(relayed.received);
        }
        Some(relayed)
    }

    fn closed(&mut self, received: InterfaceId) {
        if let Some(count) = self.half_open.get_mut(&received) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.half_open.remove(&received);
            }
        }
    }
}

/// Why a packet of a link does not pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WrongWay {
    /// Not from an interface of the link, or after another number of nodes.
    Direction,
    /// The destination's proof was not seen.
    Unvalidated,
}

impl RelayedLink {
    /// Returns the interface opposite to `from`, if the packet passed as many nodes as packets of the link do.
    fn way(&self, from: InterfaceId, hops: u8) -> Option<InterfaceId> {
        if self.outbound == self.received {
            let possible = from == self.outbound && (hops == self.remaining_hops || hops == self.taken_hops);
            return possible.then_some(self.outbound);
        }
        if from == self.outbound && hops == self.remaining_hops {
            return Some(self.received);
        }
        (from == self.received && hops == self.taken_hops).then_some(self.outbound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINK: LinkHash = LinkHash::new([1; 16]);
    const NEAR: InterfaceId = InterfaceId(1);
    const FAR: InterfaceId = InterfaceId(2);

    fn at(seconds: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(seconds)
    }

    fn link(received: InterfaceId, outbound: InterfaceId) -> RelayedLink {
        RelayedLink {
            destination: DestinationHash::new([2; 16]),
            outbound,
            received,
            remaining_hops: 2,
            taken_hops: 3,
            validated: false,
            rebalanced: false,
            refreshed: at(0),
        }
    }

    fn table() -> LinkTable {
        let limits = LinkLimits { links: 3, half_open_per_interface: 2 };
        LinkTable::new(limits, &[0; 16])
    }

    #[test]
    fn packets_pass_only_in_the_two_directions_with_their_exact_hops() {
        let mut table = table();
        table.insert(LINK, link(NEAR, FAR), at(60)).unwrap();
        assert_eq!(table.forward(at(1), &LINK, NEAR, 3), Err(WrongWay::Unvalidated));
        table.validate(at(1), &LINK, 2);
        assert_eq!(table.forward(at(1), &LINK, NEAR, 3), Ok(FAR));
        assert_eq!(table.forward(at(1), &LINK, FAR, 2), Ok(NEAR));
        for (from, hops) in [(NEAR, 2), (FAR, 3), (InterfaceId(3), 2), (NEAR, 0)] {
            assert_eq!(table.forward(at(1), &LINK, from, hops), Err(WrongWay::Direction));
        }
    }

    #[test]
    fn on_one_interface_either_count_of_hops_passes() {
        let mut table = table();
        table.insert(LINK, link(NEAR, NEAR), at(60)).unwrap();
        table.validate(at(1), &LINK, 2);
        assert_eq!(table.forward(at(1), &LINK, NEAR, 2), Ok(NEAR));
        assert_eq!(table.forward(at(1), &LINK, NEAR, 3), Ok(NEAR));
        assert_eq!(table.forward(at(1), &LINK, NEAR, 4), Err(WrongWay::Direction));
    }

    #[test]
    fn links_end_without_proof_and_without_traffic() {
        let mut table = table();
        table.insert(LINK, link(NEAR, FAR), at(60)).unwrap();
        assert_eq!(table.expire(at(59)).map(|link| link.validated), None);
        assert_eq!(table.expire(at(60)).map(|link| link.validated), Some(false));
        table.insert(LINK, link(NEAR, FAR), at(60)).unwrap();
        table.validate(at(1), &LINK, 2);
        table.forward(at(500), &LINK, NEAR, 3).unwrap();
        assert!(table.expire(at(901)).is_none());
        assert_eq!(table.expire(at(1_400)).map(|link| link.validated), Some(true));
    }

    #[test]
    fn half_open_links_are_bounded_for_each_interface_and_all_links_together() {
        let mut table = table();
        let number = |n: u8| LinkHash::new([n; 16]);
        assert!(table.insert(number(1), link(NEAR, FAR), at(60)).is_ok());
        assert!(table.insert(number(2), link(NEAR, FAR), at(60)).is_ok());
        assert!(table.insert(number(3), link(NEAR, FAR), at(60)).is_err());
        table.validate(at(1), &number(1), 2);
        assert!(table.insert(number(3), link(NEAR, FAR), at(60)).is_ok());
        assert!(table.insert(number(4), link(FAR, NEAR), at(60)).is_err());
        table.remove_interface(NEAR);
        assert_eq!((table.len(), table.half_open.len()), (0, 0));
    }
}
