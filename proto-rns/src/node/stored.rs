//! Keeping what a node knows between runs.

use super::Node;
use crate::{
    identity::{Identity, KnownDestinations, RememberedRatchet},
    storage::{Storage, StoredItem},
};
use proto_core::Instant;

impl Node {
    /// Takes over what was kept: destinations and their ratchets, seen packets, paths, tunnels and refusals. Items that
    /// are damaged are left out.
    ///
    /// Paths belong to interfaces, which must have been added before.
    pub fn load(&mut self, now: Instant, storage: &mut dyn Storage) {
        self.core.see(now);
        if let Some(bytes) = storage.read(StoredItem::KnownDestinations)
            && let Ok(known) = KnownDestinations::decode(&bytes, self.config.max_known)
        {
            self.known = known;
        }
        let mut announces = alloc::collections::BTreeMap::new();
        for item in storage.list() {
            match item {
                StoredItem::Ratchet(destination) => {
                    let ratchet = storage.read(item).and_then(|bytes| RememberedRatchet::decode(&bytes).ok());
                    if let Some(ratchet) = ratchet {
                        self.known.remember_ratchet(destination, ratchet.key, ratchet.received);
                    }
                }
                StoredItem::Announce(packet) => {
                    if let Some(bytes) = storage.read(item) {
                        announces.insert(packet, bytes);
                    }
                }
                StoredItem::BlackholeOf(source) => self.load_blackhole(storage.read(item), source),
                StoredItem::TransportIdentity
                | StoredItem::KnownDestinations
                | StoredItem::PathTable
                | StoredItem::Tunnels
                | StoredItem::PacketHashes
                | StoredItem::OwnRatchets(_)
                | StoredItem::Blackhole => {}
            }
        }
        self.load_blackhole(storage.read(StoredItem::Blackhole), self.transport_id());
        if let Some(bytes) = storage.read(StoredItem::PacketHashes) {
            self.router.decode_seen(&bytes);
        }
        let cached = |packet: &crate::PacketHash| announces.get(packet).cloned();
        let env = self.core.env();
        // What a damaged table holds up to its first mistake is taken over, and the rest is learned anew.
        if let Some(bytes) = storage.read(StoredItem::PathTable) {
            let _ = self.router.decode_paths(&env, &bytes, &self.interfaces, &cached);
        }
        if let Some(bytes) = storage.read(StoredItem::Tunnels) {
            let _ = self.router.decode_tunnels(&env, &bytes, &cached);
        }
    }

    /// Writes what is to be kept. A node that is only an end of paths keeps less than one that transports.
    pub fn save(&mut self, now: Instant, storage: &mut dyn Storage) {
        self.core.see(now);
        storage.write(StoredItem::KnownDestinations, &self.known.encode());
        for (destination, known) in self.known.iter() {
            if let Some(ratchet) = &known.ratchet {
                storage.write(StoredItem::Ratchet(destination), &ratchet.encode());
            }
        }
        storage.write(StoredItem::Blackhole, &self.router.blackhole().encode(self.transport_id()));
        if !self.config.transport {
            return;
        }
        storage.write(StoredItem::TransportIdentity, &*self.identity.secret_bytes());
        storage.write(StoredItem::PacketHashes, &self.router.encode_seen());
        let env = self.core.env();
        storage.write(StoredItem::PathTable, &self.router.encode_paths(&env, &self.interfaces));
        storage.write(StoredItem::Tunnels, &self.router.encode_tunnels(&env, &self.interfaces));
        for announce in self.router.cached_announces(&self.interfaces) {
            storage.write(StoredItem::Announce(announce.packet), &announce.contents);
        }
    }

    fn load_blackhole(&mut self, list: Option<alloc::vec::Vec<u8>>, source: crate::IdentityHash) {
        if let Some(list) = list {
            let _ = self.router.refuse_listed(&list, source);
        }
    }
}

/// Returns the identity that a node had the last time, if it was kept and is whole.
pub fn stored_identity(
    crypto: &dyn crate::crypto::CryptoProvider,
    storage: &mut dyn Storage,
) -> Option<Identity> {
    let bytes = storage.read(StoredItem::TransportIdentity)?;
    Some(Identity::from_bytes(crypto, bytes.as_slice().try_into().ok()?))
}
