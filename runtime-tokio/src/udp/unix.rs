//! A UDP socket whose reactor only watches what is waited for.

use runtime_core::{Interest, Progress, SocketIo};
use socket2::{SockRef, Socket};
use std::{
    io::{self, ErrorKind},
    net::UdpSocket,
    task::{Context, Poll, ready},
};
use tokio::io::{Interest as Direction, unix::AsyncFd};

use crate::readiness::{poll_io, watch};

/// A UDP socket registered with tokio.
///
/// tokio's own `UdpSocket` watches both directions, so that every datagram which leaves the send buffer wakes the
/// sender: a futile wake-up for each one sent. Here the reactor watches for arrivals, and for room only while the
/// socket is full, through a second descriptor.
#[derive(Debug)]
pub struct TokioUdp {
    arrivals: AsyncFd<UdpSocket>,
    room: Option<AsyncFd<UdpSocket>>,
}

impl TokioUdp {
    pub(crate) fn new(socket: UdpSocket) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        Ok(Self { arrivals: watch(socket, Direction::READABLE)?, room: None })
    }

    fn poll_write<T>(
        &mut self,
        cx: &mut Context<'_>,
        operation: &mut impl FnMut(&Socket) -> io::Result<Progress<T>>,
    ) -> Poll<io::Result<T>> {
        loop {
            // Whether there is room is tried out first: it usually is.
            match operation(&self.socket()) {
                Ok(Progress::More(value) | Progress::Last(value)) => {
                    self.room = None;
                    return Poll::Ready(Ok(value));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
            if self.room.is_none() {
                let second = self.arrivals.get_ref().try_clone()?;
                self.room = Some(watch(second, Direction::WRITABLE)?);
            }
            if let Some(room) = &self.room {
                ready!(room.poll_write_ready(cx))?.clear_ready();
            }
        }
    }
}

impl SocketIo for TokioUdp {
    fn socket(&self) -> SockRef<'_> {
        SockRef::from(self.arrivals.get_ref())
    }

    fn poll_io<T>(
        &mut self,
        interest: Interest,
        cx: &mut Context<'_>,
        mut operation: impl FnMut(&Socket) -> io::Result<Progress<T>>,
    ) -> Poll<io::Result<T>> {
        match interest {
            Interest::Read => {
                poll_io(&self.arrivals, interest, cx, |socket| operation(&SockRef::from(socket)))
            }
            Interest::Write => self.poll_write(cx, &mut operation),
        }
    }
}
