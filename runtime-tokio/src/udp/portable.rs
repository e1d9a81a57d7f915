//! A UDP socket in tokio's reactor.

use runtime_core::Interest;
use socket2::SockRef;
use std::{
    io,
    task::{Context, Poll},
};
use tokio::{io::Interest as Direction, net::UdpSocket};

use crate::portable::{TokioSocket, Watched};

/// A UDP socket registered with tokio.
pub type TokioUdp = TokioSocket<UdpSocket>;

impl TokioUdp {
    pub(crate) fn new(socket: std::net::UdpSocket) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        Ok(Self::watching(UdpSocket::from_std(socket)?))
    }
}

impl Watched for UdpSocket {
    fn socket(&self) -> SockRef<'_> {
        SockRef::from(self)
    }

    fn poll_ready(&self, interest: Interest, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match interest {
            Interest::Read => self.poll_recv_ready(cx),
            Interest::Write => self.poll_send_ready(cx),
        }
    }

    fn try_io<T>(&self, direction: Direction, operation: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        self.try_io(direction, operation)
    }
}
