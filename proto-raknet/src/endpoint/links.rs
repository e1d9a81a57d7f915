//! Sockets of their own for sessions that we open: a server knows its peers by their addresses, so one more session with
//! it takes one more socket.
//!
//! ```text
//! open --> Opening --Up--> Up <--Blocked, Writable--> Full
//!             |             |                           |
//!             +-------------+---- close (or Down) ------+--> Closing --Down--> free again
//! ```

use alloc::{collections::VecDeque, vec::Vec};
use core::net::SocketAddr;
use proto_core::{DatagramOptions, LinkId, LinkRequest, LinkSpec};

use super::SOCKET;
use crate::Guid;

/// The sockets that serve one session each, and what is to be asked for them.
#[derive(Debug, Default)]
pub(super) struct Links {
    /// The link of a place is the number after its own, since [`SOCKET`] is 0.
    places: Vec<Place>,
    free: Vec<u32>,
    requests: VecDeque<LinkRequest>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    state: State,
    /// Whose socket it is.
    owner: u32,
    /// Who the session says we are: a server takes an identifier for one client only.
    guid: Guid,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Free,
    Opening,
    Up,
    Full,
    Closing,
}

impl Links {
    /// Asks for a socket for the session `owner`.
    pub(super) fn open(&mut self, owner: u32, guid: Guid, bind: SocketAddr, peer: SocketAddr) -> LinkId {
        let place = Place { state: State::Opening, owner, guid };
        let at = match self.free.pop() {
            Some(at) => at,
            // There are no more places than peers, and of those there are fewer than 2^31.
            None => u32::try_from(self.places.len()).unwrap_or(u32::MAX),
        };
        match self.places.get_mut(at as usize) {
            Some(old) => *old = place,
            None => self.places.push(place),
        }
        let link = LinkId(at + 1);
        self.requests.push_back(LinkRequest::Open {
            link,
            spec: LinkSpec::Udp { bind, peer: Some(peer), options: DatagramOptions::default() },
        });
        link
    }

    /// Gives a socket back; its number is free once the driver says that it is closed.
    pub(super) fn close(&mut self, link: LinkId) {
        if let Some(place) = self.place_mut(link)
            && !matches!(place.state, State::Free | State::Closing)
        {
            place.state = State::Closing;
            self.requests.push_back(LinkRequest::Close { link });
        }
    }

    /// Takes note that a socket can be used. One that nobody asked for is given back.
    pub(super) fn on_up(&mut self, link: LinkId) {
        let Some(place) = self.place_mut(link) else { return };
        match place.state {
            State::Opening => place.state = State::Up,
            State::Free => {
                place.state = State::Closing;
                self.free.retain(|&at| at + 1 != link.0);
                self.requests.push_back(LinkRequest::Close { link });
            }
            State::Up | State::Full | State::Closing => {}
        }
    }

    /// Takes note that a socket has room again.
    pub(super) fn on_writable(&mut self, link: LinkId) {
        self.change(link, State::Full, State::Up);
    }

    /// Takes note that a socket has no room.
    pub(super) fn on_blocked(&mut self, link: LinkId) {
        self.change(link, State::Up, State::Full);
    }

    /// Takes note that a socket is gone. Returns whose it was, if somebody has not given it back.
    pub(super) fn on_down(&mut self, link: LinkId) -> Option<u32> {
        let place = self.place_mut(link)?;
        let Place { state, owner, .. } = *place;
        if state == State::Free {
            return None;
        }
        place.state = State::Free;
        self.free.push(link.0 - 1);
        (state != State::Closing).then_some(owner)
    }

    pub(super) fn poll_request(&mut self) -> Option<LinkRequest> {
        self.requests.pop_front()
    }

    /// Returns whose socket it is.
    pub(super) fn owner(&self, link: LinkId) -> Option<u32> {
        self.place(link)
            .filter(|place| !matches!(place.state, State::Free | State::Closing))
            .map(|place| place.owner)
    }

    /// Returns who the session on a socket of its own says that we are.
    pub(super) fn guid(&self, link: LinkId) -> Option<Guid> {
        self.place(link).map(|place| place.guid)
    }

    /// Says whether datagrams can leave by a socket.
    pub(super) fn has_room(&self, link: LinkId) -> bool {
        self.place(link).is_some_and(|place| place.state == State::Up)
    }

    fn change(&mut self, link: LinkId, from: State, to: State) {
        if let Some(place) = self.place_mut(link)
            && place.state == from
        {
            place.state = to;
        }
    }

    fn place(&self, link: LinkId) -> Option<&Place> {
        debug_assert!(link != SOCKET, "the common socket has no owner");
        self.places.get(link.0.checked_sub(1)? as usize)
    }

    fn place_mut(&mut self, link: LinkId) -> Option<&mut Place> {
        self.places.get_mut(link.0.checked_sub(1)? as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(links: &mut Links, owner: u32) -> LinkId {
        let any = SocketAddr::from(([0, 0, 0, 0], 0));
        links.open(owner, Guid(u64::from(owner)), any, any)
    }

    #[test]
    fn a_number_is_used_again_only_after_its_socket_is_closed() {
        let mut links = Links::default();
        let first = open(&mut links, 7);
        assert!(matches!(links.poll_request(), Some(LinkRequest::Open { .. })));
        assert!(!links.has_room(first));
        links.on_up(first);
        assert!(links.has_room(first) && links.owner(first) == Some(7) && links.guid(first) == Some(Guid(7)));
        links.close(first);
        links.close(first);
        assert_eq!(links.poll_request(), Some(LinkRequest::Close { link: first }));
        assert_eq!((links.poll_request(), links.owner(first)), (None, None));
        assert_ne!(open(&mut links, 8), first);
        assert_eq!(links.on_down(first), None, "nobody is to be told");
        assert_eq!(open(&mut links, 9), first);
    }

    #[test]
    fn a_socket_that_goes_by_itself_is_reported_to_its_owner_once() {
        let mut links = Links::default();
        let link = open(&mut links, 3);
        links.on_up(link);
        links.on_blocked(link);
        assert!(!links.has_room(link));
        links.on_writable(link);
        assert!(links.has_room(link));
        assert_eq!((links.on_down(link), links.on_down(link)), (Some(3), None));
        links.on_writable(link);
        assert!(!links.has_room(link), "a late report changes nothing");
    }

    #[test]
    fn a_socket_that_nobody_asked_for_is_given_back_before_its_number_is_used() {
        let mut links = Links::default();
        let link = open(&mut links, 3);
        links.on_down(link);
        links.on_up(link);
        let requests: Vec<_> = core::iter::from_fn(|| links.poll_request()).collect();
        assert_eq!(requests.last(), Some(&LinkRequest::Close { link }));
        assert_ne!(open(&mut links, 4), link);
        links.on_down(link);
        assert_eq!(open(&mut links, 5), link);
    }
}
