//! Machines of both roles on one network.

use bytes::Bytes;
use core::num::NonZeroUsize;
use proto_conn::{
    client::{self, Connection},
    server::{self, Server},
};
use proto_core::{Datagram, Instant, LinkEvent, LinkId, LinkRequest, Machine, Transmit};

/// A client or a server.
#[derive(Debug)]
pub(crate) enum Party {
    Client(Box<Connection>),
    Server(Box<Server>),
}

/// What one of them tells.
#[derive(Debug)]
pub(crate) enum Tale {
    Client(client::Event),
    Server(server::Event),
}

macro_rules! both {
    ($self:ident, $party:ident => $act:expr) => {
        match $self {
            Party::Client($party) => $act,
            Party::Server($party) => $act,
        }
    };
}

impl Party {
    pub(crate) fn client(&mut self) -> &mut Connection {
        match self {
            Self::Client(client) => client,
            Self::Server(_) => panic!("this is the server"),
        }
    }

    pub(crate) fn server(&mut self) -> &mut Server {
        match self {
            Self::Server(server) => server,
            Self::Client(_) => panic!("this is the client"),
        }
    }
}

impl Tale {
    pub(crate) fn of_client(self) -> client::Event {
        match self {
            Self::Client(event) => event,
            Self::Server(event) => panic!("{event:?} of the server"),
        }
    }

    pub(crate) fn of_server(self) -> server::Event {
        match self {
            Self::Server(event) => event,
            Self::Client(event) => panic!("{event:?} of the client"),
        }
    }
}

impl Machine for Party {
    type Event = Tale;

    fn handle_datagram(&mut self, now: Instant, datagram: Datagram<'_>) {
        both!(self, party => party.handle_datagram(now, datagram));
    }

    fn handle_stream(&mut self, now: Instant, link: LinkId, data: &mut [u8]) {
        both!(self, party => party.handle_stream(now, link, data));
    }

    fn handle_link(&mut self, now: Instant, link: LinkId, event: LinkEvent) {
        both!(self, party => party.handle_link(now, link, event));
    }

    fn handle_timeout(&mut self, now: Instant) {
        both!(self, party => party.handle_timeout(now));
    }

    fn poll_link(&mut self) -> Option<LinkRequest> {
        both!(self, party => party.poll_link())
    }

    fn poll_transmit(
        &mut self,
        now: Instant,
        max_segments: NonZeroUsize,
        buf: &mut Vec<u8>,
    ) -> Option<Transmit> {
        both!(self, party => party.poll_transmit(now, max_segments, buf))
    }

    fn poll_event(&mut self) -> Option<Tale> {
        match self {
            Self::Client(client) => client.poll_event().map(Tale::Client),
            Self::Server(server) => server.poll_event().map(Tale::Server),
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        both!(self, party => party.poll_timeout())
    }

    fn wants_read(&self, link: LinkId) -> bool {
        both!(self, party => party.wants_read(link))
    }

    fn poll_gather(&mut self, pieces: &mut Vec<Bytes>) {
        both!(self, party => party.poll_gather(pieces));
    }

    fn recv_buffer(&mut self, link: LinkId) -> Option<&mut [u8]> {
        both!(self, party => party.recv_buffer(link))
    }

    fn handle_filled(&mut self, now: Instant, link: LinkId, len: usize) {
        both!(self, party => party.handle_filled(now, link, len));
    }
}
