//! The links of a driver: what a machine's link numbers stand for.

pub(crate) mod udp;

use proto_core::{DownReason, Flow, Instant, LinkEvent, LinkId, LinkRequest, LinkSpec, Machine, Transmit};
use std::{io, num::NonZeroUsize, task::Context};

use crate::{Runtime, Stats};
use udp::{UdpOptions, UdpPort, bind_udp};

/// All links of a driver, with what they have to report.
#[derive(Debug)]
pub(crate) struct Ports<R: Runtime> {
    udp: Vec<UdpPort<R::Udp>>,
    reports: Vec<(LinkId, LinkEvent)>,
}

impl<R: Runtime> Ports<R> {
    pub(crate) const fn new() -> Self {
        Self { udp: Vec::new(), reports: Vec::new() }
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

    /// Carries out a machine's request.
    pub(crate) fn request(&mut self, request: LinkRequest) {
        match request {
            LinkRequest::Open { link, spec } => {
                if let Err(reason) = self.open(link, &spec) {
                    self.reports.push((link, LinkEvent::Down(reason)));
                }
            }
            LinkRequest::Close { link } => {
                self.udp.retain(|port| port.link() != link);
                self.reports.push((link, LinkEvent::Down(DownReason::Closed)));
            }
            // The contract may grow kinds of request that this driver does not know.
            _ => {}
        }
    }

    /// Sends a transmit on its link; one for a link that is not there is dropped.
    pub(crate) fn send(&mut self, transmit: &Transmit, bytes: &[u8], stats: &mut Stats) -> Flow {
        let Self { udp, reports } = self;
        let mut out = Outbox { stats, reports };
        udp.iter_mut()
            .find(|port| port.link() == transmit.link)
            .map_or(Flow::Sent, |port| port.send(transmit, bytes, &mut out))
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
        let Self { udp, reports } = self;
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

    pub(crate) fn udp_mut(&mut self) -> impl Iterator<Item = &mut UdpPort<R::Udp>> {
        self.udp.iter_mut()
    }

    /// Notes which links the machine wants nothing from at present, and says whether there are any.
    pub(crate) fn hold_back<M: Machine>(&mut self, machine: &M) -> bool {
        let mut any = false;
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
    }

    /// Returns how many equal-sized datagrams a transmit may hold on every link.
    pub(crate) fn max_segments(&self) -> NonZeroUsize {
        self.udp.iter().map(UdpPort::max_segments).min().unwrap_or(NonZeroUsize::MIN)
    }

    /// Says whether something waits for room.
    pub(crate) fn is_blocked(&self) -> bool {
        self.udp.iter().any(UdpPort::is_blocked)
    }

    fn open(&mut self, link: LinkId, spec: &LinkSpec) -> Result<(), DownReason> {
        #[allow(clippy::wildcard_enum_match_arm, reason = "a driver has some kinds of link, not all")]
        match spec {
            LinkSpec::Udp { bind, peer } => {
                let socket = bind_udp(*bind, UdpOptions::default()).map_err(|_| DownReason::Io)?;
                if let Some(peer) = peer {
                    socket.connect(*peer).map_err(|_| DownReason::Unreachable)?;
                }
                self.add_udp(link, socket).map_err(|_| DownReason::Io)
            }
            _ => Err(DownReason::Unsupported),
        }
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
