//! Reticulum on smol: nodes, destinations, links.

use crate::Smol;

pub use runtime_core::rns::*;

/// A Reticulum node.
pub type RnsNode = runtime_core::rns::RnsNode<Smol>;

/// A destination of a node.
pub type Destination = runtime_core::rns::Destination<Smol>;

/// A link between two nodes.
pub type Link = runtime_core::rns::Link<Smol>;

/// A resource that is being sent.
pub type Transfer = runtime_core::rns::Transfer<Smol>;

/// The announces that a node hears.
pub type Announces = runtime_core::rns::Announces<Smol>;
