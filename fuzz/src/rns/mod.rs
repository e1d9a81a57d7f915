//! Reticulum: its messages, its framing, a node among hostile neighbours, a receiver of resources.

mod messages;
mod node;
mod resource;

pub use messages::{deframe, msgpack, packet};
pub use node::node;
pub use resource::resource;
