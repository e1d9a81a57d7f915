//! A UDP link: receiving in batches, sending in segmented runs, waiting when the socket is full.

mod set;

pub(crate) use set::UdpPorts;

use proto_core::{Flow, LinkId, Transmit};
use quinn_udp::{UdpSockRef, UdpSocketState};
use std::{
    fmt,
    io::{self, ErrorKind},
    net::SocketAddr,
    num::NonZeroUsize,
    task::{Context, Poll, ready},
};

use crate::{
    runtime::{Interest, Progress, SocketIo},
    sockets::{Inbox, Outbox, UdpSender},
};

/// One UDP socket of a driver.
pub(crate) struct UdpPort<S> {
    link: LinkId,
    io: S,
    state: UdpSocketState,
    /// What the socket had no room for; while it is there, the machine sends nothing on this link.
    parked: Option<Parked>,
    /// Receive errors in a row.
    failures: u32,
    /// The only peer, where the socket is connected to one.
    peer: Option<SocketAddr>,
}

/// The unsent rest of a transmit.
struct Parked {
    transmit: Transmit,
    to: SocketAddr,
    rest: Vec<u8>,
    /// How much of `rest` has been sent since.
    done: usize,
}

impl<S: SocketIo> UdpPort<S> {
    /// Creates a port of a socket that was prepared for batches.
    pub(crate) fn new(link: LinkId, io: S, state: UdpSocketState) -> Self {
        let peer = io.socket().peer_addr().ok().and_then(|peer| peer.as_socket());
        Self { link, io, state, parked: None, failures: 0, peer }
    }

    /// Receives one batch. Errors of the socket are for counting only: after one it is worth trying again, unless the
    /// port [is failing](Self::is_failing).
    pub(crate) fn poll_receive(&mut self, inbox: &mut Inbox, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Self { io, state, .. } = self;
        let received =
            ready!(io.poll_io(Interest::Read, cx, |socket| inbox.fill(UdpSockRef::from(socket), state)));
        self.failures = if received.is_ok() { 0 } else { self.failures.saturating_add(1) };
        Poll::Ready(received)
    }

    /// Receives one batch if one is there, without asking the reactor. Not ready says that there is none; nobody is
    /// woken then.
    pub(crate) fn try_receive(&mut self, inbox: &mut Inbox) -> Poll<io::Result<()>> {
        match inbox.fill(UdpSockRef::from(&*self.io.socket()), &self.state) {
            Ok(Progress::More(()) | Progress::Last(())) => Poll::Ready(Ok(())),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Poll::Pending,
            Err(error) => Poll::Ready(Err(error)),
        }
    }

    /// Says whether receiving failed so many times in a row that it should rest.
    pub(crate) const fn is_failing(&self) -> bool {
        self.failures >= MAX_FAILURES
    }

    /// Forgets past failures.
    pub(crate) const fn forgive(&mut self) {
        self.failures = 0;
    }

    /// Sends a transmit, or parks what the socket has no room for.
    pub(crate) fn send(&mut self, transmit: &Transmit, bytes: &[u8], out: &mut Outbox<'_>) -> Flow {
        debug_assert!(self.parked.is_none(), "the machine sent on a blocked link");
        let Some(to) = transmit.to else { return Flow::Sent };
        let sender = UdpSender { socket: &self.io.socket(), state: Some(&self.state), peer: self.peer };
        let done = sender.send(transmit, to, bytes, out);
        match bytes.get(done..) {
            None | Some([]) => Flow::Sent,
            Some(rest) => {
                out.count_blocked();
                self.parked = Some(Parked { transmit: *transmit, to, rest: rest.to_vec(), done: 0 });
                Flow::Blocked
            }
        }
    }

    /// Sends what is parked as the socket gets room, until nothing is parked any more.
    pub(crate) fn poll_flush(&mut self, cx: &mut Context<'_>, out: &mut Outbox<'_>) -> Poll<()> {
        let Self { io, state, parked, peer, .. } = self;
        if let Some(Parked { transmit, to, rest, done }) = parked {
            // The sends run inside the readiness check, so that a socket which is still full leaves the task
            // registered for its next change. The check itself fails only with the reactor; then nothing can be sent.
            let _gone = ready!(io.poll_io(Interest::Write, cx, |socket| {
                let unsent = rest.get(*done..).unwrap_or_default();
                let sender = UdpSender { socket, state: Some(state), peer: *peer };
                *done += sender.send(transmit, *to, unsent, out);
                if *done < rest.len() { Err(ErrorKind::WouldBlock.into()) } else { Ok(Progress::More(())) }
            }));
        }
        *parked = None;
        Poll::Ready(())
    }

    pub(crate) const fn link(&self) -> LinkId {
        self.link
    }

    /// Says whether there is but one peer.
    pub(crate) const fn is_connected(&self) -> bool {
        self.peer.is_some()
    }

    pub(crate) fn max_segments(&self) -> NonZeroUsize {
        NonZeroUsize::new(self.state.max_gso_segments()).unwrap_or(NonZeroUsize::MIN)
    }
}

impl<S> fmt::Debug for UdpPort<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UdpPort")
            .field("link", &self.link)
            .field("parked", &self.parked.as_ref().map(|parked| parked.rest.len() - parked.done))
            .finish_non_exhaustive()
    }
}

/// Receive errors in a row after which a port rests: a broken socket would report them forever.
const MAX_FAILURES: u32 = 16;
