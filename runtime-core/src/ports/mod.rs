//! The links of a driver: what a machine's link numbers stand for.

mod listener;
mod lookup;
mod open;
mod ready;
mod round;
mod stream;
mod switchboard;
pub(crate) mod udp;

use bytes::Bytes;
use proto_core::{DownReason, Flow, Instant, LinkEvent, LinkId, LinkRequest, Machine, Transmit};
use socket2::Socket;
use std::{io, num::NonZeroUsize, task::Context};

use crate::{Runtime, Stats, shared::Shared};
use round::{Round, Turn};
use stream::ip;
use switchboard::Switchboard;
use udp::UdpPort;

/// All links of a driver, with what they have to report.
#[derive(Debug)]
pub(crate) struct Ports<R: Runtime> {
    udp: Vec<UdpPort<R::Udp>>,
    switchboard: Switchboard<R>,
    reports: Vec<(LinkId, LinkEvent)>,
}

impl<R: Runtime> Ports<R> {
    pub(crate) fn new() -> Self {
        Self { udp: Vec::new(), switchboard: Switchboard::new(), reports: Vec::new() }
    }

    /// Adds a bound UDP socket as `link` and reports it as up.
    ///
    /// # Errors
    /// The reactor or the operating system cannot take the socket.
    pub(crate) fn add_udp(&mut self, link: LinkId, socket: std::net::UdpSocket) -> io::Result<()> {
        let local = socket.local_addr().ok();
        let peer = socket.peer_addr().ok();
        // Most drivers have one socket, and there may be thousands of drivers.
        self.udp.reserve_exact(1);
        self.udp.push(UdpPort::new(link, R::udp(socket)?)?);
        self.reports.push((link, LinkEvent::Up { local, peer }));
        Ok(())
    }

    /// Adds a stream socket as `link`, which is reported as up once it is connected.
    ///
    /// # Errors
    /// The reactor or the operating system cannot take the socket, or the link is in use.
    pub(crate) fn add_stream(&mut self, link: LinkId, socket: Socket, now: Instant) -> io::Result<()> {
        self.switchboard.add_stream(link, socket.into(), now)
    }

    /// Adds a listening socket as `link` and reports it as up.
    ///
    /// # Errors
    /// The reactor or the operating system cannot take the socket, or the link is in use.
    pub(crate) fn add_listener(&mut self, link: LinkId, socket: Socket) -> io::Result<()> {
        let local = ip(socket.local_addr());
        self.switchboard.add_listener(link, socket, |listener| listener)?;
        self.reports.push((link, LinkEvent::Up { local, peer: None }));
        Ok(())
    }

    /// Carries out a machine's request.
    pub(crate) fn request(&mut self, request: LinkRequest, now: Instant, stats: &mut Stats) {
        match request {
            LinkRequest::Open { link, spec } => {
                if let Err(reason) = self.open(link, spec, now) {
                    self.reports.push((link, LinkEvent::Down(reason)));
                }
            }
            LinkRequest::Close { link } => {
                self.udp.retain(|port| port.link() != link);
                self.switchboard.close(link, now, stats);
                // Of a link that is closed only its end is reported, and that once.
                self.reports.retain(|(of, event)| *of != link || matches!(event, LinkEvent::Down(_)));
                if self.reports.iter().all(|(of, _)| *of != link) {
                    self.reports.push((link, LinkEvent::Down(DownReason::Closed)));
                }
            }
            // The contract may grow kinds of request that this driver does not know.
            _ => {}
        }
    }

    /// Sends a transmit on its link; one for a link that is not there is dropped.
    pub(crate) fn send(&mut self, transmit: &Transmit, bytes: &[u8], stats: &mut Stats) -> Flow {
        if transmit.to.is_none() {
            return self.gather(transmit, bytes, &[], stats);
        }
        let Self { udp, reports, .. } = self;
        let mut out = Outbox { stats, reports };
        udp.iter_mut()
            .find(|port| port.link() == transmit.link)
            .map_or(Flow::Sent, |port| port.send(transmit, bytes, &mut out))
    }

    /// Sends `bytes` and then `pieces` on a stream.
    pub(crate) fn gather(
        &mut self,
        transmit: &Transmit,
        bytes: &[u8],
        pieces: &[Bytes],
        stats: &mut Stats,
    ) -> Flow {
        let Self { switchboard, reports, .. } = self;
        switchboard.send(transmit, bytes, pieces, &mut Outbox { stats, reports })
    }

    /// Sends what waits for room, and tells the machine which links can be used again and whatever else there is to
    /// report. Says whether it told anything.
    pub(crate) fn settle<M: Machine>(
        &mut self,
        machine: &mut M,
        now: Instant,
        stats: &mut Stats,
        cx: &mut Context<'_>,
    ) -> bool {
        let Self { udp, reports, .. } = self;
        for port in udp.iter_mut().filter(|port| port.is_blocked()) {
            if port.poll_flush(cx, &mut Outbox { stats, reports }).is_ready() {
                reports.push((port.link(), LinkEvent::Writable));
            }
        }
        let any = !reports.is_empty();
        for (link, event) in reports.drain(..) {
            machine.handle_link(now, link, event);
        }
        any
    }

    /// Serves the links that are not datagram sockets, until about `budget` bytes are read. Says whether the machine was
    /// told anything; where it was not, the task of `cx` is woken when there is something.
    pub(crate) fn serve<M: Machine, F>(
        &mut self,
        shared: &Shared<M, F>,
        now: Instant,
        budget: usize,
        cx: &Context<'_>,
    ) -> bool {
        // What is still to be reported of a link comes before what it has to say next.
        self.reports.is_empty() && self.switchboard.serve(shared, now, budget, cx)
    }

    pub(crate) fn udp_mut(&mut self) -> impl Iterator<Item = &mut UdpPort<R::Udp>> {
        self.udp.iter_mut()
    }

    /// Notes which links the machine wants nothing from at present, and says whether there are any.
    pub(crate) fn hold_back<M: Machine>(&mut self, machine: &M) -> bool {
        let mut any = self.switchboard.hold_back(machine);
        for port in &mut self.udp {
            let held_back = !machine.wants_read(port.link());
            port.hold_back(held_back);
            any |= held_back;
        }
        any
    }

    /// Closes all links without a word to the machine.
    pub(crate) fn close(&mut self) {
        self.udp.clear();
        self.switchboard.clear();
    }

    /// Returns when a link wants to be served even if nothing happens.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.switchboard.next_deadline()
    }

    /// Says whether there are datagram sockets.
    pub(crate) const fn has_udp(&self) -> bool {
        !self.udp.is_empty()
    }

    /// Returns how many equal-sized datagrams a transmit may hold on every link.
    pub(crate) fn max_segments(&self) -> NonZeroUsize {
        self.udp.iter().map(UdpPort::max_segments).min().unwrap_or(NonZeroUsize::MIN)
    }

    /// Says whether a datagram socket waits for room.
    pub(crate) fn is_blocked(&self) -> bool {
        self.udp.iter().any(UdpPort::is_blocked)
    }

    /// Says whether any link has something left to send. Costs O(links).
    pub(crate) fn has_unsent(&self) -> bool {
        self.is_blocked() || self.switchboard.has_unsent()
    }
}

/// Where a port puts its counts and reports while it sends.
pub(crate) struct Outbox<'a> {
    stats: &'a mut Stats,
    reports: &'a mut Vec<(LinkId, LinkEvent)>,
}

impl Outbox<'_> {
    /// Counts one system call that sent `bytes` in datagrams of `segment`.
    fn count_sent(&mut self, bytes: usize, segment: usize) {
        let datagrams = bytes.div_ceil(segment.max(1));
        self.stats.sent.add(datagrams, bytes);
        if datagrams > 1 {
            self.stats.segmented_sends = self.stats.segmented_sends.wrapping_add(1);
        }
    }

    /// Counts a run of datagrams that has to be repeated one by one.
    const fn count_refused_run(&mut self) {
        self.stats.refused_segmentations = self.stats.refused_segmentations.wrapping_add(1);
    }

    /// Counts a datagram that was dropped for `error`.
    fn count_error(&mut self, error: &io::Error) {
        self.stats.send_errors.count(error);
    }

    /// Counts a link that has no room.
    const fn count_blocked(&mut self) {
        self.stats.blocked = self.stats.blocked.wrapping_add(1);
    }

    /// Notes an event for the machine; one that repeats the last is left out.
    fn report(&mut self, link: LinkId, event: LinkEvent) {
        if self.reports.last().is_none_or(|last| *last != (link, event.clone())) {
            self.reports.push((link, event));
        }
    }
}
