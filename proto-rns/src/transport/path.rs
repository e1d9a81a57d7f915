//! The path table: which way destinations are (spec 1.6.3).

use super::slots::Slots;
use crate::{
    DestinationHash, IdentityHash, PacketHash,
    iface::{InterfaceId, Mode},
    wire::{OwnedPacket, RandomHash},
};
use alloc::{
    collections::{BTreeMap, BTreeSet},
    vec::Vec,
};
use core::time::Duration;
use proto_core::Instant;

/// How many of a path's random hashes are remembered.
pub const MAX_BLOBS: usize = 64;
/// How many of a path's random hashes are stored.
pub const PERSISTED_BLOBS: usize = 32;
/// How long a path lasts.
pub const PATH_LIFE: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// How long a path over an access point lasts.
pub const ACCESS_POINT_PATH_LIFE: Duration = Duration::from_secs(24 * 60 * 60);
/// How long a path over a roaming interface lasts.
pub const ROAMING_PATH_LIFE: Duration = Duration::from_secs(6 * 60 * 60);
/// By how much younger a path that was used counts when one must make room.
const USE_CREDIT: Duration = PATH_LIFE;
/// How often the use of a path moves it in the order of eviction.
const RANK_INTERVAL: Duration = Duration::from_secs(60);

/// Whether a path was found to work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PathState {
    /// Nobody tried.
    #[default]
    Unknown,
    /// Something was sent and not answered.
    Unresponsive,
    /// Something was answered.
    Responsive,
}

/// A path.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    /// The node to send to; `None` where the destination itself is in reach.
    pub(crate) next_hop: Option<IdentityHash>,
    pub(crate) hops: u8,
    pub(crate) interface: InterfaceId,
    /// When the path was learned or last used.
    pub(crate) refreshed: Instant,
    /// When another path may take its place whatever its length.
    pub(crate) expires: Instant,
    pub(crate) life: Duration,
    pub(crate) state: PathState,
    /// Whose destination it is.
    pub(crate) identity: Option<IdentityHash>,
    pub(crate) packet: PacketHash,
    /// The announce that it was learned from, to answer path requests with; lost where the cache was.
    pub(crate) announce: Option<OwnedPacket>,
    pub(crate) blobs: Blobs,
    rank: Option<Rank>,
}

/// The random hashes of a path's announces, the newest last, each with the time that it counts for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Blobs(Vec<(RandomHash, u64)>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    interface: InterfaceId,
    at: Instant,
    destination: DestinationHash,
}

/// What a verified announce says about a path.
#[derive(Clone, Debug)]
pub(crate) struct Offer {
    pub(crate) destination: DestinationHash,
    pub(crate) next_hop: Option<IdentityHash>,
    pub(crate) hops: u8,
    pub(crate) interface: InterfaceId,
    pub(crate) mode: Mode,
    pub(crate) gravity: Option<i64>,
    pub(crate) random: RandomHash,
    pub(crate) identity: IdentityHash,
    pub(crate) packet: PacketHash,
    pub(crate) announce: OwnedPacket,
}

/// The paths, at most about 1 200 bytes each with their announces.
///
/// When the table is full, or an interface has its share, the path that was not used and is the oldest makes room.
#[derive(Clone, Debug)]
pub(crate) struct PathTable {
    paths: Slots<DestinationHash, Path>,
    by_interface: BTreeSet<Rank>,
    by_age: BTreeSet<(Instant, DestinationHash)>,
    counts: BTreeMap<InterfaceId, usize>,
    limits: PathLimits,
}

/// The bounds of the path table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathLimits {
    pub(crate) paths: usize,
    pub(crate) paths_per_interface: usize,
    /// How far in the future an announce's time may be before it counts as made now.
    pub(crate) future: Duration,
}

impl PathTable {
    pub(crate) fn new(limits: PathLimits, hash_key: &[u8; 16]) -> Self {
        Self {
            paths: Slots::new(hash_key),
            by_interface: BTreeSet::new(),
            by_age: BTreeSet::new(),
            counts: BTreeMap::new(),
            limits,
        }
    }

    /// Says whether the announce gives a better path than the one known. `known_gravity` is that of the known path's
    /// interface, `unix_seconds` the wall time.
    pub(crate) fn is_better(
        &self,
        now: Instant,
        unix_seconds: u64,
        offer: &Offer,
        known_gravity: Option<i64>,
    ) -> bool {
        let Some(path) = self.paths.get(&offer.destination) else { return true };
        let unseen = !path.blobs.contains(offer.random);
        let newest = path.blobs.newest();
        let emitted = path.blobs.time_of(offer.random, self.latest(unix_seconds));
        if offer.hops <= path.hops {
            if emitted == newest {
                return matches!((offer.gravity, known_gravity), (Some(new), Some(old)) if new > old);
            }
            return unseen && emitted > newest;
        }
        if path.expires <= now || emitted > newest {
            return unseen;
        }
        emitted == newest && path.state == PathState::Unresponsive
    }

    /// Takes the announce's path.
    pub(crate) fn accept(&mut self, now: Instant, unix_seconds: u64, offer: Offer) {
        let mut blobs = self.remove(&offer.destination).map(|path| path.blobs).unwrap_or_default();
        blobs.add(offer.random, self.latest(unix_seconds));
        let life = path_life(offer.mode);
        let path = Path {
            next_hop: offer.next_hop,
            hops: offer.hops,
            interface: offer.interface,
            refreshed: now,
            expires: now + life,
            life,
            state: PathState::Unknown,
            identity: Some(offer.identity),
            packet: offer.packet,
            announce: Some(offer.announce),
            blobs,
            rank: None,
        };
        self.insert(offer.destination, path);
    }

    /// Puts a path in the table and makes room for it.
    pub(crate) fn insert(&mut self, destination: DestinationHash, mut path: Path) {
        self.remove(&destination);
        self.make_room(path.interface);
        let deadline = path.refreshed + path.life;
        self.put_in_order(destination, &mut path);
        *self.counts.entry(path.interface).or_default() += 1;
        self.paths.insert(destination, path, Some(deadline));
    }

    pub(crate) fn remove(&mut self, destination: &DestinationHash) -> Option<Path> {
        let path = self.paths.remove(destination)?;
        if let Some(rank) = path.rank {
            self.by_interface.remove(&rank);
            self.by_age.remove(&(rank.at, *destination));
        }
        if let Some(count) = self.counts.get_mut(&path.interface) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.counts.remove(&path.interface);
            }
        }
        Some(path)
    }

    /// Removes the paths for which `over` says yes and returns how many there were.
    pub(crate) fn remove_if(&mut self, over: impl Fn(&Path) -> bool) -> usize {
        let over: Vec<DestinationHash> =
            self.paths.iter().filter(|(_, path)| over(path)).map(|(destination, _)| *destination).collect();
        over.iter().for_each(|destination| _ = self.remove(destination));
        over.len()
    }

    /// Notes that the path was used, so that it stays.
    pub(crate) fn touch(&mut self, now: Instant, destination: &DestinationHash) {
        let Some(path) = self.paths.get_mut(destination) else { return };
        path.refreshed = now;
        let Some(rank) = path.rank.filter(|rank| now + USE_CREDIT > rank.at + RANK_INTERVAL) else { return };
        let moved = Rank { at: now + USE_CREDIT, ..rank };
        path.rank = Some(moved);
        self.by_interface.remove(&rank);
        self.by_interface.insert(moved);
        self.by_age.remove(&(rank.at, *destination));
        self.by_age.insert((moved.at, *destination));
    }

    /// Sets the state of a path, if there is one.
    pub(crate) fn set_state(&mut self, destination: &DestinationHash, state: PathState) {
        if let Some(path) = self.paths.get_mut(destination) {
            path.state = state;
        }
    }

    /// Corrects the length of a path.
    pub(crate) fn set_hops(&mut self, destination: &DestinationHash, hops: u8) {
        if let Some(path) = self.paths.get_mut(destination) {
            path.hops = hops;
        }
    }

    /// Removes the paths that were not used for their lifetime.
    pub(crate) fn expire(&mut self, now: Instant) {
        while let Some((destination, path)) = self.paths.due(now) {
            let until = path.refreshed + path.life;
            if until > now {
                self.paths.set_deadline(&destination, Some(until));
            } else {
                self.remove(&destination);
            }
        }
    }

    pub(crate) fn get(&self, destination: &DestinationHash) -> Option<&Path> {
        self.paths.get(destination)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&DestinationHash, &Path)> {
        self.paths.iter()
    }

    pub(crate) fn len(&self) -> usize {
        self.paths.len()
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.paths.deadline()
    }

    /// Returns the latest time that an announce may count for.
    const fn latest(&self, unix_seconds: u64) -> Latest {
        Latest { now: unix_seconds, bound: unix_seconds.saturating_add(self.limits.future.as_secs()) }
    }

    fn put_in_order(&mut self, destination: DestinationHash, path: &mut Path) {
        let rank = Rank { interface: path.interface, at: path.refreshed, destination };
        path.rank = Some(rank);
        self.by_interface.insert(rank);
        self.by_age.insert((rank.at, destination));
    }

    fn make_room(&mut self, interface: InterfaceId) {
        while self
            .counts
            .get(&interface)
            .is_some_and(|count| *count >= self.limits.paths_per_interface.max(1))
        {
            let first = Rank { interface, at: Instant::ZERO, destination: DestinationHash::new([0; 16]) };
            let Some(oldest) = self.by_interface.range(first..).next().copied() else { break };
            self.remove(&oldest.destination);
        }
        while self.paths.len() >= self.limits.paths.max(1) {
            let Some((_, oldest)) = self.by_age.first().copied() else { break };
            self.remove(&oldest);
        }
    }
}

/// How the times of announces are bounded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Latest {
    now: u64,
    bound: u64,
}

impl Latest {
    /// Returns the time that an announce counts for. One from the future counts as made now: otherwise it would keep
    /// later announces from correcting the path until its time has come.
    fn bounded(self, random: RandomHash) -> u64 {
        let emitted = random.emitted();
        if emitted > self.bound { self.now } else { emitted }
    }
}

impl Blobs {
    /// Takes stored random hashes.
    pub(crate) fn restore(hashes: impl Iterator<Item = RandomHash>, unix_seconds: u64) -> Self {
        let latest = Latest { now: unix_seconds, bound: unix_seconds };
        let mut blobs = Self::default();
        hashes.for_each(|hash| blobs.add(hash, latest));
        blobs
    }

    /// Returns the newest random hashes that are to be stored.
    pub(crate) fn to_persist(&self) -> impl ExactSizeIterator<Item = RandomHash> {
        self.0.iter().skip(self.0.len().saturating_sub(PERSISTED_BLOBS)).map(|(hash, _)| *hash)
    }

    /// Returns all of them, the newest last.
    pub(crate) fn iter(&self) -> impl Iterator<Item = RandomHash> {
        self.0.iter().map(|(hash, _)| *hash)
    }

    /// Returns the latest time of the announces.
    pub(crate) fn newest(&self) -> u64 {
        self.0.iter().map(|(_, time)| *time).max().unwrap_or(0)
    }

    fn contains(&self, random: RandomHash) -> bool {
        self.0.iter().any(|(hash, _)| *hash == random)
    }

    /// Returns the time that the announce counts for, which was settled when it was first seen.
    fn time_of(&self, random: RandomHash, latest: Latest) -> u64 {
        self.0
            .iter()
            .find(|(hash, _)| *hash == random)
            .map_or_else(|| latest.bounded(random), |(_, time)| *time)
    }

    fn add(&mut self, random: RandomHash, latest: Latest) {
        if self.contains(random) {
            return;
        }
        if self.0.len() >= MAX_BLOBS {
            self.0.remove(0);
        }
        self.0.push((random, latest.bounded(random)));
    }
}

impl Path {
    /// Creates a path from stored fields.
    pub(crate) const fn restored(
        next_hop: Option<IdentityHash>,
        hops: u8,
        interface: InterfaceId,
        refreshed: Instant,
        expires: Instant,
        blobs: Blobs,
    ) -> Self {
        Self {
            next_hop,
            hops,
            interface,
            refreshed,
            expires,
            life: PATH_LIFE,
            state: PathState::Unknown,
            identity: None,
            packet: PacketHash::new([0; 32]),
            announce: None,
            blobs,
            rank: None,
        }
    }

    /// Returns whom to name as the next node: a destination that is in reach stands for itself.
    pub(crate) fn next_hop_id(&self, destination: DestinationHash) -> IdentityHash {
        self.next_hop.unwrap_or_else(|| IdentityHash::new(*destination.as_bytes()))
    }

    /// Returns the same path over another interface.
    pub(crate) const fn over(mut self, interface: InterfaceId) -> Self {
        self.interface = interface;
        self
    }
}

/// Returns how long paths over interfaces of a mode last.
pub(crate) const fn path_life(mode: Mode) -> Duration {
    match mode {
        Mode::AccessPoint => ACCESS_POINT_PATH_LIFE,
        Mode::Roaming => ROAMING_PATH_LIFE,
        Mode::Full | Mode::PointToPoint | Mode::Boundary | Mode::Gateway | Mode::Internal => PATH_LIFE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Context, DestinationType, Packet, PacketType};

    const WALL: u64 = 1_700_000_000;

    fn at(seconds: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(seconds)
    }

    fn table(paths: usize, paths_per_interface: usize) -> PathTable {
        let limits = PathLimits { paths, paths_per_interface, future: Duration::from_secs(3_600) };
        PathTable::new(limits, &[0; 16])
    }

    fn destination(number: u8) -> DestinationHash {
        DestinationHash::new([number; 16])
    }

    /// An announce of destination 1 with a random part and a time.
    fn offer(hops: u8, random: u8, emitted: u64) -> Offer {
        let mut blob = [random; 10];
        blob[5..].copy_from_slice(&emitted.to_be_bytes()[3..]);
        let packet =
            Packet::new(PacketType::Announce, DestinationType::Single, destination(1), Context::None, &[1]);
        Offer {
            destination: destination(1),
            next_hop: None,
            hops,
            interface: InterfaceId(1),
            mode: Mode::Full,
            gravity: None,
            random: RandomHash::new(blob),
            identity: IdentityHash::new([1; 16]),
            packet: packet.hash(),
            announce: OwnedPacket::new(&packet),
        }
    }

    fn learned() -> PathTable {
        let mut table = table(9, 9);
        table.accept(at(0), WALL, offer(3, 1, WALL));
        table
    }

    fn is_better(table: &PathTable, offer: &Offer) -> bool {
        table.is_better(at(1), WALL, offer, None)
    }

    #[test]
    fn a_path_of_the_same_length_or_shorter_must_be_newer_and_unseen() {
        let table = learned();
        for hops in [2, 3] {
            assert!(is_better(&table, &offer(hops, 2, WALL + 1)));
            assert!(!is_better(&table, &offer(hops, 2, WALL)));
            assert!(!is_better(&table, &offer(hops, 2, WALL - 1)));
            assert!(!is_better(&table, &offer(hops, 1, WALL)));
        }
    }

    #[test]
    fn a_longer_path_is_taken_when_newer_or_when_the_known_one_expired() {
        let table = learned();
        assert!(is_better(&table, &offer(4, 2, WALL + 1)));
        assert!(!is_better(&table, &offer(4, 2, WALL - 1)));
        assert!(table.is_better(at(604_801), WALL, &offer(4, 2, WALL - 1), None));
        assert!(!table.is_better(at(604_801), WALL, &offer(4, 1, WALL), None), "a replay");
    }

    #[test]
    fn a_longer_path_from_the_same_time_replaces_only_an_unresponsive_one() {
        let mut table = learned();
        assert!(!is_better(&table, &offer(4, 1, WALL)));
        table.set_state(&destination(1), PathState::Unresponsive);
        assert!(is_better(&table, &offer(4, 1, WALL)));
    }

    #[test]
    fn the_same_announce_over_an_interface_of_more_gravity_wins() {
        let table = learned();
        let heavier = Offer { gravity: Some(2), ..offer(3, 1, WALL) };
        assert!(table.is_better(at(1), WALL, &heavier, Some(1)));
        assert!(!table.is_better(at(1), WALL, &heavier, Some(2)));
        assert!(!table.is_better(at(1), WALL, &heavier, None));
    }

    #[test]
    fn an_announce_from_the_future_does_not_pin_its_path() {
        let mut table = table(9, 9);
        table.accept(at(0), WALL, offer(3, 1, WALL + 1_000_000));
        assert!(table.is_better(at(10), WALL + 10, &offer(3, 2, WALL + 10), None));
        assert!(!table.is_better(at(10), WALL + 10, &offer(3, 1, WALL + 1_000_000), None), "a replay");
    }

    #[test]
    fn replays_are_known_for_sixty_four_announces() {
        let mut table = table(9, 9);
        for n in 0..64 {
            table.accept(at(0), WALL, offer(3, n, WALL + u64::from(n)));
        }
        assert_eq!(table.get(&destination(1)).map(|path| path.blobs.0.len()), Some(MAX_BLOBS));
        table.accept(at(0), WALL, offer(3, 64, WALL + 64));
        let blobs = &table.get(&destination(1)).unwrap().blobs;
        assert_eq!((blobs.0.len(), blobs.to_persist().len()), (MAX_BLOBS, PERSISTED_BLOBS));
        assert!(!blobs.contains(offer(3, 0, WALL).random));
    }

    #[test]
    fn an_unused_path_expires_by_the_mode_of_its_interface_and_a_used_one_stays() {
        for (mode, hours) in [(Mode::Full, 168), (Mode::AccessPoint, 24), (Mode::Roaming, 6)] {
            let mut table = table(9, 9);
            table.accept(at(0), WALL, Offer { mode, ..offer(1, 1, WALL) });
            table.touch(at(10), &destination(1));
            let end = hours * 3_600;
            assert_eq!(table.deadline(), Some(at(end)));
            table.expire(at(end));
            assert_eq!(table.deadline(), Some(at(end + 10)));
            table.expire(at(end + 10));
            assert_eq!(table.len(), 0);
        }
    }

    #[test]
    fn a_full_table_drops_the_oldest_path_that_nobody_used() {
        let mut table = table(3, 9);
        for number in 1..=3 {
            table.accept(
                at(number.into()),
                WALL,
                Offer { destination: destination(number), ..offer(1, 1, WALL) },
            );
        }
        table.touch(at(4), &destination(1));
        table.accept(at(5), WALL, Offer { destination: destination(4), ..offer(1, 1, WALL) });
        let left: Vec<bool> = (1..=4).map(|number| table.get(&destination(number)).is_some()).collect();
        assert_eq!(left, [true, false, true, true]);
    }

    #[test]
    fn an_interface_cannot_take_more_than_its_share() {
        let mut table = table(9, 2);
        table.accept(at(0), WALL, Offer { interface: InterfaceId(2), ..offer(1, 1, WALL) });
        for number in 2..9 {
            table.accept(
                at(number.into()),
                WALL,
                Offer { destination: destination(number), ..offer(1, 1, WALL) },
            );
        }
        assert_eq!(table.len(), 3);
        assert!(table.get(&destination(1)).is_some());
        assert_eq!(table.remove_if(|path| path.interface == InterfaceId(1)), 2);
        assert_eq!((table.by_age.len(), table.by_interface.len(), table.counts.len()), (1, 1, 1));
    }
}
