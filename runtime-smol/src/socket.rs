//! Sockets in async-io's reactor.

use async_io::Async;
use runtime_core::{Interest, Progress, SocketIo};
use socket2::{SockRef, Socket};
use std::{
    io,
    task::{Context, Poll, ready},
};

/// A socket of any kind registered with async-io.
#[derive(Debug)]
pub struct SmolSocket {
    socket: Async<Socket>,
    /// Directions that were seen to be exhausted: they wait before the next try.
    read_waits: bool,
    write_waits: bool,
}

impl SmolSocket {
    /// Registers a socket with the reactor.
    ///
    /// # Errors
    /// The reactor cannot take the socket.
    pub fn new(socket: Socket) -> io::Result<Self> {
        Ok(Self { socket: Async::new(socket)?, read_waits: false, write_waits: false })
    }
}

impl SocketIo for SmolSocket {
    fn socket(&self) -> SockRef<'_> {
        SockRef::from(self.socket.get_ref())
    }

    fn poll_io<T>(
        &mut self,
        interest: Interest,
        cx: &mut Context<'_>,
        mut operation: impl FnMut(&Socket) -> io::Result<Progress<T>>,
    ) -> Poll<io::Result<T>> {
        let Self { socket, read_waits, write_waits } = self;
        let waits = match interest {
            Interest::Read => read_waits,
            Interest::Write => write_waits,
        };
        loop {
            // async-io reports no readiness that was there before it was asked, so a try comes first.
            if *waits {
                match interest {
                    Interest::Read => ready!(socket.poll_readable(cx))?,
                    Interest::Write => ready!(socket.poll_writable(cx))?,
                }
                *waits = false;
            }
            match operation(socket.get_ref()) {
                Ok(Progress::More(value)) => return Poll::Ready(Ok(value)),
                Ok(Progress::Last(value)) => {
                    *waits = true;
                    return Poll::Ready(Ok(value));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => *waits = true,
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}
