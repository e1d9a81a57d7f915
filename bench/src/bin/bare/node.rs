//! One endpoint with its socket, driven by hand.

use std::io;

use bench_peer::Fault;
use proto_core::{Flow, Instant, LinkEvent, LinkRequest, Machine, Sink, StdClock, Transmit, deliver, pump};
use proto_raknet::{Endpoint, Event};

use super::socket::{Batch, LINK, Scratch, Socket};

/// What an endpoint says to the application that runs it.
pub(crate) trait Application {
    /// Takes an event; it may use the endpoint at once.
    fn on_event(&mut self, endpoint: &mut Endpoint, now: Instant, event: Event) -> Result<(), Fault>;
}

/// One endpoint with its socket.
pub(crate) struct Node {
    pub(crate) endpoint: Endpoint,
    socket: Socket,
    events: Vec<Event>,
}

impl Node {
    pub(crate) fn new(mut endpoint: Endpoint, socket: Socket, now: Instant) -> io::Result<Self> {
        let local = Some(socket.inner().local_addr()?);
        endpoint.handle_link(now, LINK, LinkEvent::Up { local, peer: None });
        Ok(Self { endpoint, socket, events: Vec::new() })
    }

    /// Reads a batch, lets the application answer and sends everything; says whether more is waiting to be read
    /// and when the endpoint wants to be called at the latest.
    pub(crate) fn turn(
        &mut self,
        now: Instant,
        scratch: &mut Scratch,
        application: &mut impl Application,
    ) -> Result<(Batch, Option<Instant>), Fault> {
        let batch = self.socket.receive(scratch, now, &mut self.endpoint)?;
        let due = self.settle(now, scratch, application)?;
        Ok((batch, due))
    }

    /// Lets the application answer and sends everything.
    pub(crate) fn settle(
        &mut self,
        now: Instant,
        scratch: &mut Scratch,
        application: &mut impl Application,
    ) -> Result<Option<Instant>, Fault> {
        loop {
            deliver(&mut self.endpoint, &mut Outlet { socket: &mut self.socket, events: &mut self.events });
            self.inform(now, application)?;
            let mut outlet = Outlet { socket: &mut self.socket, events: &mut self.events };
            let pumped = pump(&mut self.endpoint, now, usize::MAX, &mut scratch.output, &mut outlet);
            if self.events.is_empty() {
                return Ok(pumped.next);
            }
            self.inform(now, application)?;
        }
    }

    fn inform(&mut self, now: Instant, application: &mut impl Application) -> Result<(), Fault> {
        self.events.drain(..).try_for_each(|event| application.on_event(&mut self.endpoint, now, event))
    }
}

struct Outlet<'a> {
    socket: &'a mut Socket,
    events: &'a mut Vec<Event>,
}

impl Sink<Event> for Outlet<'_> {
    fn max_segments(&self) -> std::num::NonZeroUsize {
        self.socket.max_segments()
    }

    fn link(&mut self, _request: LinkRequest) {}

    fn transmit(&mut self, transmit: &Transmit, bytes: &[u8]) -> Flow {
        self.socket.send(transmit, bytes);
        Flow::Sent
    }

    fn event(&mut self, event: Event) {
        self.events.push(event);
    }
}

/// The machine's time now.
#[allow(clippy::disallowed_methods, reason = "a driver is where the clock is read")]
pub(crate) fn now(clock: &StdClock) -> Instant {
    clock.to_machine(std::time::Instant::now())
}

/// A clock that starts now.
#[allow(clippy::disallowed_methods, reason = "a driver is where the clock is read")]
pub(crate) fn start_clock() -> StdClock {
    StdClock::new(std::time::Instant::now())
}

/// Random bytes for a machine.
pub(crate) fn seed() -> Result<[u8; 32], Fault> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(|error| error.to_string())?;
    Ok(seed)
}
