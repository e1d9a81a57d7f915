//! What a driver needs from an async runtime.

use socket2::{SockRef, Socket};
use std::{
    io,
    task::{Context, Poll},
    time::{Duration, Instant},
};

/// An async runtime: where tasks, sockets and timers come from.
///
/// The implementor is a name only; nothing is stored in it. All functions must be called where the runtime can be
/// found (inside a tokio runtime, say).
pub trait Runtime: Send + Sync + Unpin + 'static {
    /// A UDP socket registered with the reactor.
    type Udp: SocketIo;
    /// A stream socket registered with the reactor: one that listens, connects or is connected.
    type Stream: SocketIo;
    /// A timer that can be armed again and again.
    type Timer: Timer;

    /// Registers a bound socket with the reactor.
    ///
    /// # Errors
    /// The reactor's error, where it cannot take the socket.
    fn udp(socket: std::net::UdpSocket) -> io::Result<Self::Udp>;

    /// Registers a stream socket of any family with the reactor. On Unix it may hold any other descriptor that can be
    /// watched, such as a serial line's.
    ///
    /// # Errors
    /// The reactor's error, where it cannot take the socket.
    fn stream(socket: Socket) -> io::Result<Self::Stream>;

    /// Creates a timer that is not armed.
    ///
    /// # Errors
    /// The operating system's error, where it has no more timers.
    fn timer() -> io::Result<Self::Timer>;

    /// Runs `task` in the background until it is done.
    fn spawn(task: impl Future<Output = ()> + Send + 'static);

    /// Reads the monotonic clock.
    fn now() -> Instant;
}

/// A direction of a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interest {
    /// Receiving.
    Read,
    /// Sending.
    Write,
}

/// How an operation that succeeded left its device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress<T> {
    /// Trying again at once may succeed too.
    More(T),
    /// The operation saw the end of what there was, so trying again without waiting is futile.
    Last(T),
}

/// A non-blocking socket whose readiness can be awaited.
pub trait SocketIo: Send + Unpin + 'static {
    /// Returns the socket for system calls.
    fn socket(&self) -> SockRef<'_>;

    /// Runs `operation` when the socket may be ready, as often as it takes until it does not fail with
    /// [`io::ErrorKind::WouldBlock`]; while the socket is not ready, the task of `cx` is woken once it is.
    ///
    /// After [`Progress::Last`] the next call waits before it tries, which saves a futile system call.
    fn poll_io<T>(
        &mut self,
        interest: Interest,
        cx: &mut Context<'_>,
        operation: impl FnMut(&Socket) -> io::Result<Progress<T>>,
    ) -> Poll<io::Result<T>>;
}

/// A timer that wakes a task at an instant, as precisely as the platform can.
pub trait Timer: Send + Unpin + 'static {
    /// Sets the instant, replacing the one before. It may be reported up to `slack` late, where that is cheaper.
    fn arm(&mut self, at: Instant, slack: Duration);

    /// Reports once that the instant has come; until then the task of `cx` is woken when it does. It may report
    /// early.
    fn poll_expired(&mut self, cx: &mut Context<'_>) -> Poll<()>;
}
