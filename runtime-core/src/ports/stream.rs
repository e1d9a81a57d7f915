//! A stream link: one TCP connection, local socket, child process or serial line.
//!
//! ```text
//!  Connecting --connected: Up--> Open --machine's close, with unsent bytes--> Leaving --sent, or too late--> gone
//!      |                          |  end of input: Eof, and sending goes on
//!      +--error, time: Down       +--error: what arrived before is read, then Down
//! ```

use bytes::Bytes;
use proto_core::{DownReason, Flow, Instant, LinkEvent, LinkId, Machine};
use socket2::Socket;
use std::{
    io::{self, ErrorKind},
    task::{Context, Poll, ready},
    time::Duration,
};

use super::{Round, Turn, piece::PIECE_LEN};
#[cfg(unix)]
use crate::sockets::Child;
use crate::{
    Stats,
    runtime::{Interest, Progress, SocketIo},
    sockets::{Device, Outbox, StreamSource, StreamWriter, Tail, ip, reason_of},
};

/// One stream of a driver.
pub(super) struct Stream<S> {
    io: S,
    device: Device,
    stage: Stage,
    /// What the socket had no room for; while it is there, the machine sends nothing on this link.
    tail: Tail,
    input: Half,
    output: Half,
    /// Why the link goes down when there is nothing left to read.
    end: Option<DownReason>,
    #[cfg(unix)]
    _child: Option<Child>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Not yet reported to the machine.
    Connecting { until: Instant },
    /// In use.
    Open,
    /// Closed for the machine.
    Leaving { until: Instant },
}

/// Whether a direction is still in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Half {
    Open,
    Ended,
}

impl<S: SocketIo> Stream<S> {
    /// Creates a stream that is reported as up once it is connected.
    ///
    /// # Errors
    /// The reactor cannot take the socket.
    pub(super) fn connecting(
        source: StreamSource,
        now: Instant,
        register: impl FnOnce(Socket) -> io::Result<S>,
    ) -> io::Result<Self> {
        Ok(Self {
            io: register(source.socket)?,
            device: source.device,
            stage: Stage::Connecting { until: now + CONNECT_TIMEOUT },
            tail: Tail::default(),
            input: Half::Open,
            output: Half::Open,
            end: source.end,
            #[cfg(unix)]
            _child: source.child,
        })
    }

    /// Creates a stream that a listener took in.
    pub(super) fn accepted(io: S) -> Self {
        Self {
            io,
            device: Device::Socket,
            stage: Stage::Open,
            tail: Tail::default(),
            input: Half::Open,
            output: Half::Open,
            end: None,
            #[cfg(unix)]
            _child: None,
        }
    }

    /// Sends `bytes` and then `pieces`, or keeps what the socket has no room for.
    pub(super) fn send(&mut self, bytes: &[u8], pieces: &[Bytes], out: &mut Outbox<'_>) -> Flow {
        debug_assert!(self.tail.is_empty(), "the machine sent on a blocked link");
        if self.stage != Stage::Open || self.output == Half::Ended || !self.tail.is_empty() {
            return Flow::Sent;
        }
        let writer = StreamWriter { device: self.device, socket: &self.io.socket() };
        let (done, result) = writer.write(bytes, pieces, &mut out.stats.sent);
        match result {
            Ok(()) => Flow::Sent,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                out.count_blocked();
                self.tail.keep(bytes, pieces, done);
                Flow::Blocked
            }
            Err(error) => {
                out.count_error(&error);
                self.fail(&error);
                Flow::Sent
            }
        }
    }

    /// Ends the link for the machine. Says whether it must stay a while longer, until what was kept is sent.
    pub(super) fn leave(&mut self, now: Instant, stats: &mut Stats) -> bool {
        if self.stage != Stage::Open {
            return false;
        }
        let writer = StreamWriter { device: self.device, socket: &self.io.socket() };
        let flushed = writer.flush(&mut self.tail, &mut stats.sent);
        self.stage = Stage::Leaving { until: now + LEAVE_TIMEOUT };
        flushed.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
    }

    /// Does what can be done without waiting: connects, sends what was kept, reads a piece.
    pub(super) fn turn<M: Machine, F>(
        &mut self,
        link: LinkId,
        cx: &mut Context<'_>,
        round: &mut Round<'_, M, F>,
    ) -> Turn {
        match self.stage {
            Stage::Connecting { until } => match self.poll_connected(cx) {
                Poll::Pending if until <= round.now => return Turn::Down(DownReason::TimedOut),
                Poll::Pending => return Turn::Asleep,
                Poll::Ready(Err(error)) => {
                    round.shared.lock().stats.count_send_error(&error);
                    return Turn::Down(reason_of(&error));
                }
                Poll::Ready(Ok(())) => {
                    self.stage = Stage::Open;
                    round.tell(link, self.up());
                }
            },
            Stage::Open => {}
            Stage::Leaving { until } => {
                let flushed = self.poll_flush(cx, &mut round.shared.lock().stats).is_ready();
                return if flushed || until <= round.now { Turn::Over } else { Turn::Asleep };
            }
        }
        if self.has_unsent() {
            let flushed = self.poll_flush(cx, &mut round.shared.lock().stats).is_ready();
            if flushed && self.output == Half::Open {
                round.tell(link, LinkEvent::Writable);
            }
        }
        self.read(link, cx, round)
    }

    /// Returns when the stream wants a turn even if nothing happens.
    pub(super) const fn due(&self) -> Option<Instant> {
        match self.stage {
            Stage::Connecting { until } | Stage::Leaving { until } => Some(until),
            Stage::Open => None,
        }
    }

    pub(super) fn has_unsent(&self) -> bool {
        !self.tail.is_empty()
    }

    /// Says whether sending left something to do.
    pub(super) fn wants_turn(&self) -> bool {
        self.has_unsent() || self.output == Half::Ended
    }

    fn poll_connected(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let device = self.device;
        if device != Device::Socket {
            return Poll::Ready(Ok(()));
        }
        self.io.poll_io(Interest::Write, cx, |socket| {
            let connected = StreamSource::is_connected(device, socket)?;
            if connected { Ok(Progress::More(())) } else { Err(ErrorKind::WouldBlock.into()) }
        })
    }

    /// Sends what was kept, until nothing is left of it.
    fn poll_flush(&mut self, cx: &mut Context<'_>, stats: &mut Stats) -> Poll<()> {
        let Self { io, device, tail, .. } = self;
        let flushed = ready!(io.poll_io(Interest::Write, cx, |socket| {
            StreamWriter { device: *device, socket }.flush(tail, &mut stats.sent).map(Progress::More)
        }));
        if let Err(error) = flushed {
            stats.count_send_error(&error);
            self.fail(&error);
        }
        Poll::Ready(())
    }

    /// Reads up to a piece into the machine.
    fn read<M: Machine, F>(
        &mut self,
        link: LinkId,
        cx: &mut Context<'_>,
        round: &mut Round<'_, M, F>,
    ) -> Turn {
        let Round { shared, now, piece, bytes, any, .. } = round;
        let mut taken = 0;
        while self.input == Half::Open {
            if taken >= PIECE_LEN {
                return Turn::Again;
            }
            let mut guard = shared.lock();
            let state = &mut *guard;
            if !state.machine.wants_read(link) {
                if let (Half::Ended, Some(reason)) = (self.output, self.end) {
                    return Turn::Down(reason);
                }
                state.holding_back = true;
                return Turn::HeldBack;
            }
            let lent = state.machine.recv_buffer(link).filter(|buffer| !buffer.is_empty());
            let is_lent = lent.is_some();
            let received = if let Some(buffer) = lent {
                self.poll_read(buffer, cx)
            } else {
                drop(guard);
                let received = self.poll_read(piece, cx);
                guard = shared.lock();
                received
            };
            let Poll::Ready(received) = received else { return Turn::Asleep };
            *any = true;
            let state = &mut *guard;
            match received {
                Ok(0) => {
                    self.input = Half::Ended;
                    if self.end.is_none() {
                        state.machine.handle_link(*now, link, LinkEvent::Eof);
                    }
                }
                Ok(len) => {
                    taken += len;
                    *bytes += len;
                    state.stats.received.add(0, len);
                    if is_lent {
                        state.machine.handle_filled(*now, link, len);
                    } else {
                        state.machine.handle_stream(*now, link, piece.get_mut(..len).unwrap_or_default());
                    }
                }
                Err(error) => {
                    state.stats.count_receive_error(&error);
                    return Turn::Down(self.end.unwrap_or_else(|| reason_of(&error)));
                }
            }
        }
        self.end.map_or(Turn::Asleep, Turn::Down)
    }

    fn poll_read(&mut self, buffer: &mut [u8], cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let device = self.device;
        self.io.poll_io(Interest::Read, cx, |socket| device.read(socket, buffer))
    }

    /// Takes note that nothing can be sent any more. What arrived before may still be read.
    fn fail(&mut self, error: &io::Error) {
        self.tail.clear();
        self.output = Half::Ended;
        self.end = self.end.or_else(|| Some(reason_of(error)));
    }

    fn up(&self) -> LinkEvent {
        let socket = self.io.socket();
        LinkEvent::Up { local: ip(socket.local_addr()), peer: ip(socket.peer_addr()) }
    }
}

/// How long connecting may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// How long the peer has to take what was sent before the close.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(5);
