//! A datagram link: plain calls where the socket has one peer and batches are not wanted, batches everywhere else.

use proto_core::{Datagram, Flow, Instant, LinkEvent, LinkId, Machine, Transmit};
use quinn_udp::{UdpSockRef, UdpSocketState};
use runtime_core::{
    Progress,
    sockets::{DatagramSource, Inbox, Outbox, UdpSender, unreachable_peer},
};
use rustix::net::{RecvFlags, recv};
use socket2::Socket;
use std::{fmt, io, net::SocketAddr, num::NonZeroUsize, time::Duration};

use super::{
    patience::Patience,
    round::{How, Round, Turn, Wants},
    stream::is_vain,
};

/// One datagram socket of a driver.
pub(super) struct Datagrams {
    socket: Socket,
    /// The only peer, where the socket is connected to one.
    peer: Option<SocketAddr>,
    /// What the socket can do with batches; without it, it is read and written datagram by datagram.
    state: Option<UdpSocketState>,
    /// What the socket had no room for; while it is there, the machine sends nothing on this link.
    parked: Option<Parked>,
    patience: Patience,
    /// Receive errors in a row.
    failures: u32,
    /// Receiving failed again and again, so it is not tried before.
    resting_until: Option<Instant>,
}

/// The unsent rest of a transmit.
struct Parked {
    transmit: Transmit,
    to: SocketAddr,
    rest: Vec<u8>,
    /// How much of `rest` has been sent since.
    done: usize,
}

impl Datagrams {
    /// Prepares a bound socket.
    ///
    /// # Errors
    /// The operating system's error.
    pub(super) fn new(source: DatagramSource, batches: bool) -> io::Result<Self> {
        let peer = source.socket.peer_addr().ok();
        let state = if batches || peer.is_none() { Some(source.batching()?) } else { None };
        Ok(Self {
            socket: source.socket.into(),
            peer,
            state,
            parked: None,
            patience: Patience::default(),
            failures: 0,
            resting_until: None,
        })
    }

    /// Sends a transmit, or parks what the socket has no room for.
    pub(super) fn send(&mut self, transmit: &Transmit, bytes: &[u8], out: &mut Outbox<'_>) -> Flow {
        debug_assert!(self.parked.is_none(), "the machine sent on a blocked link");
        let Some(to) = transmit.to else { return Flow::Sent };
        let done = self.sender().send(transmit, to, bytes, out);
        match bytes.get(done..) {
            None | Some([]) => Flow::Sent,
            Some(rest) => {
                out.count_blocked();
                self.parked = Some(Parked { transmit: *transmit, to, rest: rest.to_vec(), done: 0 });
                Flow::Blocked
            }
        }
    }

    /// Sends what was parked and receives.
    pub(super) fn turn<M: Machine>(
        &mut self,
        link: LinkId,
        how: How,
        scratch: &mut [u8],
        reports: &mut Vec<(LinkId, LinkEvent)>,
        round: &mut Round<'_, M>,
    ) -> Turn {
        if self.parked.is_some() && self.flush(&mut Outbox { stats: round.stats, reports }) {
            round.tell(link, LinkEvent::Writable);
        }
        if self.resting_until.is_some_and(|until| round.now < until) {
            return Turn::Drained;
        }
        if self.resting_until.take().is_some() {
            self.failures = 0;
        }
        for _ in 0..how.reads() {
            if !round.machine.wants_read(link) {
                return Turn::HeldBack;
            }
            match self.receive(link, how, scratch, round) {
                Ok(Progress::More(())) => self.failures = 0,
                Ok(Progress::Last(())) => {
                    self.failures = 0;
                    return Turn::Drained;
                }
                Err(error) if is_vain(&error) => return Turn::Drained,
                Err(error) => {
                    round.stats.count_receive_error(&error);
                    self.failures += 1;
                    if self.peer.is_some()
                        && let Some(reason) = unreachable_peer(&error)
                    {
                        round.tell(link, LinkEvent::Unreachable(reason));
                    }
                    if self.failures >= MAX_FAILURES {
                        self.resting_until = Some(round.now + REST);
                        return Turn::Drained;
                    }
                }
            }
        }
        Turn::More
    }

    /// Has the next receiving call wait for less than `left`, if it can.
    pub(super) fn prepare_to_wait(&mut self, left: Option<Duration>) -> io::Result<bool> {
        // A call for a batch would wait until the batch is full.
        if self.state.is_some() { Ok(false) } else { self.patience.prepare(&self.socket, left) }
    }

    pub(super) const fn wants(&self, held_back: bool) -> Wants {
        Wants { read: !held_back && self.resting_until.is_none(), write: self.has_unsent() }
    }

    /// Returns when the socket wants a turn even if nothing happens.
    pub(super) const fn deadline(&self) -> Option<Instant> {
        self.resting_until
    }

    pub(super) const fn has_unsent(&self) -> bool {
        self.parked.is_some()
    }

    pub(super) const fn socket(&self) -> &Socket {
        &self.socket
    }

    /// Returns how many equal-sized datagrams a transmit may hold.
    pub(super) fn max_segments(&self) -> NonZeroUsize {
        let segments = self.state.as_ref().map_or(1, UdpSocketState::max_gso_segments);
        NonZeroUsize::new(segments).unwrap_or(NonZeroUsize::MIN)
    }

    fn receive<M: Machine>(
        &self,
        link: LinkId,
        how: How,
        scratch: &mut [u8],
        round: &mut Round<'_, M>,
    ) -> io::Result<Progress<()>> {
        let Some(state) = &self.state else { return self.receive_one(link, how, scratch, round) };
        Inbox::with(|inbox| {
            let progress = inbox.fill(UdpSockRef::from(&self.socket), state)?;
            round.told = true;
            inbox.feed(round.machine, round.now, link, &mut round.stats.received);
            Ok(progress)
        })
    }

    /// Receives one datagram with the plainest call.
    fn receive_one<M: Machine>(
        &self,
        link: LinkId,
        how: How,
        scratch: &mut [u8],
        round: &mut Round<'_, M>,
    ) -> io::Result<Progress<()>> {
        let (filled, len) = recv(&self.socket, &mut *scratch, how.flags() | RecvFlags::TRUNC)?;
        round.arrived(how);
        round.stats.received.add(1, len);
        if let (Some(from), Some(data)) = (self.peer, scratch.get_mut(..filled)) {
            let datagram = Datagram { is_truncated: filled < len, ..Datagram::new(link, from, data) };
            round.machine.handle_datagram(round.now, datagram);
        }
        Ok(Progress::More(()))
    }

    /// Sends what is parked, and says whether nothing is left of it.
    fn flush(&mut self, out: &mut Outbox<'_>) -> bool {
        if let Some(Parked { transmit, to, rest, done }) = &self.parked {
            let sent = self.sender().send(transmit, *to, rest.get(*done..).unwrap_or_default(), out);
            let left = rest.len() - *done - sent;
            if left > 0 {
                if let Some(parked) = &mut self.parked {
                    parked.done += sent;
                }
                return false;
            }
        }
        self.parked = None;
        true
    }

    const fn sender(&self) -> UdpSender<'_> {
        UdpSender { socket: &self.socket, state: self.state.as_ref(), peer: self.peer }
    }
}

impl fmt::Debug for Datagrams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Datagrams")
            .field("peer", &self.peer)
            .field("parked", &self.parked.as_ref().map(|parked| parked.rest.len() - parked.done))
            .finish_non_exhaustive()
    }
}

/// Receive errors in a row after which a socket rests: a broken one would report them forever.
const MAX_FAILURES: u32 = 16;

/// How long a socket whose receiving fails persistently is left alone.
const REST: Duration = Duration::from_millis(50);
