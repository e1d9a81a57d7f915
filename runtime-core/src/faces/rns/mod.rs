//! Reticulum for applications: a node, its destinations, links, requests, resources and channels.
//!
//! The types are generic over the [`Runtime`](crate::Runtime); `runtime-tokio` and `runtime-smol` re-export them with
//! it fixed.
//!
//! Everything that waits is cancel-safe unless it says otherwise: dropping a future before it is ready loses nothing
//! that arrived.

mod announces;
mod builder;
mod channel;
mod desk;
mod destination;
mod destination_seat;
mod error;
mod file_source;
mod link;
mod link_seat;
mod node;
mod receipt;
mod transfer;

pub use announces::Announces;
pub use builder::NodeBuilder;
pub use channel::{LinkReader, LinkWriter};
pub use destination::Destination;
pub use destination_seat::ReceivedPacket;
pub use error::{
    ChannelFailed, ConnectFailed, IdentifyFailed, LinkClosed, NodeEnded, PathFailed, RequestFailed,
    SendFailed, SpawnFailed, TransferFailed, Undelivered,
};
pub use file_source::FileSource;
pub use link::Link;
pub use link_seat::{IncomingRequest, Response};
pub use node::RnsNode;
pub use proto_rns::transport::Announced;
pub use receipt::Receipt;
pub use transfer::{LostResource, Progress, ReceivedResource, Transfer};
