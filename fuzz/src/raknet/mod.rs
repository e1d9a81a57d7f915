//! RakNet: the parsers by family, an endpoint among hostile datagrams, and a pair on a bad network.

mod parsers;
mod scenes;

pub use parsers::{ack, connected, datagram, motd, offline};
pub use scenes::{endpoint, pair};
