//! A datagram socket that is to become a link.

use quinn_udp::{UdpSockRef, UdpSocketState};
use std::{io, net::UdpSocket};

use super::options::set_fragmentation;

/// A bound, non-blocking datagram socket, and what has to be remembered of its options.
#[derive(Debug)]
pub struct DatagramSource {
    /// The socket.
    pub socket: UdpSocket,
    /// What was asked about fragmentation.
    pub(super) dont_fragment: Option<bool>,
}

impl DatagramSource {
    /// Prepares the socket for batches: runs of datagrams in one system call, and the congestion mark, the local address
    /// and the interface of each that arrives.
    ///
    /// # Errors
    /// The operating system's error.
    pub fn batching(&self) -> io::Result<UdpSocketState> {
        let state = UdpSocketState::new(UdpSockRef::from(&self.socket))?;
        // The preparation forbids fragmentation, whatever was asked before.
        if let Some(dont_fragment) = self.dont_fragment {
            set_fragmentation(&self.socket, dont_fragment)?;
        }
        Ok(state)
    }
}

impl From<UdpSocket> for DatagramSource {
    fn from(socket: UdpSocket) -> Self {
        Self { socket, dont_fragment: None }
    }
}
