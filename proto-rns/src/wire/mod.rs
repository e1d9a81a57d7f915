//! The messages on the wire, one family a file, each with `parse` and `emit`.

mod context;
mod error;
pub mod msgpack;
mod packet;

pub use context::Context;
pub use error::Malformed;
pub use packet::{DestinationType, HeaderBytes, Packet, PacketType, TransportType};
