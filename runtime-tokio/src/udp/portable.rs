//! A UDP socket in tokio's reactor.

use runtime_core::{Interest, Progress, SocketIo};
use socket2::{SockRef, Socket};
use std::{
    io,
    task::{Context, Poll, ready},
};
use tokio::{io::Interest as Direction, net::UdpSocket};

/// A UDP socket registered with tokio.
#[derive(Debug)]
pub struct TokioUdp {
    socket: UdpSocket,
}

impl TokioUdp {
    pub(crate) fn new(socket: std::net::UdpSocket) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        Ok(Self { socket: UdpSocket::from_std(socket)? })
    }
}

impl SocketIo for TokioUdp {
    fn socket(&self) -> SockRef<'_> {
        SockRef::from(&self.socket)
    }

    fn poll_io<T>(
        &mut self,
        interest: Interest,
        cx: &mut Context<'_>,
        mut operation: impl FnMut(&Socket) -> io::Result<Progress<T>>,
    ) -> Poll<io::Result<T>> {
        loop {
            let direction = match interest {
                Interest::Read => {
                    ready!(self.socket.poll_recv_ready(cx))?;
                    Direction::READABLE
                }
                Interest::Write => {
                    ready!(self.socket.poll_send_ready(cx))?;
                    Direction::WRITABLE
                }
            };
            // tokio takes "would block" as the sign to wait for the next edge. An operation that saw the end of what
            // there was gives the same sign, and its result goes past tokio.
            let mut last = None;
            let tried = self.socket.try_io(direction, || match operation(&SockRef::from(&self.socket))? {
                Progress::More(value) => Ok(value),
                Progress::Last(value) => {
                    last = Some(value);
                    Err(io::ErrorKind::WouldBlock.into())
                }
            });
            match (tried, last) {
                (_, Some(value)) => return Poll::Ready(Ok(value)),
                (Err(error), None) if error.kind() == io::ErrorKind::WouldBlock => {}
                (tried, None) => return Poll::Ready(tried),
            }
        }
    }
}
