//! A stream link: one TCP connection, local socket, child process or serial line.
//!
//! ```text
//!  Connecting --connected: Up--> Open --machine's close, with unsent bytes--> Leaving --sent, or too late--> gone
//!      |                          |  end of input: Eof, and sending goes on
//!      +--error, time: Down       +--error: what arrived before is read, then Down
//! ```

use bytes::Bytes;
use proto_core::{DownReason, Flow, Instant, LinkEvent, LinkId, Machine};
use runtime_core::{
    Progress, Stats,
    sockets::{Child, Device, Outbox, StreamSource, StreamWriter, Tail, ip, reason_of},
};
use rustix::net::recv;
use socket2::Socket;
use std::{
    io::{self, ErrorKind},
    time::Duration,
};

use super::{
    patience::Patience,
    round::{How, Round, Turn, Wants},
};

/// One stream of a driver.
#[derive(Debug)]
pub(super) struct Stream {
    socket: Socket,
    device: Device,
    stage: Stage,
    /// What the socket had no room for; while it is there, the machine sends nothing on this link.
    tail: Tail,
    input: Half,
    output: Half,
    /// Why the link goes down when there is nothing left to read.
    end: Option<DownReason>,
    patience: Patience,
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

impl Stream {
    /// Creates a stream that is reported as up once it is connected.
    pub(super) fn connecting(source: StreamSource, until: Instant) -> Self {
        Self::new(source, Stage::Connecting { until })
    }

    /// Creates a stream that a listener took in.
    pub(super) fn accepted(socket: Socket) -> Self {
        Self::new(socket.into(), Stage::Open)
    }

    fn new(source: StreamSource, stage: Stage) -> Self {
        let StreamSource { socket, device, end, child, .. } = source;
        Self {
            socket,
            device,
            stage,
            tail: Tail::default(),
            input: Half::Open,
            output: Half::Open,
            end,
            patience: Patience::default(),
            _child: child,
        }
    }

    /// Sends `bytes` and then `pieces`, or keeps what the socket has no room for.
    pub(super) fn send(&mut self, bytes: &[u8], pieces: &[Bytes], out: &mut Outbox<'_>) -> Flow {
        debug_assert!(self.tail.is_empty(), "the machine sent on a blocked link");
        if self.stage != Stage::Open || self.output == Half::Ended || !self.tail.is_empty() {
            return Flow::Sent;
        }
        let writer = StreamWriter { device: self.device, socket: &self.socket };
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
    pub(super) fn leave(&mut self, until: Instant, stats: &mut Stats) -> bool {
        if self.stage != Stage::Open {
            return false;
        }
        self.stage = Stage::Leaving { until };
        let writer = StreamWriter { device: self.device, socket: &self.socket };
        let flushed = writer.flush(&mut self.tail, &mut stats.sent);
        flushed.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
    }

    /// Does what can be done: connects, sends what was kept, reads.
    pub(super) fn turn<M: Machine>(
        &mut self,
        link: LinkId,
        how: How,
        scratch: &mut [u8],
        round: &mut Round<'_, M>,
    ) -> Turn {
        match self.stage {
            Stage::Connecting { until } => match StreamSource::is_connected(self.device, &self.socket) {
                Ok(false) if until <= round.now => return Turn::Down(DownReason::TimedOut),
                Ok(false) => return Turn::Drained,
                Err(error) => {
                    round.stats.count_send_error(&error);
                    return Turn::Down(reason_of(&error));
                }
                Ok(true) => {
                    self.stage = Stage::Open;
                    round.tell(link, self.up());
                    return Turn::More;
                }
            },
            Stage::Open => {}
            Stage::Leaving { until } => {
                let flushed = self.flush(round.stats);
                return if flushed || until <= round.now { Turn::Over } else { Turn::Drained };
            }
        }
        if self.has_unsent() && self.flush(round.stats) && self.output == Half::Open {
            round.tell(link, LinkEvent::Writable);
        }
        self.read(link, how, scratch, round)
    }

    /// Has the next reading call wait for less than `left`, if it can.
    pub(super) fn prepare_to_wait(&mut self, left: Option<Duration>) -> io::Result<bool> {
        if self.device != Device::Socket || self.stage != Stage::Open || self.end.is_some() {
            return Ok(false);
        }
        self.patience.prepare(&self.socket, left)
    }

    pub(super) fn wants(&self, held_back: bool) -> Wants {
        match self.stage {
            Stage::Connecting { .. } | Stage::Leaving { .. } => Wants { read: false, write: true },
            Stage::Open => Wants { read: self.input == Half::Open && !held_back, write: self.has_unsent() },
        }
    }

    /// Says whether the stream wants a turn whether or not its socket is ready.
    pub(super) fn is_due(&self) -> bool {
        self.output == Half::Ended
    }

    /// Returns when the stream wants a turn even if nothing happens.
    pub(super) const fn deadline(&self) -> Option<Instant> {
        match self.stage {
            Stage::Connecting { until } | Stage::Leaving { until } => Some(until),
            Stage::Open => None,
        }
    }

    pub(super) fn has_unsent(&self) -> bool {
        !self.tail.is_empty()
    }

    pub(super) const fn socket(&self) -> &Socket {
        &self.socket
    }

    /// Sends what was kept, and says whether nothing is left of it.
    fn flush(&mut self, stats: &mut Stats) -> bool {
        let writer = StreamWriter { device: self.device, socket: &self.socket };
        match writer.flush(&mut self.tail, &mut stats.sent) {
            Ok(()) => true,
            Err(error) if error.kind() == ErrorKind::WouldBlock => false,
            Err(error) => {
                stats.count_send_error(&error);
                self.fail(&error);
                true
            }
        }
    }

    /// Reads into the machine.
    fn read<M: Machine>(
        &mut self,
        link: LinkId,
        how: How,
        scratch: &mut [u8],
        round: &mut Round<'_, M>,
    ) -> Turn {
        for _ in 0..how.reads() {
            if self.input == Half::Ended {
                return self.end.map_or(Turn::Drained, Turn::Down);
            }
            if !round.machine.wants_read(link) {
                return match (self.output, self.end) {
                    (Half::Ended, Some(reason)) => Turn::Down(reason),
                    (Half::Open | Half::Ended, _) => Turn::HeldBack,
                };
            }
            let lent = round.machine.recv_buffer(link).filter(|buffer| !buffer.is_empty());
            let is_lent = lent.is_some();
            let received = self.receive(how, lent.unwrap_or(scratch));
            let (len, more) = match received {
                Ok(Progress::More(len)) => (len, true),
                Ok(Progress::Last(len)) => (len, false),
                Err(error) if is_vain(&error) => return Turn::Drained,
                Err(error) => {
                    round.stats.count_receive_error(&error);
                    return Turn::Down(self.end.unwrap_or_else(|| reason_of(&error)));
                }
            };
            round.arrived(how);
            if len == 0 {
                self.input = Half::Ended;
                if self.end.is_none() {
                    round.tell(link, LinkEvent::Eof);
                }
                continue;
            }
            round.stats.received.add(0, len);
            if is_lent {
                round.machine.handle_filled(round.now, link, len);
            } else {
                round.machine.handle_stream(round.now, link, scratch.get_mut(..len).unwrap_or_default());
            }
            if !more {
                return Turn::Drained;
            }
        }
        match (self.input, self.end) {
            (Half::Ended, Some(reason)) => Turn::Down(reason),
            (Half::Ended, None) => Turn::Drained,
            (Half::Open, _) => Turn::More,
        }
    }

    fn receive(&self, how: How, buffer: &mut [u8]) -> io::Result<Progress<usize>> {
        if self.device != Device::Socket {
            return self.device.read(&self.socket, buffer);
        }
        let room = buffer.len();
        let (len, _) = recv(&self.socket, buffer, how.flags())?;
        // Less than there was room for was all there was.
        Ok(if len < room { Progress::Last(len) } else { Progress::More(len) })
    }

    /// Takes note that nothing can be sent any more. What arrived before may still be read.
    fn fail(&mut self, error: &io::Error) {
        self.tail.clear();
        self.output = Half::Ended;
        self.end = self.end.or_else(|| Some(reason_of(error)));
    }

    fn up(&self) -> LinkEvent {
        LinkEvent::Up { local: ip(self.socket.local_addr()), peer: ip(self.socket.peer_addr()) }
    }
}

/// Says whether there is nothing to read, or was nothing within the time.
pub(super) fn is_vain(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
