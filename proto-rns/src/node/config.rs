//! What can be tuned about a node.

use crate::link::{LinkConfig, LinkConfigError};

/// How a node behaves.
#[derive(Clone, Debug)]
pub struct NodeConfig {
    /// Whether it passes on packets, announces and path requests of others.
    pub transport: bool,
    /// Whether proofs leave out the hash of the packet, which their address tells already.
    pub implicit_proofs: bool,
    /// Whether links use more than 500 bytes a packet where the interfaces allow.
    pub link_mtu_discovery: bool,
    /// Whether it proves every packet to `rnstransport.probe`, so that others can measure the way.
    pub respond_to_probes: bool,
    /// Receipts that are open at a time, 1 to 65,536; about 200 bytes each. With more, the oldest is given up.
    pub max_receipts: usize,
    /// Destinations that it receives for, 1 to 65,536.
    pub max_destinations: usize,
    /// Links at a time, in both directions, 1 to 65,536; about 2 KiB each while idle. Requests beyond are dropped.
    pub max_links: usize,
    /// Links of others that wait for the end of their handshake, 1 to `max_links`. Requests beyond are dropped: each
    /// costs a key agreement and a signature.
    pub max_half_open_links: usize,
    /// Interfaces, those of accepted connections included, 1 to 65,536. Connections beyond are closed.
    pub max_interfaces: usize,
    /// Events that the application has not fetched, 64 to 1,048,576. While there are as many, no more is read.
    pub max_events: usize,
    /// Known destinations, 16 to 16,777,216; about 250 bytes each. The one unused for longest makes place.
    pub max_known: usize,
    /// How the links that it opens behave, and those that it accepts for destinations that say nothing else.
    pub links: LinkConfig,
    /// How it routes.
    pub router: crate::transport::RouterConfig,
}

impl Default for NodeConfig {
    fn default() -> Self {
        Self {
            transport: false,
            implicit_proofs: true,
            link_mtu_discovery: true,
            respond_to_probes: false,
            max_receipts: 1_024,
            max_destinations: 1_024,
            max_links: 4_096,
            max_half_open_links: 256,
            max_interfaces: 1_024,
            max_events: 16_384,
            max_known: 65_536,
            links: LinkConfig::default(),
            router: crate::transport::RouterConfig::default(),
        }
    }
}

impl NodeConfig {
    /// Checks every value.
    ///
    /// # Errors
    /// The first value that is out of its range, by name.
    pub fn validate(&self) -> Result<(), NodeConfigError> {
        let ranges = [
            ("max_receipts", self.max_receipts, 1, 65_536),
            ("max_destinations", self.max_destinations, 1, 65_536),
            ("max_links", self.max_links, 1, 65_536),
            ("max_half_open_links", self.max_half_open_links, 1, self.max_links),
            ("max_interfaces", self.max_interfaces, 1, 65_536),
            ("max_events", self.max_events, 64, 1 << 20),
            ("max_known", self.max_known, 16, 1 << 24),
        ];
        if let Some((field, _, low, high)) =
            ranges.into_iter().find(|(_, value, low, high)| !(low..=high).contains(&value))
        {
            return Err(NodeConfigError::Range { field, low, high });
        }
        self.links.validate()?;
        self.router.validate()?;
        Ok(())
    }
}

/// A value out of its range.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NodeConfigError {
    /// A value of the node.
    #[error("{field} must be {low} to {high}")]
    Range {
        /// The name of the value.
        field: &'static str,
        /// The lowest that it may be.
        low: usize,
        /// The highest that it may be.
        high: usize,
    },
    /// A value of the links.
    #[error("links: {0}")]
    Links(#[from] LinkConfigError),
    /// A value of the router.
    #[error("router: {0}")]
    Router(#[from] crate::transport::RouterConfigError),
}
