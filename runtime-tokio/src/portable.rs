//! tokio's own sockets, for systems whose reactor takes no others.

use runtime_core::{Interest, Progress, SocketIo};
use socket2::{SockRef, Socket};
use std::{
    fmt::Debug,
    io,
    task::{Context, Poll, ready},
};
use tokio::io::Interest as Direction;

/// A socket registered with tokio, which watches it in both directions.
#[derive(Debug)]
pub struct TokioSocket<S> {
    socket: S,
}

/// A socket of tokio's.
pub(crate) trait Watched: Debug + Send + Unpin + 'static {
    /// Returns the socket for system calls.
    fn socket(&self) -> SockRef<'_>;

    /// Waits until the socket may be ready.
    fn poll_ready(&self, interest: Interest, cx: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// Runs `operation` if the socket may be ready. When it would block, the socket counts as not ready.
    fn try_io<T>(&self, direction: Direction, operation: impl FnOnce() -> io::Result<T>) -> io::Result<T>;
}

impl<S> TokioSocket<S> {
    pub(crate) const fn watching(socket: S) -> Self {
        Self { socket }
    }
}

impl<S: Watched> SocketIo for TokioSocket<S> {
    fn socket(&self) -> SockRef<'_> {
        self.socket.socket()
    }

    fn poll_io<T>(
        &mut self,
        interest: Interest,
        cx: &mut Context<'_>,
        mut operation: impl FnMut(&Socket) -> io::Result<Progress<T>>,
    ) -> Poll<io::Result<T>> {
        let direction = match interest {
            Interest::Read => Direction::READABLE,
            Interest::Write => Direction::WRITABLE,
        };
        loop {
            ready!(self.socket.poll_ready(interest, cx))?;
            // tokio takes "would block" as the sign to wait for the next edge. An operation that saw the end of what
            // there was gives the same sign, and its result goes past tokio.
            let mut last = None;
            let tried = self.socket.try_io(direction, || match operation(&self.socket.socket())? {
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
