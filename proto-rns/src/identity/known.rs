//! What a node remembers of the destinations that announced themselves (spec 1.6, 1.19).

use super::PublicIdentity;
use crate::{
    DestinationHash, IdentityHash, PacketHash,
    wire::{
        Malformed,
        msgpack::{Reader, Writer},
    },
};
use alloc::{
    boxed::Box,
    collections::{BTreeMap, BTreeSet},
    vec::Vec,
};
use core::time::Duration;
use proto_core::UnixTime;

/// How long a ratchet is used after it was announced.
pub const RATCHET_EXPIRY: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// How long a destination that was never used is remembered once there is no path to it.
pub const UNUSED_LINGER: Duration = Duration::from_secs(6 * 60);
/// How long a destination that was used is remembered: 1.25 weeks.
pub const USED_LINGER: Duration = Duration::from_secs(7 * 24 * 60 * 60 * 5 / 4);

/// The destinations that a node knows the keys of.
///
/// Each takes about 400 bytes and its application's data, which an announce limits to about 300. Beyond the capacity
/// the one that was announced or used the longest ago is forgotten, unless it is retained.
#[derive(Clone, Debug)]
pub struct KnownDestinations {
    known: BTreeMap<DestinationHash, Entry>,
    /// Those that may be forgotten, the least recently announced or used first.
    order: BTreeSet<(u64, DestinationHash)>,
    touches: u64,
    capacity: usize,
}

#[derive(Clone, Debug)]
struct Entry {
    destination: KnownDestination,
    touched: u64,
}

/// What is known of a destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownDestination {
    /// Whose it is.
    pub identity: PublicIdentity,
    /// What its last announce told everybody.
    pub app_data: Option<Box<[u8]>>,
    /// The hash of the packet of its last announce.
    pub packet: PacketHash,
    /// When it was last announced.
    pub announced: UnixTime,
    /// When it was last used.
    pub used: LastUse,
    /// The ratchet that it announced last.
    pub ratchet: Option<RememberedRatchet>,
}

/// When something was last sent to a destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastUse {
    /// Nothing was.
    Never,
    /// At this time.
    At(UnixTime),
    /// The application asked never to forget it.
    Retained,
}

/// A peer's ratchet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RememberedRatchet {
    /// The public key.
    pub key: [u8; 32],
    /// When it was announced.
    pub received: UnixTime,
}

/// Why an announce is not remembered.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RememberError {
    /// The destination is known with other keys.
    #[error("the destination is known with other keys")]
    KeyCollision,
    /// There is no room, and everything known is retained.
    #[error("no room: every known destination is retained")]
    Full,
}

impl KnownDestinations {
    /// Creates an empty memory for `capacity` destinations.
    pub const fn new(capacity: usize) -> Self {
        Self { known: BTreeMap::new(), order: BTreeSet::new(), touches: 0, capacity }
    }

    /// Remembers a verified announce.
    ///
    /// # Errors
    /// The destination is known with other keys, or there is no room.
    pub fn remember(
        &mut self,
        destination: DestinationHash,
        identity: PublicIdentity,
        app_data: &[u8],
        packet: PacketHash,
        now: UnixTime,
    ) -> Result<(), RememberError> {
        let app_data = (!app_data.is_empty()).then(|| Box::from(app_data));
        let (used, ratchet) = match self.get(destination) {
            Some(known) if known.identity != identity => return Err(RememberError::KeyCollision),
            Some(known) => (known.used, known.ratchet),
            None => (LastUse::Never, None),
        };
        let known = KnownDestination { identity, app_data, packet, announced: now, used, ratchet };
        if self.insert(destination, known) { Ok(()) } else { Err(RememberError::Full) }
    }

    /// Remembers the ratchet of a verified announce. Does nothing for a destination that is not known.
    pub fn remember_ratchet(&mut self, destination: DestinationHash, key: [u8; 32], now: UnixTime) {
        if let Some(entry) = self.known.get_mut(&destination) {
            entry.destination.ratchet = Some(RememberedRatchet { key, received: now });
        }
    }

    /// Notes that something was sent to the destination.
    pub fn mark_used(&mut self, destination: DestinationHash, now: UnixTime) {
        self.update(destination, |known| {
            if known.used != LastUse::Retained {
                known.used = LastUse::At(now);
            }
        });
    }

    /// Keeps the destination for good; false when it is not known.
    pub fn retain(&mut self, destination: DestinationHash) -> bool {
        self.update(destination, |known| known.used = LastUse::Retained)
    }

    /// Lets the destination be forgotten again; false when it is not known.
    pub fn unretain(&mut self, destination: DestinationHash, now: UnixTime) -> bool {
        self.update(destination, |known| known.used = LastUse::At(now))
    }

    /// Forgets the destination.
    pub fn forget(&mut self, destination: DestinationHash) -> Option<KnownDestination> {
        let entry = self.known.remove(&destination)?;
        self.order.remove(&(entry.touched, destination));
        Some(entry.destination)
    }

    /// Forgets ratchets and destinations whose time is over, as the reference does every now and then.
    pub fn clean(&mut self, now: UnixTime, has_path: impl Fn(DestinationHash) -> bool) {
        let mut over = Vec::new();
        for (destination, entry) in &mut self.known {
            let known = &mut entry.destination;
            known.ratchet = known.ratchet.filter(|ratchet| ratchet.is_fresh(now));
            let linger = match known.used {
                LastUse::Retained => continue,
                LastUse::Never => (known.announced, UNUSED_LINGER),
                LastUse::At(used) => (used.max(known.announced), USED_LINGER),
            };
            if since(linger.0, now) > linger.1 && !has_path(*destination) {
                over.push(*destination);
            }
        }
        over.into_iter().for_each(|destination| _ = self.forget(destination));
    }

    /// Returns what is known of the destination.
    pub fn get(&self, destination: DestinationHash) -> Option<&KnownDestination> {
        self.known.get(&destination).map(|entry| &entry.destination)
    }

    /// Returns the keys of the destination's identity.
    pub fn identity(&self, destination: DestinationHash) -> Option<&PublicIdentity> {
        self.get(destination).map(|known| &known.identity)
    }

    /// Returns the keys of the identity with the hash `identity`, looking through all destinations.
    pub fn identity_of(&self, identity: IdentityHash) -> Option<&PublicIdentity> {
        self.known.values().map(|entry| &entry.destination.identity).find(|known| known.hash() == identity)
    }

    /// Returns the ratchet to encrypt for, unless it is too old.
    pub fn ratchet(&self, destination: DestinationHash, now: UnixTime) -> Option<&[u8; 32]> {
        let ratchet = self.get(destination)?.ratchet.as_ref()?;
        ratchet.is_fresh(now).then_some(&ratchet.key)
    }

    /// Returns all that is known, in the order of the hashes.
    pub fn iter(&self) -> impl Iterator<Item = (DestinationHash, &KnownDestination)> {
        self.known.iter().map(|(destination, entry)| (*destination, &entry.destination))
    }

    /// Returns how many destinations are known.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Says whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Returns the contents of the reference's file `known_destinations`; ratchets have files of their own.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut writer = Writer::new(&mut out);
        writer.map(self.len());
        for (destination, known) in self.iter() {
            writer.bytes(destination.as_bytes()).array(5);
            writer.float(known.announced.since_epoch().as_secs_f64()).bytes(known.packet.as_bytes());
            writer.bytes(&known.identity.to_bytes()).optional_bytes(known.app_data.as_deref());
            match known.used {
                LastUse::Never => writer.unsigned(0),
                LastUse::At(used) => writer.float(used.since_epoch().as_secs_f64()),
                LastUse::Retained => writer.integer(-1),
            };
        }
        out
    }

    /// Reads the contents of the reference's file `known_destinations`. Entries that are not as they should be are
    /// left out, so that one of them does not cost the others.
    ///
    /// # Errors
    /// The file is cut off or is no map.
    pub fn decode(bytes: &[u8], capacity: usize) -> Result<Self, Malformed> {
        let mut known = Self::new(capacity);
        let mut reader = Reader::new(bytes);
        for _ in 0..reader.map_len()? {
            let (key, value) = (reader.value()?, reader.value()?);
            if let Ok((destination, entry)) = read_entry(key, value) {
                known.insert(destination, entry);
            }
        }
        Ok(known)
    }

    /// Changes what is known and counts it as news; false when the destination is not known.
    fn update(&mut self, destination: DestinationHash, change: impl FnOnce(&mut KnownDestination)) -> bool {
        let Some(mut known) = self.forget(destination) else { return false };
        change(&mut known);
        self.insert(destination, known)
    }

    fn insert(&mut self, destination: DestinationHash, known: KnownDestination) -> bool {
        self.forget(destination);
        if self.len() >= self.capacity {
            let Some((_, oldest)) = self.order.first().copied() else { return false };
            self.forget(oldest);
        }
        self.touches += 1;
        if known.used != LastUse::Retained {
            self.order.insert((self.touches, destination));
        }
        self.known.insert(destination, Entry { destination: known, touched: self.touches });
        true
    }
}

impl RememberedRatchet {
    /// Returns the contents of the reference's file for one ratchet, `ratchets/<destination>`.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut writer = Writer::new(&mut out);
        writer.map(2).str("ratchet").bytes(&self.key);
        writer.str("received").float(self.received.since_epoch().as_secs_f64());
        out
    }

    /// Reads the contents of the reference's file for one ratchet.
    ///
    /// # Errors
    /// They are cut off or lack one of the two fields.
    pub fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(bytes);
        let (mut key, mut received) = (None, None);
        for _ in 0..reader.map_len()? {
            match reader.str()? {
                "ratchet" => key = reader.bytes()?.try_into().ok(),
                "received" => received = unix_time(reader.number()?),
                _ => _ = reader.value()?,
            }
        }
        let (Some(key), Some(received)) = (key, received) else { return Err(Malformed::Value) };
        Ok(Self { key, received })
    }

    fn is_fresh(&self, now: UnixTime) -> bool {
        since(self.received, now) <= RATCHET_EXPIRY
    }
}

fn read_entry(key: &[u8], value: &[u8]) -> Result<(DestinationHash, KnownDestination), Malformed> {
    let destination = DestinationHash::from_slice(Reader::new(key).bytes()?).ok_or(Malformed::Value)?;
    let mut reader = Reader::new(value);
    let fields = reader.array_len()?;
    let announced = unix_time(reader.number()?).ok_or(Malformed::Value)?;
    let packet = PacketHash::from_slice(reader.bytes()?).ok_or(Malformed::Value)?;
    let keys: &[u8; 64] = reader.bytes()?.try_into().map_err(|_| Malformed::Value)?;
    let app_data = reader.optional_bytes()?.map(Box::from);
    // Files of older versions end here.
    let used = if fields < 5 { 0.0 } else { reader.number()? };
    let used = match unix_time(used) {
        None => LastUse::Retained,
        Some(used) if used.since_epoch().is_zero() => LastUse::Never,
        Some(used) => LastUse::At(used),
    };
    let identity = PublicIdentity::from_bytes(keys);
    Ok((destination, KnownDestination { identity, app_data, packet, announced, used, ratchet: None }))
}

/// Returns the time that a file tells in seconds; `None` for a negative or impossible one.
fn unix_time(seconds: f64) -> Option<UnixTime> {
    Duration::try_from_secs_f64(seconds).ok().map(UnixTime::new)
}

fn since(earlier: UnixTime, now: UnixTime) -> Duration {
    now.since_epoch().saturating_sub(earlier.since_epoch())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(seconds: u64) -> UnixTime {
        UnixTime::new(Duration::from_secs(seconds))
    }

    fn destination(number: u8) -> DestinationHash {
        DestinationHash::new([number; 16])
    }

    fn identity(number: u8) -> PublicIdentity {
        PublicIdentity::from_bytes(&[number; 64])
    }

    fn remember(known: &mut KnownDestinations, number: u8, seconds: u64) -> Result<(), RememberError> {
        let packet = PacketHash::new([number; 32]);
        known.remember(destination(number), identity(number), b"app", packet, at(seconds))
    }

    fn numbers(known: &KnownDestinations) -> Vec<u8> {
        known.iter().map(|(destination, _)| destination.as_bytes()[0]).collect()
    }

    #[test]
    fn the_least_recently_used_is_forgotten_but_not_what_is_retained() {
        let mut known = KnownDestinations::new(3);
        (1..=3).for_each(|number| remember(&mut known, number, 1).unwrap());
        known.retain(destination(1));
        known.mark_used(destination(2), at(2));
        remember(&mut known, 4, 3).unwrap();
        assert_eq!(numbers(&known), [1, 2, 4]);
        [2, 4].into_iter().for_each(|number| _ = known.retain(destination(number)));
        assert_eq!(remember(&mut known, 5, 4), Err(RememberError::Full));
        assert!(known.unretain(destination(2), at(5)));
        assert_eq!(remember(&mut known, 5, 6), Ok(()));
        assert_eq!(numbers(&known), [1, 4, 5]);
    }

    #[test]
    fn other_keys_for_a_known_destination_are_refused() {
        let mut known = KnownDestinations::new(3);
        remember(&mut known, 1, 1).unwrap();
        let packet = PacketHash::new([0; 32]);
        let collision = known.remember(destination(1), identity(2), &[], packet, at(2));
        assert_eq!(collision, Err(RememberError::KeyCollision));
        assert_eq!(known.identity(destination(1)), Some(&identity(1)));
    }

    #[test]
    fn ratchets_are_used_for_thirty_days_and_survive_announces() {
        let mut known = KnownDestinations::new(3);
        known.remember_ratchet(destination(1), [7; 32], at(0));
        assert!(known.is_empty());
        remember(&mut known, 1, 0).unwrap();
        known.remember_ratchet(destination(1), [7; 32], at(0));
        remember(&mut known, 1, 10).unwrap();
        let month = 30 * 86_400;
        assert_eq!(known.ratchet(destination(1), at(month)), Some(&[7; 32]));
        assert_eq!(known.ratchet(destination(1), at(month + 1)), None);
    }

    #[test]
    fn cleaning_spares_what_has_a_path_and_what_was_used() {
        let mut known = KnownDestinations::new(9);
        (1..=4).for_each(|number| remember(&mut known, number, 0).unwrap());
        known.mark_used(destination(3), at(1));
        known.retain(destination(4));
        known.clean(at(361), |path| path == destination(2));
        assert_eq!(numbers(&known), [2, 3, 4]);
        known.clean(at(756_002), |_| false);
        assert_eq!(numbers(&known), [4]);
    }

    proptest! {
        #[test]
        fn the_file_is_read_as_it_was_written(entries in prop::collection::btree_map(any::<u8>(), (0..u64::from(u32::MAX), any::<Option<bool>>()), 0..8)) {
            let mut known = KnownDestinations::new(9);
            for (number, (seconds, used)) in entries {
                remember(&mut known, number, seconds).unwrap();
                match used {
                    Some(true) => known.mark_used(destination(number), at(seconds + 1)),
                    Some(false) => _ = known.retain(destination(number)),
                    None => {}
                }
            }
            let file = known.encode();
            let read = KnownDestinations::decode(&file, 9).unwrap();
            prop_assert!(read.iter().eq(known.iter()));
            for len in 0..file.len() {
                prop_assert!(KnownDestinations::decode(&file[..len], 9).is_err());
            }
        }

        #[test]
        fn a_ratchets_file_is_read_as_it_was_written(key: [u8; 32], received: u32) {
            let ratchet = RememberedRatchet { key, received: at(u64::from(received)) };
            let file = ratchet.encode();
            prop_assert_eq!(RememberedRatchet::decode(&file), Ok(ratchet));
            for len in 0..file.len() {
                prop_assert!(RememberedRatchet::decode(&file[..len]).is_err());
            }
        }
    }

    #[test]
    fn one_bad_entry_does_not_cost_the_others() {
        let mut known = KnownDestinations::new(9);
        remember(&mut known, 1, 5).unwrap();
        let mut file = known.encode();
        file[0] = 0x82;
        file.extend_from_slice(&[0xc4, 1, 9, 0x91, 0xc0]);
        assert_eq!(numbers(&KnownDestinations::decode(&file, 9).unwrap()), [1]);
    }
}
