//! The links of a driver: what a machine's link numbers stand for.

mod listener;
mod open;
mod piece;
mod ready;
mod round;
mod stream;
mod switchboard;
mod udp;

use bytes::Bytes;
use proto_core::{DownReason, Flow, Instant, LinkEvent, LinkId, LinkRequest, Machine, Transmit};
use socket2::Socket;
use std::{io, num::NonZeroUsize, task::Context};

use crate::{
    DriverConfig, Runtime, Stats,
    shared::Shared,
    sockets::{DatagramSource, ListenerSource, Outbox, ip, reason_of},
};
use round::{Round, Turn};
use switchboard::Switchboard;
use udp::{UdpPort, UdpPorts};

/// All links of a driver, with what they have to report.
#[derive(Debug)]
pub(crate) struct Ports<R: Runtime> {
    udp: UdpPorts<R::Udp>,
    switchboard: Switchboard<R>,
    reports: Vec<(LinkId, LinkEvent)>,
}

impl<R: Runtime> Ports<R> {
    pub(crate) fn new() -> Self {
        Self { udp: UdpPorts::new(), switchboard: Switchboard::new(), reports: Vec::new() }
    }

    /// Adds a bound UDP socket as `link` and reports it as up.
    ///
    /// # Errors
    /// The reactor or the operating system cannot take the socket.
    pub(crate) fn add_udp(&mut self, link: LinkId, socket: std::net::UdpSocket) -> io::Result<()> {
        self.add_datagrams(link, socket.into())
    }

    fn add_datagrams(&mut self, link: LinkId, source: DatagramSource) -> io::Result<()> {
        let local = source.socket.local_addr().ok();
        let peer = source.socket.peer_addr().ok();
        let state = source.batching()?;
        self.udp.add(UdpPort::new(link, R::udp(source.socket)?, state))?;
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
        self.add_listener_source(link, socket.into())
    }

    fn add_listener_source(&mut self, link: LinkId, source: ListenerSource) -> io::Result<()> {
        let local = ip(source.socket.local_addr());
        self.switchboard.add_listener(link, source)?;
        self.reports.push((link, LinkEvent::Up { local, peer: None }));
        Ok(())
    }

    /// Carries out a machine's request.
    pub(crate) fn request(&mut self, request: LinkRequest, now: Instant, stats: &mut Stats) {
        match request {
            LinkRequest::Open { link, spec } => {
                if let Err(error) = self.open(link, spec, now) {
                    stats.note(&error);
                    let reason = reason_of(&error);
                    self.reports.push((link, LinkEvent::Down(reason)));
                }
            }
            LinkRequest::Close { link } => {
                self.udp.remove(link);
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
        udp.send(transmit, bytes, &mut Outbox { stats, reports })
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
        udp.flush(cx, &mut Outbox { stats, reports }, |out, link| out.report(link, LinkEvent::Writable));
        let any = !reports.is_empty();
        for (link, event) in reports.drain(..) {
            machine.handle_link(now, link, event);
        }
        any
    }

    /// Reads what has arrived on the links that are ready into the machine, up to the budgets of `config`. Says whether the
    /// machine was told anything; where it was not, the task of `cx` is woken when there is something, unless the driver is
    /// only `looking`.
    pub(crate) fn serve<M: Machine, F>(
        &mut self,
        shared: &Shared<M, F>,
        now: Instant,
        config: &DriverConfig,
        looking: bool,
        cx: &Context<'_>,
    ) -> bool {
        let any = self.udp.serve(shared, now, config.datagrams_per_round, looking, cx);
        // What is still to be reported of a link comes before what it has to say next.
        let streams = self.reports.is_empty();
        any | (streams && self.switchboard.serve(shared, now, config.stream_bytes_per_round, cx))
    }

    /// Notes which links the machine wants nothing from at present, and says whether there are any.
    pub(crate) fn hold_back<M: Machine>(&mut self, machine: &M) -> bool {
        self.switchboard.hold_back(machine) | self.udp.hold_back(machine)
    }

    /// Closes all links without a word to the machine.
    pub(crate) fn close(&mut self) {
        self.udp.clear();
        self.switchboard.clear();
    }

    /// Returns when a link wants to be served even if nothing happens.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        [self.switchboard.next_deadline(), self.udp.next_deadline()].into_iter().flatten().min()
    }

    /// Says whether there are datagram sockets.
    pub(crate) fn has_udp(&self) -> bool {
        !self.udp.is_empty()
    }

    /// Returns how many equal-sized datagrams a transmit may hold on every link.
    pub(crate) fn max_segments(&self) -> NonZeroUsize {
        self.udp.max_segments()
    }

    /// Says whether a datagram socket waits for room.
    pub(crate) const fn is_blocked(&self) -> bool {
        self.udp.is_blocked()
    }

    /// Says whether any link has something left to send. Costs O(links).
    pub(crate) fn has_unsent(&self) -> bool {
        self.is_blocked() || self.switchboard.has_unsent()
    }
}
