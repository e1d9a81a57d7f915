//! The peers of an endpoint, by number, by address and by identifier.

use alloc::{boxed::Box, collections::BTreeMap, vec::Vec};
use core::{
    hash::{BuildHasher, Hasher},
    net::SocketAddr,
};
use hashbrown::HashMap;
use proto_core::LinkId;
use siphasher::sip::SipHasher13;

use super::{SOCKET, attempt::Attempt};
use crate::{Guid, PeerId, peer::Peer};

/// The most peers that an endpoint can number.
const MAX_SLOTS: usize = 1 << 20;

/// Who has a number.
#[derive(Debug)]
pub(crate) enum Occupant {
    /// An attempt of ours.
    Attempt(Box<Attempt>),
    /// A session.
    Peer(Box<Peer>),
}

#[derive(Debug)]
struct Slot {
    generation: u32,
    /// The socket by which it is reached: [`SOCKET`], or one of its own.
    link: LinkId,
    occupant: Option<Occupant>,
    /// Waits to be asked for transmits.
    pub(crate) queued: bool,
}

/// The peers. Looking one up by address costs O(1); nothing iterates over a hash map.
#[derive(Debug)]
pub(crate) struct Table {
    slots: Vec<Slot>,
    free: Vec<u32>,
    by_address: HashMap<SocketAddr, u32, Keyed>,
    by_guid: BTreeMap<Guid, u32>,
    /// The last one looked up: datagrams of one peer tend to come together.
    last: Option<(SocketAddr, u32)>,
}

impl Table {
    /// Creates an empty table whose hashes nobody can predict without `key`.
    pub(crate) fn new(key: [u8; 16]) -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
            by_address: HashMap::with_hasher(Keyed { key }),
            by_guid: BTreeMap::new(),
            last: None,
        }
    }

    /// Reserves a number for an address; `None` if all are taken.
    pub(crate) fn insert(&mut self, address: SocketAddr, occupant: Occupant) -> Option<PeerId> {
        let id = self.insert_apart(occupant)?;
        self.by_address.insert(address, id.index);
        self.last = None;
        Some(id)
    }

    /// Reserves a number for somebody who is not found by an address; `None` if all are taken.
    pub(crate) fn insert_apart(&mut self, occupant: Occupant) -> Option<PeerId> {
        let index = match self.free.pop() {
            Some(index) => index,
            None if self.slots.len() < MAX_SLOTS => {
                self.slots.push(Slot { generation: 0, link: SOCKET, occupant: None, queued: false });
                u32::try_from(self.slots.len() - 1).ok()?
            }
            None => return None,
        };
        let slot = self.slots.get_mut(index as usize)?;
        slot.occupant = Some(occupant);
        slot.link = SOCKET;
        Some(PeerId { index, generation: slot.generation })
    }

    /// Gives a number a socket of its own.
    pub(crate) fn set_link(&mut self, index: u32, link: LinkId) {
        if let Some(slot) = self.slots.get_mut(index as usize) {
            slot.link = link;
        }
    }

    /// Returns the socket of a number.
    #[inline]
    pub(crate) fn link(&self, index: u32) -> LinkId {
        self.slots.get(index as usize).map_or(SOCKET, |slot| slot.link)
    }

    /// Frees a number. It gets a new generation, so that its old name means nobody.
    pub(crate) fn remove(&mut self, index: u32, address: SocketAddr) {
        if let Some(slot) = self.slots.get_mut(index as usize)
            && slot.occupant.take().is_some()
        {
            slot.generation = slot.generation.wrapping_add(1);
            self.free.push(index);
        }
        if self.by_address.get(&address) == Some(&index) {
            self.by_address.remove(&address);
        }
        self.last = None;
    }

    /// Returns the number of an address.
    #[inline]
    pub(crate) fn at(&mut self, address: SocketAddr) -> Option<u32> {
        if let Some((last, index)) = self.last
            && last == address
        {
            return Some(index);
        }
        let index = *self.by_address.get(&address)?;
        self.last = Some((address, index));
        Some(index)
    }

    /// Returns the number of the session with an identifier.
    pub(crate) fn with_guid(&self, guid: Guid) -> Option<u32> {
        self.by_guid.get(&guid).copied()
    }

    /// Takes note of a session's identifier.
    pub(crate) fn name(&mut self, guid: Guid, index: u32) {
        self.by_guid.insert(guid, index);
    }

    /// Forgets a session's identifier.
    pub(crate) fn unname(&mut self, guid: Guid, index: u32) {
        if self.by_guid.get(&guid) == Some(&index) {
            self.by_guid.remove(&guid);
        }
    }

    /// Returns the full name of a number.
    pub(crate) fn id(&self, index: u32) -> PeerId {
        let generation = self.slots.get(index as usize).map_or(0, |slot| slot.generation);
        PeerId { index, generation }
    }

    /// Says whether a name still means somebody.
    pub(crate) fn is_current(&self, id: PeerId) -> bool {
        self.slots
            .get(id.index as usize)
            .is_some_and(|slot| slot.generation == id.generation && slot.occupant.is_some())
    }

    #[inline]
    pub(crate) fn get(&self, index: u32) -> Option<&Occupant> {
        self.slots.get(index as usize)?.occupant.as_ref()
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, index: u32) -> Option<&mut Occupant> {
        self.slots.get_mut(index as usize)?.occupant.as_mut()
    }

    /// Returns the session of a number.
    #[inline]
    pub(crate) fn peer_mut(&mut self, index: u32) -> Option<&mut Peer> {
        match self.get_mut(index) {
            Some(Occupant::Peer(peer)) => Some(peer),
            Some(Occupant::Attempt(_)) | None => None,
        }
    }

    /// Returns the attempt of a number.
    pub(crate) fn attempt_mut(&mut self, index: u32) -> Option<&mut Attempt> {
        match self.get_mut(index) {
            Some(Occupant::Attempt(attempt)) => Some(attempt),
            Some(Occupant::Peer(_)) | None => None,
        }
    }

    /// Marks a number as waiting for transmits, and says whether it was not.
    #[inline]
    pub(crate) fn queue(&mut self, index: u32) -> bool {
        self.slots.get_mut(index as usize).is_some_and(|slot| !core::mem::replace(&mut slot.queued, true))
    }

    /// Marks a number as not waiting for transmits.
    pub(crate) fn unqueue(&mut self, index: u32) {
        if let Some(slot) = self.slots.get_mut(index as usize) {
            slot.queued = false;
        }
    }

    /// Returns all numbers in use, in rising order.
    pub(crate) fn indices(&self) -> impl Iterator<Item = u32> {
        let used = self.slots.iter().enumerate().filter(|(_, slot)| slot.occupant.is_some());
        used.filter_map(|(index, _)| u32::try_from(index).ok())
    }

    /// Returns how many numbers are in use.
    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

/// SipHash-1-3 under a key from the seed: the same seed gives the same table, and nobody can make it degenerate.
#[derive(Clone)]
struct Keyed {
    key: [u8; 16],
}

impl BuildHasher for Keyed {
    type Hasher = Sip;

    fn build_hasher(&self) -> Sip {
        Sip(SipHasher13::new_with_key(&self.key))
    }
}

impl core::fmt::Debug for Keyed {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Keyed(..)")
    }
}

struct Sip(SipHasher13);

impl Hasher for Sip {
    fn finish(&self) -> u64 {
        self.0.finish()
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }
}
