//! The system calls behind a stream.

use bytes::Bytes;
use socket2::Socket;
use std::{
    io::{self, IoSlice, Read},
    iter,
};

use super::outgoing::{Tail, Writer, write};
use crate::sockets::flags::SEND;
use crate::{runtime::Progress, stats::Traffic};

/// What a stream's descriptor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Device {
    /// A connected socket.
    Socket,
    /// A serial line, which is not for a socket's calls.
    #[cfg(all(unix, feature = "serial"))]
    Line,
}

impl Device {
    /// Reads what is there, up to the length of `buffer`; nothing means the end of input.
    ///
    /// # Errors
    /// The operating system's error.
    pub fn read(self, mut socket: &Socket, buffer: &mut [u8]) -> io::Result<Progress<usize>> {
        let room = buffer.len();
        match self {
            Self::Socket => {
                let len = socket.read(buffer)?;
                // Less than there was room for was all there was.
                Ok(if len < room { Progress::Last(len) } else { Progress::More(len) })
            }
            #[cfg(all(unix, feature = "serial"))]
            Self::Line => Ok(Progress::More(rustix::io::read(socket, buffer)?)),
        }
    }
}

/// A device's way out.
#[derive(Clone, Copy, Debug)]
pub struct StreamWriter<'a> {
    /// What the descriptor is.
    pub device: Device,
    /// The descriptor.
    pub socket: &'a Socket,
}

impl StreamWriter<'_> {
    /// Writes `bytes` and then `pieces` until all is written or the device takes no more, and returns how much it took.
    ///
    /// Pieces leave together with what stands before them, in one system call where one can take them all. Bytes alone
    /// are cut into parts of 60,000.
    pub fn write(&self, bytes: &[u8], pieces: &[Bytes], sent: &mut Traffic) -> (usize, io::Result<()>) {
        write(self, iter::once(bytes).chain(pieces.iter().map(Bytes::as_ref)), sent)
    }

    /// Writes what was kept of an earlier write.
    ///
    /// # Errors
    /// The operating system's error; [`WouldBlock`](io::ErrorKind::WouldBlock) says that some is left.
    pub fn flush(&self, tail: &mut Tail, sent: &mut Traffic) -> io::Result<()> {
        tail.flush(self, sent)
    }
}

impl Writer for StreamWriter<'_> {
    fn try_write(&self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        match self.device {
            Device::Socket => match slices {
                [single] => self.socket.send_with_flags(single, SEND),
                several => self.socket.send_vectored_with_flags(several, SEND),
            },
            #[cfg(all(unix, feature = "serial"))]
            Device::Line => Ok(rustix::io::writev(self.socket, slices)?),
        }
    }
}
