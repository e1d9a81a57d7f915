//! A node's things in the reference's files (spec 1.19).
//!
//! Below the directory with the config file, the reference 1.5.7 was seen to write:
//!
//! | file | contents |
//! |---|---|
//! | `storage/transport_identity` | 64 bytes: the private keys. Written on the first start also by nodes that run with another identity each time; it gives the RPC key |
//! | `storage/known_destinations` | MessagePack map: destination to `[announced, packet hash, public keys, app data or nil, last use]` |
//! | `storage/destination_table` | MessagePack list of `[destination, time, next hop, hops, expires, [random blobs], interface hash, packet hash]` |
//! | `storage/tunnels` | MessagePack list of `[tunnel, interface hash, [paths as above], expires]`; an empty list is the byte 90 |
//! | `storage/packet_hashlist.raw` | hashes of 32 bytes each in a row; by transport nodes only, on exit |
//! | `storage/ratchets/<destination>` | MessagePack map `ratchet`, `received` |
//! | `storage/cache/announces/<packet hash>` | MessagePack list of the packet as it came and the full name of its interface |
//! | `storage/blackhole/local` | MessagePack map: identity to a map `source`, `until`, `reason` |
//! | `storage/blackhole/<source>` | the same, by another node |
//!
//! It also makes the empty directories `interfaces`, `storage/resources` and `storage/identities`. Paths that came
//! through a connection that has a tunnel are in `tunnels` once the connection is gone, not in `destination_table`.
//! All its files can be read by everybody; private keys that are written here cannot.

mod atomic;
mod directory;
mod error;
mod identity_file;

pub use directory::DirectoryStore;
pub use error::{Action, StoreError};
pub use identity_file::{
    IdentityFileError, IdentityFileWarning, LoadedIdentity, create_identity_file, read_identity_file,
};
