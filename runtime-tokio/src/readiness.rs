//! Waiting for descriptors in tokio's reactor.

use runtime_core::{Interest, Progress};
use std::{
    io::{self, ErrorKind},
    os::fd::AsRawFd,
    task::{Context, Poll, ready},
};
use tokio::io::{Interest as Direction, unix::AsyncFd};

/// Registers a socket for `directions`.
pub(crate) fn watch<S: AsRawFd>(socket: S, directions: Direction) -> io::Result<AsyncFd<S>> {
    #[allow(
        deprecated,
        reason = "its replacement is unsafe for the sake of types that change their descriptor"
    )]
    AsyncFd::with_interest(socket, directions)
}

/// Runs `operation` whenever the reactor says that it may succeed, until it does not want to wait any more.
pub(crate) fn poll_io<S: AsRawFd, T>(
    watched: &AsyncFd<S>,
    interest: Interest,
    cx: &mut Context<'_>,
    mut operation: impl FnMut(&S) -> io::Result<Progress<T>>,
) -> Poll<io::Result<T>> {
    loop {
        let mut ready = match interest {
            Interest::Read => ready!(watched.poll_read_ready(cx))?,
            Interest::Write => ready!(watched.poll_write_ready(cx))?,
        };
        match operation(watched.get_ref()) {
            Ok(Progress::More(value)) => return Poll::Ready(Ok(value)),
            Ok(Progress::Last(value)) => {
                ready.clear_ready();
                return Poll::Ready(Ok(value));
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => ready.clear_ready(),
            Err(error) => return Poll::Ready(Err(error)),
        }
    }
}
