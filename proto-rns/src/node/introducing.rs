//! Making this node's destinations known to the shared instance that it uses.

use super::{Node, announcing::announce_packet};
use crate::{DestinationHash, wire::Context};
use alloc::{collections::VecDeque, vec::Vec};
use core::time::Duration;
use proto_core::Instant;

/// The destinations that the shared instance is to learn of, and when; at most all of the node's.
///
/// They wait a moment: an application that registers a destination and announces it at once makes both known with its
/// own announce. An introduction ahead of that would keep the announce from being passed on, for two announces of one
/// second are equally new.
#[derive(Debug, Default)]
pub(super) struct Introductions(VecDeque<(Instant, DestinationHash)>);

impl Introductions {
    /// How long they wait (spec 1.6).
    const DELAY: Duration = Duration::from_millis(250);

    pub(super) fn deadline(&self) -> Option<Instant> {
        self.0.front().map(|(due, _)| *due)
    }

    /// Forgets a destination that was made known in another way.
    pub(super) fn cancel(&mut self, destination: DestinationHash) {
        self.0.retain(|(_, waiting)| *waiting != destination);
    }

    fn put(&mut self, now: Instant, destination: DestinationHash) {
        self.cancel(destination);
        self.0.push_back((now + Self::DELAY, destination));
    }

    fn pop(&mut self, now: Instant) -> Option<DestinationHash> {
        self.deadline().filter(|due| *due <= now)?;
        self.0.pop_front().map(|(_, destination)| destination)
    }
}

impl Node {
    /// Has all destinations made known to a shared instance, as after each connection to it.
    pub(super) fn introduce_destinations(&mut self) {
        let destinations: Vec<DestinationHash> = self.destinations.keys().copied().collect();
        destinations.into_iter().for_each(|destination| self.introduce(destination));
    }

    /// Has one destination made known to the shared instance, where this node uses one.
    pub(super) fn introduce(&mut self, destination: DestinationHash) {
        let has_identity =
            self.destinations.get(&destination).is_some_and(|destination| destination.identity().is_some());
        let uses_one = self.interfaces.iter().any(|(_, interface)| interface.is_shared_instance());
        if has_identity && uses_one {
            self.introductions.put(self.core.now(), destination);
        }
    }

    /// Makes destinations known whose time has come.
    pub(super) fn introduce_due(&mut self, now: Instant) {
        while let Some(destination) = self.introductions.pop(now) {
            let shared = self.interfaces.iter().find(|(_, interface)| interface.is_shared_instance());
            let Some((shared, _)) = shared else { continue };
            if let Ok((has_ratchet, data)) = self.sign_announce(destination, None) {
                let packet = announce_packet(destination, Context::PathResponse, has_ratchet, &data);
                self.router.announce(&packet, Some(shared), &mut self.interfaces);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn destination(number: u8) -> DestinationHash {
        DestinationHash::new([number; 16])
    }

    #[test]
    fn an_introduction_waits_and_is_made_once() {
        let (mut introductions, start) = (Introductions::default(), Instant::ZERO);
        introductions.put(start, destination(1));
        introductions.put(start + Duration::from_millis(100), destination(1));
        let due = start + Duration::from_millis(350);
        assert_eq!(introductions.deadline(), Some(due));
        assert_eq!(introductions.pop(due - Duration::from_millis(1)), None);
        assert_eq!(introductions.pop(due), Some(destination(1)));
        assert_eq!(introductions.pop(due), None);
    }

    #[test]
    fn a_destination_that_was_announced_is_not_introduced() {
        let mut introductions = Introductions::default();
        introductions.put(Instant::ZERO, destination(1));
        introductions.put(Instant::ZERO, destination(2));
        introductions.cancel(destination(1));
        let due = Instant::ZERO + Introductions::DELAY;
        assert_eq!(introductions.pop(due), Some(destination(2)));
        assert_eq!(introductions.deadline(), None);
    }
}
