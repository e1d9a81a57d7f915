//! Descriptors that are to become links, and what they are tied to.

use proto_core::DownReason;
use socket2::{SockAddr, Socket};
use std::{
    io::{self, ErrorKind},
    net::SocketAddr,
};

#[cfg(unix)]
use super::{Child, SocketFile};
use super::{Device, tune_tcp};

/// A stream that is connected or connecting.
#[derive(Debug)]
pub struct StreamSource {
    /// The descriptor.
    pub socket: Socket,
    /// What it is.
    pub device: Device,
    /// What the end of input says of the whole link; `None`: only that the peer will send no more.
    pub end: Option<DownReason>,
    /// The process at the other end.
    #[cfg(unix)]
    pub child: Option<Child>,
}

impl From<Socket> for StreamSource {
    fn from(socket: Socket) -> Self {
        Self {
            socket,
            device: Device::Socket,
            end: None,
            #[cfg(unix)]
            child: None,
        }
    }
}

impl StreamSource {
    /// Says whether the stream is connected by now.
    ///
    /// # Errors
    /// Why it will never be.
    pub fn is_connected(device: Device, socket: &Socket) -> io::Result<bool> {
        if device != Device::Socket {
            return Ok(true);
        }
        if let Some(error) = socket.take_error()? {
            return Err(error);
        }
        match socket.peer_addr() {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotConnected => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// A listening socket.
#[derive(Debug)]
pub struct ListenerSource {
    /// The socket.
    pub socket: Socket,
    /// The file that its peers find it by.
    #[cfg(unix)]
    pub file: Option<SocketFile>,
}

impl From<Socket> for ListenerSource {
    fn from(socket: Socket) -> Self {
        Self {
            socket,
            #[cfg(unix)]
            file: None,
        }
    }
}

impl ListenerSource {
    /// Takes in a stream that waits, non-blocking and set up as every stream is.
    ///
    /// # Errors
    /// The operating system's error; [`ErrorKind::WouldBlock`] where nobody waits.
    pub fn accept(listener: &Socket) -> io::Result<(Socket, Option<SocketAddr>)> {
        let (socket, peer) = listener.accept()?;
        socket.set_nonblocking(true)?;
        let peer = peer.as_socket();
        if peer.is_some() {
            tune_tcp(&socket);
        }
        Ok((socket, peer))
    }
}

/// Returns an address that a machine can be told.
pub fn ip(address: io::Result<SockAddr>) -> Option<SocketAddr> {
    address.ok().and_then(|address| address.as_socket())
}
