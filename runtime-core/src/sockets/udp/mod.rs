//! Datagram sockets: made as a machine asks, read in batches, written in segmented runs.

mod bind;
mod inbox;
mod multicast;
mod options;
mod outlet;
mod source;

pub use bind::{UdpOptions, bind_udp, open_udp};
pub use inbox::Inbox;
pub use multicast::{Membership, bind_multicast};
pub use outlet::UdpSender;
pub use source::DatagramSource;
