//! A server's datagram sockets.

use alloc::{collections::VecDeque, vec::Vec};
use core::net::SocketAddr;
use proto_core::{Datagram, LinkEvent, LinkId, Transmit};

use crate::{Flags, Kind, Message, Payload, Pool};

/// Sockets that talk to anybody.
#[derive(Debug)]
pub(super) struct Sockets {
    sockets: Vec<Socket>,
    waiting: VecDeque<(LinkId, SocketAddr, Payload)>,
    pool: Pool,
}

#[derive(Debug)]
struct Socket {
    link: LinkId,
    local: Option<SocketAddr>,
    is_blocked: bool,
}

impl Default for Sockets {
    fn default() -> Self {
        Self { sockets: Vec::new(), waiting: VecDeque::new(), pool: Pool::new(64 << 10) }
    }
}

impl Sockets {
    pub(super) fn add(&mut self, link: LinkId) {
        self.sockets.push(Socket { link, local: None, is_blocked: false });
    }

    pub(super) fn has(&self, link: LinkId) -> bool {
        self.sockets.iter().any(|socket| socket.link == link)
    }

    pub(super) fn remove(&mut self, link: LinkId) {
        self.sockets.retain(|socket| socket.link != link);
        self.waiting.retain(|(by, _, _)| *by != link);
    }

    pub(super) fn handle_link(&mut self, link: LinkId, event: &LinkEvent) {
        for socket in self.sockets.iter_mut().filter(|socket| socket.link == link) {
            if let LinkEvent::Up { local, .. } = event {
                socket.local = *local;
            } else if matches!(event, LinkEvent::Blocked | LinkEvent::Writable) {
                socket.is_blocked = *event == LinkEvent::Blocked;
            }
        }
    }

    pub(super) fn receive(&mut self, datagram: &Datagram<'_>) -> Option<Message> {
        let socket = self.sockets.iter().find(|socket| socket.link == datagram.link)?;
        let port = socket.local.map_or(0, |local| local.port());
        let mut filling = self.pool.fill(datagram.data.len());
        filling.extend(datagram.data);
        Some(Message {
            kind: Kind::Datagram,
            body: filling.finish(&mut self.pool),
            peer_addr: Some(datagram.from),
            local_addr: datagram.to.map(|ip| SocketAddr::new(ip, port)).or(socket.local),
            interface: datagram.interface,
            flags: if datagram.is_truncated { Flags::TRUNCATED } else { Flags::default() },
            ..Message::default()
        })
    }

    pub(super) fn send(&mut self, link: LinkId, to: SocketAddr, payload: Payload) {
        self.waiting.push_back((link, to, payload));
    }

    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Appends the next datagram whose socket has room.
    pub(super) fn poll_transmit(&mut self, buf: &mut Vec<u8>) -> Option<Transmit> {
        let sockets = &self.sockets;
        let is_free = |link: LinkId| sockets.iter().any(|socket| socket.link == link && !socket.is_blocked);
        let place = self.waiting.iter().position(|(link, _, _)| is_free(*link))?;
        let (link, to, payload) = self.waiting.remove(place)?;
        buf.extend_from_slice(&payload);
        Some(Transmit::datagram(link, to, payload.len()))
    }
}
