//! RakNet on the virtual network: parties that talk, wires that are forged, captured handshakes.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::wildcard_enum_match_arm,
    reason = "a test fails by panicking, and looks at the events that it is about"
)]

mod hand;
mod numbered;
mod pair;
mod party;
mod subject;

pub use hand::{Hand, raw_frame};
pub use numbered::{numbered, numbers};
pub use pair::Pair;
pub use party::Party;
pub use subject::EndpointSubject;

use netsim::{Network, NodeId};
use proto_raknet::{Config, Endpoint};
use std::{num::NonZeroUsize, time::Duration};

/// A network of RakNet endpoints.
pub type Net = Network<Endpoint>;

/// Adds an endpoint whose seed the network draws.
pub fn add_endpoint(net: &mut Net, config: Config) -> NodeId {
    let seed = net.machine_seed();
    net.add_node(endpoint(config, seed))
}

/// Creates an endpoint with a configuration that must be valid.
pub fn endpoint(config: Config, seed: [u8; 32]) -> Endpoint {
    Endpoint::new(config, seed).expect("the configuration is valid")
}

/// Returns a number of segments.
pub fn segments(count: usize) -> NonZeroUsize {
    NonZeroUsize::new(count).expect("a batch has at least one segment")
}

/// Shorthand for milliseconds.
pub const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Shorthand for seconds.
pub const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}
