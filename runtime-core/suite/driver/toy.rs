//! A machine and a face that do just enough to show what a driver does.

use super::timing::within;
use proto_core::{Datagram, Instant, LinkEvent, LinkId, LinkRequest, LinkSpec, Machine, Transmit};
use runtime_core::{Driver, DriverConfig, Face, Handle, Runtime, UdpOptions, bind_udp};
use std::{
    collections::VecDeque,
    net::{Ipv4Addr, SocketAddr},
    num::NonZeroUsize,
    task::{Poll, Waker},
    time::Duration,
};

pub(crate) const LINK: LinkId = LinkId(0);

/// Sends what it is told to, keeps or echoes what arrives, and notes all that is reported.
#[derive(Default)]
pub(crate) struct Toy {
    pub(crate) echo: bool,
    pub(crate) to_send: VecDeque<(SocketAddr, Vec<u8>)>,
    pub(crate) arrived: VecDeque<(SocketAddr, Vec<u8>)>,
    /// Arrivals beyond which it wants to read no more.
    pub(crate) room: Option<usize>,
    pub(crate) requests: VecDeque<LinkRequest>,
    pub(crate) reports: Vec<LinkEvent>,
    pub(crate) blocked: bool,
    pub(crate) deadline: Option<Instant>,
    pub(crate) fired: Vec<Instant>,
    pub(crate) finished: bool,
    pub(crate) news: bool,
}

impl Toy {
    pub(crate) fn local(&self) -> Option<SocketAddr> {
        self.reports.iter().find_map(|report| match report {
            LinkEvent::Up { local, .. } => *local,
            _ => None,
        })
    }

    pub(crate) fn send(&mut self, to: SocketAddr, datagram: impl Into<Vec<u8>>) {
        self.to_send.push_back((to, datagram.into()));
    }
}

impl Machine for Toy {
    type Event = ();

    fn handle_datagram(&mut self, _now: Instant, datagram: Datagram<'_>) {
        let bytes = datagram.data.to_vec();
        if self.echo {
            self.send(datagram.from, bytes);
        } else {
            self.arrived.push_back((datagram.from, bytes));
            self.news = true;
        }
    }

    fn handle_link(&mut self, _now: Instant, _link: LinkId, event: LinkEvent) {
        match event {
            LinkEvent::Blocked => self.blocked = true,
            LinkEvent::Writable => self.blocked = false,
            _ => {}
        }
        self.reports.push(event);
        self.news = true;
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.deadline.is_some_and(|deadline| deadline <= now) {
            self.deadline = None;
            self.fired.push(now);
            self.news = true;
        }
    }

    fn poll_link(&mut self) -> Option<LinkRequest> {
        self.requests.pop_front()
    }

    fn poll_transmit(&mut self, _now: Instant, max: NonZeroUsize, buf: &mut Vec<u8>) -> Option<Transmit> {
        if self.blocked {
            return None;
        }
        let (to, first) = self.to_send.pop_front()?;
        buf.extend_from_slice(&first);
        let mut segments = 1;
        while segments < max.get()
            && self.to_send.front().is_some_and(|(next, bytes)| *next == to && bytes.len() == first.len())
            && let Some((_, bytes)) = self.to_send.pop_front()
        {
            buf.extend_from_slice(&bytes);
            segments += 1;
        }
        let segment = NonZeroUsize::new(first.len()).filter(|_| segments > 1);
        Some(Transmit { segment, ..Transmit::datagram(LINK, to, buf.len()) })
    }

    fn poll_event(&mut self) -> Option<()> {
        std::mem::take(&mut self.news).then_some(())
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.deadline
    }

    fn wants_read(&self, _link: LinkId) -> bool {
        self.room.is_none_or(|room| self.arrived.len() < room)
    }
}

/// Wakes the one task that waits.
#[derive(Default)]
pub(crate) struct Desk {
    pub(crate) waiting: Option<Waker>,
    pub(crate) stopped: bool,
    pub(crate) abandoned: bool,
}

/// A machine that tells when something is new, and that can be told to finish.
pub(crate) trait Finishing: Machine<Event = ()> + Send + 'static {
    fn finish(&mut self);
    fn is_finished(&self) -> bool;
}

impl Finishing for Toy {
    fn finish(&mut self) {
        self.finished = true;
    }

    fn is_finished(&self) -> bool {
        self.finished
    }
}

impl<M: Finishing> Face<M> for Desk {
    fn event(&mut self, (): ()) {
        if let Some(waiting) = self.waiting.take() {
            waiting.wake();
        }
    }

    fn abandon(&mut self, machine: &mut M, _now: Instant) {
        self.abandoned = true;
        machine.finish();
    }

    fn is_finished(&self, machine: &M) -> bool {
        machine.is_finished()
    }

    fn stopped(&mut self, _machine: &mut M) {
        self.stopped = true;
        Face::<M>::event(self, ());
    }
}

pub(crate) type ToyHandle = Handle<Toy, Desk>;

pub(crate) const LOOPBACK: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// Runs a machine on a loopback socket of its own.
pub(crate) fn run<R: Runtime>(machine: Toy) -> ToyHandle {
    run_on::<R>(machine, bind_udp(LOOPBACK, UdpOptions::default()).unwrap())
}

pub(crate) fn run_on<R: Runtime>(machine: Toy, socket: std::net::UdpSocket) -> ToyHandle {
    let (mut driver, handle) =
        Driver::<_, _, R>::new(machine, Desk::default(), DriverConfig::default()).unwrap();
    driver.add_udp(LINK, socket).unwrap();
    driver.spawn();
    handle
}

/// Runs a machine that asks for its link itself.
pub(crate) fn run_asking<R: Runtime>(spec: LinkSpec) -> ToyHandle {
    let machine = Toy { requests: [LinkRequest::Open { link: LINK, spec }].into(), ..Toy::default() };
    let (driver, handle) = Driver::<_, _, R>::new(machine, Desk::default(), DriverConfig::default()).unwrap();
    driver.spawn();
    handle
}

/// Waits until `question` has an answer, at most ten seconds.
pub(crate) async fn until<R: Runtime, M, T>(
    handle: &Handle<M, Desk>,
    mut question: impl FnMut(&mut M) -> Option<T>,
) -> T {
    let answer = std::future::poll_fn(|cx| {
        handle.read(|machine, desk| match question(machine) {
            Some(answer) => Poll::Ready(answer),
            None => {
                assert!(!desk.stopped, "the driver ended");
                desk.waiting = Some(cx.waker().clone());
                Poll::Pending
            }
        })
    });
    within::<R, _>(Duration::from_secs(10), answer).await.expect("no answer within ten seconds")
}

pub(crate) async fn local<R: Runtime>(handle: &ToyHandle) -> SocketAddr {
    until::<R, _, _>(handle, |machine| machine.local()).await
}
