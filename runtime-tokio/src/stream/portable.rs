//! A stream socket in tokio's reactor.

use runtime_core::Interest;
use socket2::{SockRef, Socket};
use std::{
    io,
    task::{Context, Poll},
};
use tokio::{io::Interest as Direction, net::TcpStream};

use crate::portable::{TokioSocket, Watched};

/// A TCP socket registered with tokio. tokio watches one that listens as it watches one that is connected.
pub type TokioStream = TokioSocket<TcpStream>;

impl TokioStream {
    pub(crate) fn new(socket: Socket) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        Ok(Self::watching(TcpStream::from_std(socket.into())?))
    }
}

impl Watched for TcpStream {
    fn socket(&self) -> SockRef<'_> {
        SockRef::from(self)
    }

    fn poll_ready(&self, interest: Interest, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match interest {
            Interest::Read => self.poll_read_ready(cx),
            Interest::Write => self.poll_write_ready(cx),
        }
    }

    fn try_io<T>(&self, direction: Direction, operation: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        self.try_io(direction, operation)
    }
}
