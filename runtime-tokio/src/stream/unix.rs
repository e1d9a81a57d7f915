//! A stream socket of any family in tokio's reactor.

use runtime_core::{Interest, Progress, SocketIo};
use socket2::{SockRef, Socket};
use std::{
    io,
    task::{Context, Poll},
};
use tokio::io::{Interest as Direction, unix::AsyncFd};

use crate::readiness::{poll_io, watch};

/// A stream socket registered with tokio: one that listens, connects or is connected.
#[derive(Debug)]
pub struct TokioStream {
    socket: AsyncFd<Socket>,
}

impl TokioStream {
    pub(crate) fn new(socket: Socket) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        Ok(Self { socket: watch(socket, Direction::READABLE | Direction::WRITABLE)? })
    }
}

impl SocketIo for TokioStream {
    fn socket(&self) -> SockRef<'_> {
        SockRef::from(self.socket.get_ref())
    }

    fn poll_io<T>(
        &mut self,
        interest: Interest,
        cx: &mut Context<'_>,
        operation: impl FnMut(&Socket) -> io::Result<Progress<T>>,
    ) -> Poll<io::Result<T>> {
        poll_io(&self.socket, interest, cx, operation)
    }
}
