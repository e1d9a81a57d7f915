//! A packet that is kept.

use super::Packet;
use bytes::Bytes;

/// A packet whose data are shared by all its copies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnedPacket {
    head: Packet<'static>,
    data: Bytes,
}

impl OwnedPacket {
    /// Copies `packet`.
    pub fn new(packet: &Packet<'_>) -> Self {
        Self { head: Packet { data: &[], ..*packet }, data: Bytes::copy_from_slice(packet.data) }
    }

    /// Returns the packet.
    pub fn as_packet(&self) -> Packet<'_> {
        Packet { data: &self.data, ..self.head }
    }
}
