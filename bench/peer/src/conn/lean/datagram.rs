//! Datagrams, unicast and multicast.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::time::Duration;

use crate::conn::{Gauge, Scheme, groups};

/// The socket of a peer.
pub(super) fn bind(scheme: Scheme) -> io::Result<UdpSocket> {
    if scheme == Scheme::UdpMulticast {
        groups::member_of(groups::REQUESTS)
    } else {
        UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))
    }
}

/// Answers every datagram until the socket fails.
pub(super) fn echo(socket: &UdpSocket, scheme: Scheme, gauge: &Gauge) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER];
    let (mut length, mut from) = socket.recv_from(&mut buffer)?;
    let answers_to = if scheme == Scheme::UdpMulticast {
        Some(SocketAddr::from((groups::ANSWERS, from.port())))
    } else {
        // The one client there is: connected, the kernel need not look the way up for each datagram.
        socket.connect(from)?;
        None
    };
    loop {
        let answer = buffer.get(..length).unwrap_or_default();
        gauge.add(Duration::ZERO);
        (length, from) = match answers_to {
            Some(group) => {
                socket.send_to(answer, group)?;
                socket.recv_from(&mut buffer)?
            }
            None => {
                socket.send(answer)?;
                (socket.recv(&mut buffer)?, from)
            }
        };
    }
}

/// The client's end.
#[derive(Debug)]
pub(super) struct Channel {
    socket: UdpSocket,
    /// Where datagrams go, unless the socket is connected.
    group: Option<SocketAddr>,
    buffer: Vec<u8>,
}

impl Channel {
    pub(super) fn open(scheme: Scheme, peer: SocketAddr) -> io::Result<Self> {
        let (socket, group) = if scheme == Scheme::UdpMulticast {
            (groups::member_of(groups::ANSWERS)?, Some(peer))
        } else {
            let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
            socket.connect(peer)?;
            (socket, None)
        };
        socket.set_read_timeout(Some(PATIENCE))?;
        Ok(Self { socket, group, buffer: vec![0; BUFFER] })
    }

    pub(super) fn exchange(&mut self, message: &[u8]) -> io::Result<&[u8]> {
        match self.group {
            Some(group) => self.socket.send_to(message, group)?,
            None => self.socket.send(message)?,
        };
        let length = self.socket.recv(&mut self.buffer)?;
        Ok(self.buffer.get(..length).unwrap_or_default())
    }
}

const BUFFER: usize = 65_536;
/// How long an echo may take before its datagram counts as lost.
const PATIENCE: Duration = Duration::from_secs(1);
