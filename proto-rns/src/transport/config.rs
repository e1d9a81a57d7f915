//! The settings of a router.

use super::{link_table::LinkLimits, path::PathLimits};
use core::time::Duration;

/// What a router does and how much it remembers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouterConfig {
    /// Packets remembered as seen, in each of two generations. 10 bytes each.
    pub seen_packets: usize,
    /// The hashes of packets kept whole, so that they can be stored. 32 bytes each.
    pub stored_hashes: usize,
    /// Paths, about 1 200 bytes each.
    pub paths: usize,
    /// Paths over one interface.
    pub paths_per_interface: usize,
    /// How far in the future the time of an announce may be before it counts as made now.
    pub future_announces: Duration,
    /// Announces that are being passed on, about 700 bytes each.
    pub announces: usize,
    /// Links that pass, about 150 bytes each.
    pub links: usize,
    /// Links over one interface that no proof was seen of.
    pub half_open_links_per_interface: usize,
    /// Packets whose proofs find back, about 90 bytes each.
    pub reverse_ways: usize,
    /// Tunnels.
    pub tunnels: usize,
    /// Paths kept for a tunnel without interface, about 1 200 bytes each.
    pub paths_per_tunnel: usize,
    /// Destinations that are searched for at the same time.
    pub searches: usize,
    /// Destinations whose announce rate is known, at most 500 bytes each.
    pub rates: usize,
    /// Identities that are refused.
    pub blackholed: usize,
    /// Added to the hops of packets of this node, so that neighbours cannot tell them from forwarded ones: 0, or 2 to
    /// 7 to be drawn by the caller.
    pub local_hops_delta: u8,
}

impl Default for RouterConfig {
    fn default() -> Self {
        Self {
            seen_packets: 500_000,
            stored_hashes: 8_192,
            paths: 65_536,
            paths_per_interface: 32_768,
            future_announces: Duration::from_secs(60 * 60),
            announces: 8_192,
            links: 16_384,
            half_open_links_per_interface: 1_024,
            reverse_ways: 65_536,
            tunnels: 4_096,
            paths_per_tunnel: 1_024,
            searches: 4_096,
            rates: 16_384,
            blackholed: 65_536,
            local_hops_delta: 0,
        }
    }
}

impl RouterConfig {
    /// Checks the settings.
    ///
    /// # Errors
    /// A table has no room at all, or the hops are not among those allowed.
    pub fn validate(&self) -> Result<(), RouterConfigError> {
        let tables = [
            self.seen_packets,
            self.paths,
            self.paths_per_interface,
            self.announces,
            self.links,
            self.half_open_links_per_interface,
            self.reverse_ways,
            self.searches,
            self.rates,
        ];
        if tables.contains(&0) {
            return Err(RouterConfigError::EmptyTable);
        }
        if !matches!(self.local_hops_delta, 0 | 2..=7) {
            return Err(RouterConfigError::HopsDelta(self.local_hops_delta));
        }
        Ok(())
    }

    pub(super) const fn path_limits(&self) -> PathLimits {
        PathLimits {
            paths: self.paths,
            paths_per_interface: self.paths_per_interface,
            future: self.future_announces,
        }
    }

    pub(super) const fn link_limits(&self) -> LinkLimits {
        LinkLimits { links: self.links, half_open_per_interface: self.half_open_links_per_interface }
    }
}

/// Settings that make no router.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RouterConfigError {
    /// A table that routing cannot do without has no room.
    #[error(
        "packets, paths, announces, links, proofs, searches and rates each need room for at least one entry"
    )]
    EmptyTable,
    /// The hops added to own packets.
    #[error("{0} hops added to own packets; it must be 0, or 2 to 7")]
    HopsDelta(u8),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_valid_and_each_bad_setting_is_not() {
        let good = RouterConfig::default();
        assert_eq!(good.validate(), Ok(()));
        let empty = RouterConfig { paths: 0, ..good.clone() };
        assert_eq!(empty.validate(), Err(RouterConfigError::EmptyTable));
        let odd = RouterConfig { local_hops_delta: 1, ..good };
        assert_eq!(odd.validate(), Err(RouterConfigError::HopsDelta(1)));
    }
}
