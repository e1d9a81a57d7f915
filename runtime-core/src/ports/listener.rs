//! A link that takes in streams.

use proto_core::{Instant, LinkId, Machine};
use socket2::Socket;
use std::{
    io::{self, ErrorKind},
    net::SocketAddr,
    task::{Context, Poll},
    time::Duration,
};

use super::{Round, Turn};
#[cfg(unix)]
use crate::sockets::SocketFile;
use crate::{
    runtime::{Interest, Progress, SocketIo},
    sockets::ListenerSource,
};

/// One listening socket of a driver.
pub(super) struct Listener<S> {
    io: S,
    /// Taking in failed, so it is not tried again before.
    resting_until: Option<Instant>,
    #[cfg(unix)]
    _file: Option<SocketFile>,
}

/// A stream that was taken in and has no number yet.
#[derive(Debug)]
pub(super) struct Accepted {
    pub(super) listener: LinkId,
    pub(super) socket: Socket,
    pub(super) peer: Option<SocketAddr>,
}

impl<S: SocketIo> Listener<S> {
    /// Creates a listener.
    ///
    /// # Errors
    /// The reactor cannot take the socket.
    pub(super) fn new(
        source: ListenerSource,
        register: impl FnOnce(Socket) -> io::Result<S>,
    ) -> io::Result<Self> {
        Ok(Self {
            io: register(source.socket)?,
            resting_until: None,
            #[cfg(unix)]
            _file: source.file,
        })
    }

    /// Takes in the streams that wait, unless the machine wants to read nothing from the listener.
    pub(super) fn turn<M: Machine, F>(
        &mut self,
        link: LinkId,
        cx: &mut Context<'_>,
        round: &mut Round<'_, M, F>,
    ) -> Turn {
        if self.resting_until.is_some_and(|until| round.now < until) {
            return Turn::Asleep;
        }
        self.resting_until = None;
        {
            let mut state = round.shared.lock();
            if !state.machine.wants_read(link) {
                state.holding_back = true;
                return Turn::HeldBack;
            }
        }
        for _ in 0..ACCEPTS_PER_TURN {
            match self.poll_accept(cx) {
                Poll::Pending => return Turn::Asleep,
                Poll::Ready(Ok((socket, peer))) => {
                    round.any = true;
                    round.accepted.push(Accepted { listener: link, socket, peer });
                }
                Poll::Ready(Err(error)) => {
                    round.shared.lock().stats.count_receive_error(&error);
                    // A peer that gave up is no reason to rest; a process without free descriptors is.
                    if error.kind() != ErrorKind::ConnectionAborted {
                        self.resting_until = Some(round.now + REST);
                        return Turn::Asleep;
                    }
                }
            }
        }
        Turn::Again
    }

    /// Returns when the listener wants a turn even if nothing happens.
    pub(super) const fn due(&self) -> Option<Instant> {
        self.resting_until
    }

    fn poll_accept(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<(Socket, Option<SocketAddr>)>> {
        self.io.poll_io(Interest::Read, cx, |listener| ListenerSource::accept(listener).map(Progress::More))
    }
}

/// Streams that a listener takes in before others get their turn.
const ACCEPTS_PER_TURN: usize = 64;

/// How long a listener that cannot take in is left alone.
const REST: Duration = Duration::from_millis(50);
