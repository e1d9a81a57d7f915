//! What carries a resource.

use crate::wire::{Context, PacketType};

/// The link under a resource, as the resource sees it.
pub trait Carrier {
    /// Encrypts `plaintext` with the link's key and sends it as a data packet.
    fn send(&mut self, context: Context, plaintext: &[u8]);

    /// Sends `data` as they are: parts, which are encrypted already, and proofs.
    fn send_raw(&mut self, packet_type: PacketType, context: Context, data: &[u8]);

    /// Returns how many bytes the interface takes before its queue is as long as it should be. Parts that are asked
    /// for wait until there is room.
    fn room(&self) -> usize;
}
