//! Taking in sessions that others open.

use bytes::Bytes;
use proto_raknet::{
    CloseReason, Config, Endpoint, EndpointStats, Message, OfflineError, PeerId, PeerInfo, PeerStats,
    ReceiptId, Received, SOCKET,
};
use std::{
    io,
    net::SocketAddr,
    os::fd::BorrowedFd,
    time::{Duration, Instant},
};

use super::{error::RaknetError, sessions::Sessions};
use crate::{Blocking, ReceiveMode, UdpOptions, Wants, bind_udp};

/// How a listener is set up.
#[derive(Clone, Debug, Default)]
pub struct ListenOptions {
    /// The protocol's configuration.
    pub endpoint: Config,
    /// The socket's options.
    pub udp: UdpOptions,
    /// The driver's numbers.
    pub driver: crate::Config,
}

/// A RakNet server with all its sessions. Dropped, they end without a word to the peers; see [`close`](Self::close).
#[derive(Debug)]
pub struct RaknetListener {
    sessions: Sessions,
    address: SocketAddr,
}

impl RaknetListener {
    /// Listens on `address`.
    ///
    /// # Errors
    /// The configuration cannot work, or the operating system refused.
    pub fn bind(address: SocketAddr, endpoint: Config) -> Result<Self, RaknetError> {
        Self::bind_with(address, ListenOptions { endpoint, ..ListenOptions::default() })
    }

    /// Listens on `address`.
    ///
    /// # Errors
    /// The configuration cannot work, or the operating system refused.
    pub fn bind_with(address: SocketAddr, options: ListenOptions) -> Result<Self, RaknetError> {
        let ListenOptions { endpoint, udp, driver } = options;
        let mut sessions = Sessions::new(endpoint, driver)?;
        let socket = bind_udp(address, udp)?;
        let address = socket.local_addr()?;
        sessions.driver.add_udp(SOCKET, socket)?;
        Ok(Self { sessions, address })
    }

    /// Waits for the next session; there is none where the deadline came first. Messages of a session can be taken whether
    /// or not it was accepted.
    ///
    /// # Errors
    /// The operating system cannot wait.
    pub fn accept(&mut self, deadline: Option<Instant>) -> Result<Option<(PeerId, PeerInfo)>, RaknetError> {
        self.sessions.wait_for(deadline, Sessions::accept)
    }

    /// Takes the next session if one is there.
    pub fn try_accept(&mut self) -> Option<(PeerId, PeerInfo)> {
        self.sessions.accept()
    }

    /// Sends a payload or message, and waits for room until `deadline` at most. The number is that of the receipt, where the
    /// message asks for one.
    ///
    /// # Errors
    /// The session is over, the message cannot be sent, or there was no room in time.
    pub fn send(
        &mut self,
        peer: PeerId,
        message: impl Into<Message>,
        deadline: Option<Instant>,
    ) -> Result<Option<ReceiptId>, RaknetError> {
        self.sessions.send(peer, message.into(), deadline)
    }

    /// Sends a payload or message now or not at all.
    ///
    /// # Errors
    /// There is no room, the session is over, or the message cannot be sent.
    pub fn try_send(
        &mut self,
        peer: PeerId,
        message: impl Into<Message>,
    ) -> Result<Option<ReceiptId>, RaknetError> {
        let full = Err(proto_raknet::SendError::Full.into());
        self.sessions.offer(peer, &mut Some(message.into())).unwrap_or(full)
    }

    /// Sends a message to every open session but that of `except`, and returns how many took it. It waits for none.
    pub fn broadcast(&mut self, message: impl Into<Message>, except: Option<PeerId>) -> usize {
        let message = message.into();
        self.sessions.driver.with(|machine, now| machine.broadcast(now, &message, except))
    }

    /// Receives the next message of a session; there is none where the deadline came first.
    ///
    /// # Errors
    /// How the session ended, once all messages that arrived before are taken.
    pub fn recv(&mut self, peer: PeerId, deadline: Option<Instant>) -> Result<Option<Received>, RaknetError> {
        let received = self.sessions.wait_for(deadline, |sessions| sessions.recv(peer).transpose())?;
        Ok(received.transpose()?)
    }

    /// Takes the next message of a session if one is there.
    ///
    /// # Errors
    /// How the session ended, once all messages that arrived before are taken.
    pub fn try_recv(&mut self, peer: PeerId) -> Result<Option<Received>, RaknetError> {
        Ok(self.sessions.recv(peer)?)
    }

    /// Receives the next message of any session, each in its turn; there is none where the deadline came first.
    ///
    /// # Errors
    /// The operating system cannot wait.
    pub fn recv_any(&mut self, deadline: Option<Instant>) -> Result<Option<(PeerId, Received)>, RaknetError> {
        self.sessions.wait_for(deadline, Sessions::recv_any)
    }

    /// Takes the next message of any session if one is there.
    pub fn try_recv_any(&mut self) -> Option<(PeerId, Received)> {
        self.sessions.recv_any()
    }

    /// Takes the next session that has ended, and why. After that nothing is known of it, so its messages are to be taken
    /// before. Ends that nobody takes are kept for 1,024 sessions.
    pub fn next_ended(&mut self) -> Option<(PeerId, CloseReason)> {
        self.sessions.next_ended()
    }

    /// Begins the orderly end of a session.
    pub fn disconnect(&mut self, peer: PeerId) {
        self.sessions.driver.with(|machine, now| machine.disconnect(now, peer));
    }

    /// Reads and sends what can be read and sent without waiting: once a frame.
    ///
    /// # Errors
    /// The operating system cannot say what is there.
    pub fn poll(&mut self) -> io::Result<()> {
        self.sessions.poll()
    }

    /// Ends all sessions in good order, and says whether that was done by the deadline.
    ///
    /// # Errors
    /// The operating system cannot wait.
    pub fn close(mut self, deadline: Option<Instant>) -> Result<bool, RaknetError> {
        self.sessions.driver.with(Endpoint::close);
        loop {
            let now = now();
            if self.driver().machine().is_idle() {
                return Ok(true);
            }
            if deadline.is_some_and(|deadline| deadline <= now) {
                return Ok(false);
            }
            // Of some ends nobody is told.
            let look = now + LOOK;
            self.sessions
                .wait_for(Some(deadline.map_or(look, |deadline| deadline.min(look))), |_| None::<()>)?;
        }
    }

    /// Sets what the answer to a ping carries, at most 399 bytes.
    ///
    /// # Errors
    /// The data is too long; the old data stays.
    pub fn set_pong_data(&mut self, data: impl Into<Bytes>) -> Result<(), OfflineError> {
        self.sessions.driver.with(|machine, _| machine.set_pong_data(data))
    }

    /// Returns the address, with the port that the operating system chose where none was asked for.
    pub const fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Returns a session's statistics; `None` once it is over.
    pub fn peer_stats(&self, peer: PeerId) -> Option<PeerStats> {
        self.driver().machine().peer_stats(peer)
    }

    /// Returns the statistics of all sessions together.
    pub fn stats(&self) -> EndpointStats {
        self.driver().machine().stats()
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
    pub const fn driver(&self) -> &Blocking<Endpoint> {
        &self.sessions.driver
    }
}

#[allow(clippy::disallowed_methods, reason = "a driver reads the clock")]
fn now() -> Instant {
    Instant::now()
}

/// How often an end that is under way is looked at.
const LOOK: Duration = Duration::from_millis(5);
