//! The system calls behind a stream.

use socket2::Socket;
use std::{
    ffi::c_int,
    io::{self, IoSlice, Read},
};

use super::outgoing::Writer;
use crate::runtime::Progress;

/// What a stream's descriptor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Device {
    /// A connected socket.
    Socket,
    /// A serial line, which is not for a socket's calls.
    #[cfg(all(unix, feature = "serial"))]
    Line,
}

impl Device {
    /// Reads what is there, up to the length of `buffer`; nothing means the end of input.
    pub(super) fn read(self, mut socket: &Socket, buffer: &mut [u8]) -> io::Result<Progress<usize>> {
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
pub(super) struct Outlet<'a> {
    pub(super) device: Device,
    pub(super) socket: &'a Socket,
}

impl Writer for Outlet<'_> {
    fn try_write(&self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        match self.device {
            Device::Socket => match slices {
                [single] => self.socket.send_with_flags(single, NO_SIGNAL),
                several => self.socket.send_vectored_with_flags(several, NO_SIGNAL),
            },
            #[cfg(all(unix, feature = "serial"))]
            Device::Line => Ok(rustix::io::writev(self.socket, slices)?),
        }
    }
}

/// Writing to a peer that is gone is an error, not the end of a process that is not of Rust.
#[cfg(all(unix, not(target_vendor = "apple")))]
const NO_SIGNAL: c_int = rustix::net::SendFlags::NOSIGNAL.bits().cast_signed();
/// Other systems have no such signal, or have it turned off for the socket.
#[cfg(not(all(unix, not(target_vendor = "apple"))))]
const NO_SIGNAL: c_int = 0;
