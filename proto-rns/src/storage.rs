//! What a node keeps between runs, and the trait by which a host keeps it.

use crate::{DestinationHash, IdentityHash, PacketHash};
use alloc::vec::Vec;

/// One thing that is kept. Its contents are in the reference's formats (spec 1.19).
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StoredItem {
    /// The private keys of the node's identity.
    TransportIdentity,
    /// The destinations that were heard of.
    KnownDestinations,
    /// The path table.
    PathTable,
    /// The tunnels and the paths through them.
    Tunnels,
    /// The hashes of the packets seen lately.
    PacketHashes,
    /// The ratchet that a destination of another node announced.
    Ratchet(DestinationHash),
    /// The private ratchets of one of this node's destinations.
    OwnRatchets(DestinationHash),
    /// The announce that leads to a destination, by the hash of its packet.
    Announce(PacketHash),
    /// The identities that this node's owner has blackholed.
    Blackhole,
    /// The identities that another node has blackholed, by that node's identity.
    BlackholeOf(IdentityHash),
}

/// Where a node's things are kept. A host with files implements it; so does a map in memory.
pub trait Storage {
    /// Returns what was written last, or `None`.
    fn read(&mut self, item: StoredItem) -> Option<Vec<u8>>;

    /// Keeps `bytes` in the place of what was there. A failure is the storage's to report.
    fn write(&mut self, item: StoredItem, bytes: &[u8]);

    /// Forgets an item.
    fn remove(&mut self, item: StoredItem);

    /// Returns all items of the kinds that come in numbers: ratchets, announces, blackholes.
    fn list(&mut self) -> Vec<StoredItem>;
}
