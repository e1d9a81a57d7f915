//! Where a link's packets go.

use crate::wire::Packet;

/// The way out of a link: the node frames each packet straight into the transmit buffer of the link's interface.
pub trait PacketSink {
    /// Takes one packet. The data are the link's own scratch, good for this call only.
    fn send(&mut self, packet: &Packet<'_>);

    /// Returns how many bytes the interface takes before its queue is as long as it should be.
    fn room(&self) -> usize;
}
