//! Datagrams to one address or group.

use alloc::{collections::VecDeque, vec::Vec};
use core::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    num::NonZeroU32,
};
use proto_core::{Datagram, Interface, LinkEvent, LinkId, LinkSpec, Transmit};

use super::{links::Links, options::Options};
use crate::{Code, Error, Flags, Kind, Message, Payload, Phase, Pool};

/// The sockets of a datagram connection: one, or one for each interface on which a group was joined.
#[derive(Debug)]
pub(super) struct Datagrams {
    to: SocketAddr,
    sockets: Vec<Socket>,
    waiting: VecDeque<Waiting>,
    pool: Pool,
}

#[derive(Debug)]
struct Socket {
    link: LinkId,
    interface: Interface,
    index: Option<NonZeroU32>,
    local: Option<SocketAddr>,
    is_up: bool,
    is_blocked: bool,
}

/// A datagram on its way out.
#[derive(Debug)]
struct Waiting {
    payload: Payload,
    /// The interface to leave by; all of them without one.
    interface: Option<NonZeroU32>,
    /// The place of the next socket that it leaves by.
    next: usize,
}

/// The longest payload of a datagram: 65,535 bytes without the headers of IPv4 and UDP.
pub(super) const MAX_DATAGRAM: usize = 65_507;

impl Datagrams {
    /// Opens the socket for a single peer.
    pub(super) fn unicast(to: SocketAddr, options: &Options, links: &mut Links) -> Self {
        let bind = options.bind.unwrap_or_else(|| unspecified(to));
        let link = links.open(LinkSpec::Udp { bind, peer: Some(to), options: options.datagram.clone() });
        Self::new(to, Vec::from([Socket::new(link, Interface::Any)]))
    }

    /// Opens a socket for each interface.
    pub(super) fn multicast(
        group: SocketAddr,
        source: Option<IpAddr>,
        interfaces: &[Interface],
        options: &Options,
        links: &mut Links,
    ) -> Self {
        let any = [Interface::Any];
        let interfaces = if interfaces.is_empty() { &any } else { interfaces };
        let open = |interface: &Interface| {
            let spec = LinkSpec::UdpMulticast {
                group,
                interface: interface.clone(),
                source,
                loopback: options.loopback,
                options: options.datagram.clone(),
            };
            Socket::new(links.open(spec), interface.clone())
        };
        let sockets = interfaces.iter().map(open).collect();
        Self::new(group, sockets)
    }

    const fn new(to: SocketAddr, sockets: Vec<Socket>) -> Self {
        Self { to, sockets, waiting: VecDeque::new(), pool: Pool::new(MAX_DATAGRAM.next_power_of_two()) }
    }

    /// Takes a datagram to send.
    ///
    /// # Errors
    /// It is too long for any datagram.
    pub(super) fn send(&mut self, message: Message) -> Result<(), Error> {
        if message.body.len() > MAX_DATAGRAM {
            return Err(Error::new(Code::TooLong, Phase::Send));
        }
        self.waiting.push_back(Waiting { payload: message.body, interface: message.interface, next: 0 });
        Ok(())
    }

    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Takes in a datagram; `None` when it is not for this connection.
    pub(super) fn receive(&mut self, datagram: &Datagram<'_>) -> Option<Message> {
        let socket = self.sockets.iter().find(|socket| socket.link == datagram.link)?;
        let port = socket.local.map_or(0, |local| local.port());
        let local = datagram.to.map(|ip| SocketAddr::new(ip, port)).or(socket.local);
        let interface = datagram.interface.or(socket.index);
        let mut filling = self.pool.fill(datagram.data.len());
        filling.extend(datagram.data);
        Some(Message {
            kind: Kind::Datagram,
            body: filling.finish(&mut self.pool),
            peer_addr: Some(datagram.from),
            local_addr: local,
            interface,
            flags: if datagram.is_truncated { Flags::TRUNCATED } else { Flags::default() },
            ..Message::default()
        })
    }

    /// Takes note of a socket's changes, and says what the application should know.
    pub(super) fn handle_link(&mut self, link: LinkId, event: &LinkEvent) -> Heard {
        let Some(socket) = self.sockets.iter_mut().find(|socket| socket.link == link) else {
            return Heard::Nothing;
        };
        match event {
            LinkEvent::Up { local, .. } => {
                socket.is_up = true;
                socket.local = *local;
                let all = self.sockets.iter().all(|socket| socket.is_up);
                if all { Heard::Open } else { Heard::Nothing }
            }
            LinkEvent::Blocked => {
                socket.is_blocked = true;
                Heard::Nothing
            }
            LinkEvent::Writable => {
                socket.is_blocked = false;
                Heard::Nothing
            }
            LinkEvent::TooBig { len, .. } => {
                let detail = alloc::format!("{len} bytes are too many for the path");
                Heard::Trouble(Error::new(Code::TooLong, Phase::Send).with_detail(detail))
            }
            LinkEvent::Unreachable(reason) => {
                let code = super::dialing::code_of(*reason);
                Heard::Trouble(Error::new(code, Phase::Receive).with_detail(alloc::format!("{}", self.to)))
            }
            LinkEvent::Down(reason) => {
                let interface = socket.interface.clone();
                let code = match (&interface, socket.is_up) {
                    (Interface::Any, false) if self.to.ip().is_multicast() => Code::JoinFailed,
                    (Interface::Index(_) | Interface::Name(_), false) => Code::NoInterface,
                    (_, _) => super::dialing::code_of(*reason),
                };
                self.sockets.retain(|socket| socket.link != link);
                let detail = match interface {
                    Interface::Any => alloc::format!("{}", self.to),
                    Interface::Index(index) => alloc::format!("{} on interface {index}", self.to),
                    Interface::Name(name) => alloc::format!("{} on {name}", self.to),
                };
                let error = Error::new(code, Phase::Connect).with_detail(detail);
                if self.sockets.is_empty() { Heard::End(error) } else { Heard::Trouble(error) }
            }
            LinkEvent::Accepted { .. } | LinkEvent::Resolved { .. } | LinkEvent::Eof | _ => Heard::Nothing,
        }
    }

    /// Appends the next datagram to `buf`.
    pub(super) fn poll_transmit(&mut self, buf: &mut Vec<u8>) -> Option<Transmit> {
        loop {
            let waiting = self.waiting.front_mut()?;
            let by = waiting.interface;
            let place = waiting.next;
            let Some(socket) = self.sockets.get(place) else {
                self.waiting.pop_front();
                continue;
            };
            if !socket.is_up || socket.is_blocked {
                return None;
            }
            waiting.next += 1;
            let is_wanted = by.is_none() || self.sockets.len() == 1 || socket.is_on(by);
            if !is_wanted {
                continue;
            }
            let transmit = Transmit::datagram(socket.link, self.to, waiting.payload.len());
            buf.extend_from_slice(&waiting.payload);
            if place + 1 >= self.sockets.len() {
                self.waiting.pop_front();
            }
            return Some(transmit);
        }
    }

    pub(super) fn close(&mut self, links: &mut Links) {
        self.sockets.drain(..).for_each(|socket| links.close(socket.link));
    }
}

/// What a socket's change means to the application.
#[derive(Debug)]
pub(super) enum Heard {
    Nothing,
    /// All sockets are up.
    Open,
    /// Something is wrong, but there is more to come.
    Trouble(Error),
    /// The last socket is gone.
    End(Error),
}

impl Socket {
    const fn new(link: LinkId, interface: Interface) -> Self {
        let index = match &interface {
            Interface::Index(index) => Some(*index),
            Interface::Any | Interface::Name(_) => None,
        };
        Self { link, interface, index, local: None, is_up: false, is_blocked: false }
    }

    fn is_on(&self, interface: Option<NonZeroU32>) -> bool {
        self.index.is_some() && self.index == interface
    }
}

fn unspecified(to: SocketAddr) -> SocketAddr {
    match to {
        SocketAddr::V4(_) => SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0),
        SocketAddr::V6(_) => SocketAddr::new(IpAddr::V6(Ipv6Addr::UNSPECIFIED), 0),
    }
}
