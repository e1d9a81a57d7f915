//! Streams: TCP connections, local sockets, child processes, serial lines.

mod device;
mod outgoing;
#[cfg(unix)]
mod pipe;
#[cfg(all(unix, feature = "serial"))]
mod serial;
mod source;
mod tcp;
#[cfg(unix)]
mod unix;

pub use device::{Device, StreamWriter};
pub use outgoing::Tail;
#[cfg(unix)]
pub use pipe::{Child, spawn_pipe};
#[cfg(all(unix, feature = "serial"))]
pub use serial::open_serial;
pub use source::{ListenerSource, StreamSource, ip};
pub use tcp::{connect_tcp, listen_tcp, tune_tcp};
#[cfg(unix)]
pub use unix::{SocketFile, connect_unix, listen_unix};

use socket2::{SockAddr, Socket};
use std::io;

/// Starts to connect a non-blocking socket.
fn connect(socket: &Socket, address: &SockAddr) -> io::Result<()> {
    match socket.connect(address) {
        Err(error) if !is_under_way(&error) => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

#[cfg(unix)]
fn is_under_way(error: &io::Error) -> bool {
    rustix::io::Errno::from_io_error(error) == Some(rustix::io::Errno::INPROGRESS)
}

#[cfg(not(unix))]
fn is_under_way(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock
}

/// Connections that may wait to be taken in.
const BACKLOG: i32 = 1_024;
