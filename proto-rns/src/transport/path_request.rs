//! Path requests that were seen, made and are being searched for (spec 1.7).

use super::{dedup::Seen, slots::Slots};
use crate::{DestinationHash, iface::InterfaceId, wire::PathRequest};
use alloc::vec::Vec;
use core::time::Duration;
use proto_core::Instant;

/// How many tags are remembered a generation; there are two, of 10 bytes a tag.
pub const MAX_TAGS: usize = 16_000;
/// How long a request of this node counts as in flight.
pub const REQUEST_IN_FLIGHT: Duration = Duration::from_secs(45);
/// The shortest search for others; longer where the slowest interface needs it.
pub const PATH_REQUEST_TIMEOUT: Duration = Duration::from_secs(15);
/// The shortest interval between two requests that nobody asked for (PATH_REQUEST_MI).
pub const AUTOMATIC_REQUEST_INTERVAL: Duration = Duration::from_secs(20);
/// How many interfaces may wait for one search.
const MAX_WAITING: usize = 64;

/// What this node asks and is asked.
#[derive(Clone, Debug)]
pub(crate) struct PathRequests {
    tags: Seen,
    /// Searches for others, with the interfaces that wait for the answer.
    searches: Slots<DestinationHash, Vec<InterfaceId>>,
    /// When this node asked for itself.
    own: Slots<DestinationHash, Instant>,
    capacity: usize,
}

/// What a request leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Search {
    /// A new search.
    Started,
    /// One that goes on already.
    Joined,
    /// There are too many.
    Full,
}

impl PathRequests {
    pub(crate) fn new(capacity: usize, hash_key: &[u8; 16]) -> Self {
        Self {
            tags: Seen::new(MAX_TAGS, hash_key),
            searches: Slots::new(hash_key),
            own: Slots::new(hash_key),
            capacity,
        }
    }

    /// Says whether the request was not seen before.
    pub(crate) fn is_new(&mut self, request: &PathRequest) -> bool {
        let mut key = [0; 32];
        let bytes = request.destination.as_bytes().iter().chain(request.tag.as_bytes());
        key.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        let len = 16 + request.tag.as_bytes().len();
        self.tags.insert(key.get(..len).unwrap_or(&key))
    }

    /// Starts or joins a search for somebody behind `interface`.
    pub(crate) fn search(
        &mut self,
        destination: DestinationHash,
        interface: InterfaceId,
        until: Instant,
    ) -> Search {
        if let Some(waiting) = self.searches.get_mut(&destination) {
            if !waiting.contains(&interface) && waiting.len() < MAX_WAITING {
                waiting.push(interface);
            }
            return Search::Joined;
        }
        if self.searches.len() >= self.capacity {
            return Search::Full;
        }
        self.searches.insert(destination, Vec::from([interface]), Some(until));
        Search::Started
    }

    /// Ends the search for a destination that was found, and returns who waits.
    pub(crate) fn found(&mut self, destination: &DestinationHash) -> Vec<InterfaceId> {
        self.own.remove(destination);
        self.searches.remove(destination).unwrap_or_default()
    }

    /// Notes that this node asked for itself.
    pub(crate) fn asked(&mut self, now: Instant, destination: DestinationHash) {
        if self.own.len() >= self.capacity
            && let Some((oldest, _)) = self.own.due(Instant::from_nanos(u64::MAX))
        {
            self.own.remove(&oldest);
        }
        self.own.insert(destination, now, Some(now + REQUEST_IN_FLIGHT));
    }

    /// Says whether this node may ask though nobody told it to.
    pub(crate) fn may_ask_automatically(&self, now: Instant, destination: &DestinationHash) -> bool {
        self.own.get(destination).is_none_or(|asked| now >= *asked + AUTOMATIC_REQUEST_INTERVAL)
    }

    /// Says whether an announce of the destination is waited for.
    pub(crate) fn is_wanted(&self, destination: &DestinationHash) -> bool {
        self.own.contains(destination) || self.searches.contains(destination)
    }

    pub(crate) fn expire(&mut self, now: Instant) {
        while let Some((destination, _)) = self.searches.due(now) {
            self.searches.remove(&destination);
        }
        while let Some((destination, _)) = self.own.due(now) {
            self.own.remove(&destination);
        }
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.searches.deadline().into_iter().chain(self.own.deadline()).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::RequestTag;

    const DESTINATION: DestinationHash = DestinationHash::new([1; 16]);

    fn at(seconds: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(seconds)
    }

    #[test]
    fn a_request_is_told_by_destination_and_tag() {
        let mut requests = PathRequests::new(9, &[0; 16]);
        let request = |destination: u8, tag: &[u8]| PathRequest {
            destination: DestinationHash::new([destination; 16]),
            requester: None,
            tag: RequestTag::from_prefix(tag).unwrap(),
        };
        assert!(requests.is_new(&request(1, b"tag")));
        assert!(!requests.is_new(&request(1, b"tag")));
        assert!(requests.is_new(&request(2, b"tag")));
        assert!(requests.is_new(&request(1, b"tag\0")));
    }

    #[test]
    fn a_second_request_joins_the_search_until_it_ends() {
        let mut requests = PathRequests::new(1, &[0; 16]);
        assert_eq!(requests.search(DESTINATION, InterfaceId(1), at(15)), Search::Started);
        assert_eq!(requests.search(DESTINATION, InterfaceId(2), at(20)), Search::Joined);
        assert_eq!(requests.search(DESTINATION, InterfaceId(2), at(20)), Search::Joined);
        assert_eq!(requests.search(DestinationHash::new([2; 16]), InterfaceId(2), at(20)), Search::Full);
        assert_eq!(requests.clone().found(&DESTINATION), [InterfaceId(1), InterfaceId(2)]);
        requests.expire(at(15));
        assert!(!requests.is_wanted(&DESTINATION));
        assert_eq!(requests.found(&DESTINATION), []);
    }

    #[test]
    fn automatic_requests_are_twenty_seconds_apart() {
        let mut requests = PathRequests::new(1, &[0; 16]);
        assert!(requests.may_ask_automatically(at(0), &DESTINATION));
        requests.asked(at(0), DESTINATION);
        assert!(!requests.may_ask_automatically(at(19), &DESTINATION));
        assert!(requests.may_ask_automatically(at(20), &DESTINATION));
        assert!(requests.is_wanted(&DESTINATION));
        requests.expire(at(45));
        assert!(!requests.is_wanted(&DESTINATION));
    }
}
