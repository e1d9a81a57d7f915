//! Announces that are passed on, and path responses (spec 1.6.4, 1.7).
//!
//! ```text
//!   accepted --(jitter)--> sent once --(5.5 s, nobody else was heard)--> sent twice: done
//! ```

use super::{WaitingAnnounce, slots::Slots};
use crate::{DestinationHash, iface::InterfaceId, wire::OwnedPacket};
use core::time::Duration;
use proto_core::Instant;

/// An announce is sent again at most so often (PATHFINDER_R).
pub const RETRIES: u8 = 1;
/// So many neighbours heard to pass an announce on make it needless to send it again.
pub const LOCAL_REBROADCASTS_MAX: u8 = 2;
/// The interval before an announce is sent again: 5 s and the random window of the reference.
pub const RETRY_INTERVAL: Duration = Duration::from_millis(5_500);
/// The longest random delay of an announce that is passed on.
pub const REBROADCAST_JITTER: Duration = Duration::from_millis(500);
/// How long the answer to a path request waits for nearer nodes to answer.
pub const PATH_REQUEST_GRACE: Duration = Duration::from_millis(400);
/// How much longer it waits on a roaming interface.
pub const ROAMING_GRACE: Duration = Duration::from_millis(1_500);

/// The announces to be sent, at most one a destination, about 700 bytes each.
#[derive(Clone, Debug)]
pub(crate) struct AnnounceTable {
    entries: Slots<DestinationHash, Entry>,
    capacity: usize,
}

/// An announce that is to be sent.
#[derive(Clone, Debug)]
pub(crate) struct Outgoing {
    pub(crate) packet: OwnedPacket,
    /// The interface that the announce came from.
    pub(crate) source: InterfaceId,
    /// The only interface to send it on, as a path response; `None` to pass it on.
    pub(crate) response_to: Option<InterfaceId>,
}

#[derive(Clone, Debug)]
struct Entry {
    outgoing: Outgoing,
    sent: u8,
    due: Instant,
    heard: u8,
    /// The announce that was to be passed on when a path response took its place.
    held: Option<(Outgoing, u8, Instant)>,
}

impl AnnounceTable {
    pub(crate) fn new(capacity: usize, hash_key: &[u8; 16]) -> Self {
        Self { entries: Slots::new(hash_key), capacity }
    }

    /// Passes an announce on at `due`, once only if `once`. False when there is no room.
    pub(crate) fn pass_on(&mut self, outgoing: Outgoing, due: Instant, once: bool) -> bool {
        self.insert(Entry { outgoing, sent: u8::from(once) * RETRIES, due, heard: 0, held: None })
    }

    /// Sends an announce as a path response at `due`. One that is being passed on waits until then.
    pub(crate) fn respond(&mut self, outgoing: Outgoing, due: Instant) -> bool {
        let destination = outgoing.packet.as_packet().destination;
        let held = self.entries.remove(&destination).and_then(|entry| match entry.outgoing.response_to {
            None => Some((entry.outgoing, entry.sent, entry.due)),
            Some(_) => entry.held,
        });
        self.insert(Entry { outgoing, sent: RETRIES, due, heard: 0, held })
    }

    /// Notes that somebody else passed on an announce of `destination`, received with `hops` before its own was counted.
    pub(crate) fn on_heard(&mut self, now: Instant, destination: DestinationHash, hops: u8) {
        let Some(entry) = self.entries.get_mut(&destination) else { return };
        let own = entry.outgoing.packet.as_packet().hops;
        let done = if hops == own {
            entry.heard = entry.heard.saturating_add(1);
            entry.sent > 0 && entry.heard >= LOCAL_REBROADCASTS_MAX
        } else {
            hops == own.saturating_add(1) && entry.sent > 0 && now < entry.due
        };
        if done {
            self.entries.remove(&destination);
        }
    }

    /// Returns an announce that is to be sent now.
    pub(crate) fn poll(&mut self, now: Instant) -> Option<Outgoing> {
        let (destination, entry) = self.entries.due(now)?;
        let outgoing = entry.outgoing.clone();
        entry.sent += 1;
        if entry.sent > RETRIES {
            let held = entry.held.take();
            self.entries.remove(&destination);
            if let Some((outgoing, sent, due)) = held {
                self.insert(Entry { outgoing, sent, due: due.max(now), heard: 0, held: None });
            }
        } else {
            entry.due = now + RETRY_INTERVAL;
            let due = entry.due;
            self.entries.set_deadline(&destination, Some(due));
        }
        Some(outgoing)
    }

    pub(crate) fn remove(&mut self, destination: &DestinationHash) {
        self.entries.remove(destination);
    }

    /// Returns what is to become of the announce of a destination.
    pub(crate) fn get(&self, destination: &DestinationHash) -> Option<WaitingAnnounce> {
        let entry = self.entries.get(destination)?;
        let packet = entry.outgoing.packet.as_packet();
        Some(WaitingAnnounce {
            packet: packet.hash(),
            hops: packet.hops,
            sent: entry.sent,
            heard: entry.heard,
            due: entry.due,
            source: entry.outgoing.source,
            response_to: entry.outgoing.response_to,
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.entries.deadline()
    }

    fn insert(&mut self, entry: Entry) -> bool {
        let destination = entry.outgoing.packet.as_packet().destination;
        if self.entries.len() >= self.capacity && !self.entries.contains(&destination) {
            return false;
        }
        let due = entry.due;
        self.entries.insert(destination, entry, Some(due));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Context, DestinationType, Packet, PacketType};
    use alloc::vec::Vec;

    const DESTINATION: DestinationHash = DestinationHash::new([1; 16]);

    fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    fn outgoing(hops: u8) -> Outgoing {
        let packet =
            Packet::new(PacketType::Announce, DestinationType::Single, DESTINATION, Context::None, &[1]);
        let packet = OwnedPacket::new(&Packet { hops, ..packet });
        Outgoing { packet, source: InterfaceId(1), response_to: None }
    }

    fn response(interface: u32) -> Outgoing {
        Outgoing { response_to: Some(InterfaceId(interface)), ..outgoing(1) }
    }

    fn drain(table: &mut AnnounceTable) -> Vec<(u64, Option<InterfaceId>)> {
        let mut sent = Vec::new();
        while let Some(deadline) = table.deadline() {
            let outgoing = table.poll(deadline).unwrap();
            sent.push((deadline.as_millis(), outgoing.response_to));
        }
        sent
    }

    fn table() -> AnnounceTable {
        AnnounceTable::new(9, &[0; 16])
    }

    #[test]
    fn an_announce_is_sent_twice_unless_once_is_enough() {
        let mut table = table();
        table.pass_on(outgoing(1), at(100), false);
        assert_eq!(drain(&mut table), [(100, None), (5_600, None)]);
        table.pass_on(outgoing(1), at(0), true);
        assert_eq!(drain(&mut table), [(0, None)]);
    }

    #[test]
    fn two_neighbours_who_pass_it_on_as_well_are_enough() {
        let mut table = table();
        table.pass_on(outgoing(1), at(100), false);
        table.on_heard(at(50), DESTINATION, 1);
        table.poll(at(100));
        table.on_heard(at(200), DESTINATION, 3);
        assert_eq!(table.len(), 1);
        table.on_heard(at(200), DESTINATION, 1);
        assert_eq!(table.len(), 0);
    }

    #[test]
    fn a_neighbour_who_carries_it_further_is_enough_once_it_was_sent() {
        let mut table = table();
        table.pass_on(outgoing(1), at(100), false);
        table.on_heard(at(50), DESTINATION, 2);
        assert_eq!(table.len(), 1);
        table.poll(at(100));
        table.on_heard(at(200), DESTINATION, 2);
        assert_eq!(table.len(), 0);
    }

    #[test]
    fn a_path_response_holds_the_announce_back_and_restores_it() {
        let mut table = table();
        table.pass_on(outgoing(1), at(100), false);
        table.respond(response(7), at(400));
        table.respond(response(8), at(500));
        let expected = [(500, Some(InterfaceId(8))), (500, None), (6_000, None)];
        assert_eq!(drain(&mut table), expected);
    }

    #[test]
    fn a_full_table_takes_no_more() {
        let mut table = AnnounceTable::new(0, &[0; 16]);
        assert!(!table.pass_on(outgoing(1), at(0), false));
    }
}
