//! A session with one server.

use proto_raknet::{
    CloseReason, Config, ConnectOptions, Message, PeerId, PeerInfo, PeerStats, ReceiptId, Received, SOCKET,
};
use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    os::fd::BorrowedFd,
    time::Instant,
};

use super::{
    error::RaknetError,
    sessions::{Sessions, Why},
};
use crate::{Blocking, ReceiveMode, UdpOptions, Wants, bind_udp};

/// How a session is opened.
#[derive(Clone, Debug)]
pub struct ClientOptions {
    /// The protocol's configuration.
    pub endpoint: Config,
    /// The attempt: protocol version, password, MTUs, overall timeout.
    pub connect: ConnectOptions,
    /// The local address; by default any port of the server's address family.
    pub bind: Option<SocketAddr>,
    /// The socket's options.
    pub udp: UdpOptions,
    /// The driver's numbers.
    pub driver: crate::Config,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            endpoint: Config::client(),
            connect: ConnectOptions::default(),
            bind: None,
            udp: UdpOptions::default(),
            driver: crate::Config::default(),
        }
    }
}

/// A RakNet session that this side opened. Dropped, it ends without a word to the server; see [`close`](Self::close).
#[derive(Debug)]
pub struct RaknetClient {
    sessions: Sessions,
    peer: PeerId,
    info: PeerInfo,
}

impl RaknetClient {
    /// Connects to `server` with the default options.
    ///
    /// # Errors
    /// There is no socket to be had, the server refused or did not answer, or the deadline came first.
    pub fn connect(server: SocketAddr, deadline: Option<Instant>) -> Result<Self, RaknetError> {
        Self::connect_with(server, ClientOptions::default(), deadline)
    }

    /// Connects to `server`. It takes at most [`ConnectOptions::timeout`].
    ///
    /// # Errors
    /// The options cannot work, there is no socket to be had, the server refused or did not answer, or the deadline came
    /// first.
    pub fn connect_with(
        server: SocketAddr,
        options: ClientOptions,
        deadline: Option<Instant>,
    ) -> Result<Self, RaknetError> {
        let ClientOptions { endpoint, connect, bind, udp, driver } = options;
        let mut sessions = Sessions::new(endpoint, driver)?;
        let socket = bind_udp(bind.unwrap_or_else(|| any_port_towards(server)), udp)?;
        sessions.driver.add_udp(SOCKET, socket)?;
        let peer = sessions.driver.with(|machine, now| machine.connect(now, server, connect))?;
        let connected = sessions.wait_for(deadline, |sessions| {
            if let Some(why) = sessions.why(peer) {
                return Some(Err(RaknetError::from(why)));
            }
            sessions.driver.machine().peer(peer).map(Ok)
        })?;
        let info = connected.unwrap_or(Err(RaknetError::TimedOut))?;
        Ok(Self { sessions, peer, info })
    }

    /// Sends a payload or message, and waits for room until `deadline` at most. The number is that of the receipt, where the
    /// message asks for one.
    ///
    /// # Errors
    /// The session is over, the message cannot be sent, or there was no room in time.
    pub fn send(
        &mut self,
        message: impl Into<Message>,
        deadline: Option<Instant>,
    ) -> Result<Option<ReceiptId>, RaknetError> {
        self.sessions.send(self.peer, message.into(), deadline)
    }

    /// Sends a payload or message now or not at all.
    ///
    /// # Errors
    /// There is no room, the session is over, or the message cannot be sent.
    pub fn try_send(&mut self, message: impl Into<Message>) -> Result<Option<ReceiptId>, RaknetError> {
        let full = Err(proto_raknet::SendError::Full.into());
        self.sessions.offer(self.peer, &mut Some(message.into())).unwrap_or(full)
    }

    /// Receives the next message; there is none where the deadline came first.
    ///
    /// # Errors
    /// How the session ended, once all messages that arrived before are taken.
    pub fn recv(&mut self, deadline: Option<Instant>) -> Result<Option<Received>, RaknetError> {
        let peer = self.peer;
        let received = self.sessions.wait_for(deadline, |sessions| sessions.recv(peer).transpose())?;
        Ok(received.transpose()?)
    }

    /// Takes the next message if one is there.
    ///
    /// # Errors
    /// How the session ended, once all messages that arrived before are taken.
    pub fn try_recv(&mut self) -> Result<Option<Received>, RaknetError> {
        Ok(self.sessions.recv(self.peer)?)
    }

    /// Reads and sends what can be read and sent without waiting: once a frame.
    ///
    /// # Errors
    /// The operating system cannot say what is there.
    pub fn poll(&mut self) -> io::Result<()> {
        self.sessions.poll()
    }

    /// Closes the session: what was sent before is still delivered, then the server is told, and its acknowledgement is
    /// awaited.
    ///
    /// # Errors
    /// The session ended in another way, or the deadline came first.
    pub fn close(mut self, deadline: Option<Instant>) -> Result<(), RaknetError> {
        let peer = self.peer;
        self.sessions.driver.with(|machine, now| machine.disconnect(now, peer));
        match self.sessions.wait_for(deadline, |sessions| sessions.why(peer))? {
            Some(Why::Left(CloseReason::LocalClose)) => Ok(()),
            Some(why) => Err(why.into()),
            None => Err(RaknetError::TimedOut),
        }
    }

    /// Returns what is known of the server.
    pub const fn info(&self) -> &PeerInfo {
        &self.info
    }

    /// Returns the session's statistics; `None` once it is over.
    pub fn stats(&self) -> Option<PeerStats> {
        self.driver().machine().peer_stats(self.peer)
    }

    /// Returns the descriptor and what is to be watched of it, for an event loop of the application's own. See
    /// [`Blocking::fd`].
    ///
    /// # Errors
    /// The process has no descriptor left.
    pub fn fd(&mut self) -> io::Result<(BorrowedFd<'_>, Wants)> {
        let wants = self.sessions.driver.wants();
        Ok((self.sessions.driver.fd()?, wants))
    }

    /// Changes how to wait from now on.
    pub fn set_mode(&mut self, mode: ReceiveMode) {
        self.sessions.driver.set_mode(mode);
    }

    /// Returns the driver: its waker, its statistics, when it wants to be polled next.
    pub const fn driver(&self) -> &Blocking<proto_raknet::Endpoint> {
        &self.sessions.driver
    }
}

/// Returns the unspecified address of the same family as `peer`.
const fn any_port_towards(peer: SocketAddr) -> SocketAddr {
    match peer {
        SocketAddr::V4(_) => SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0),
        SocketAddr::V6(_) => SocketAddr::new(IpAddr::V6(Ipv6Addr::UNSPECIFIED), 0),
    }
}
