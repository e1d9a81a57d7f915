//! The driver.

use bytes::Bytes;
use proto_core::{Instant, LinkId, Machine, StdClock, pump};
use runtime_core::Stats;
use std::{collections::VecDeque, fmt, io, net::UdpSocket, os::fd::BorrowedFd, time::Duration};

use crate::{
    Config, ReceiveMode, Waker, Wants,
    links::{Links, Round, Wait},
    mode::{Look, Looking},
    sink::Outputs,
};

/// Runs a machine in the caller's thread.
///
/// Dropping it closes all links at once; see [`flush`](Self::flush) for a quieter end.
pub struct Blocking<M: Machine> {
    machine: M,
    links: Links,
    events: VecDeque<M::Event>,
    stats: Stats,
    clock: StdClock,
    looking: Looking,
    /// Room for what is about to leave.
    outgoing: Vec<u8>,
    /// Room for the pieces that follow it.
    pieces: Vec<Bytes>,
    transmits_per_round: usize,
    waiting_events: usize,
    /// When the machine must be called next, if nothing happens before.
    next: Option<Instant>,
    /// A round's budget ended before everything was sent.
    more: bool,
}

/// Why a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waited {
    /// There are events to take.
    Event,
    /// The caller's deadline came.
    Deadline,
    /// A [`Waker`] was used.
    Woken,
    /// Nothing can ever happen: there is no link that anything could come from, no deadline of the machine and no
    /// [`Waker`].
    Idle,
}

impl<M: Machine> Blocking<M> {
    /// Creates a driver. What the machine wants to begin with is done by the first call.
    ///
    /// # Errors
    /// None at present; a driver may come to need something of the operating system.
    pub fn new(machine: M, config: Config) -> io::Result<Self> {
        Ok(Self {
            machine,
            events: VecDeque::new(),
            stats: Stats::default(),
            clock: StdClock::new(std_now()),
            looking: Looking::new(config.mode),
            outgoing: Vec::new(),
            pieces: Vec::new(),
            transmits_per_round: config.transmits_per_round.max(1),
            waiting_events: config.waiting_events.max(1),
            next: None,
            more: true,
            links: Links::new(config),
        })
    }

    /// Adds a bound UDP socket as `link`, for machines whose first link is the driver's to give.
    ///
    /// # Errors
    /// The operating system cannot take the socket, or the link is in use.
    pub fn add_udp(&mut self, link: LinkId, socket: UdpSocket) -> io::Result<()> {
        self.links.add_udp(link, socket.into())?;
        let now = self.now();
        self.drain(now);
        Ok(())
    }

    /// Runs a command and sends at once what it leaves to send.
    pub fn with<T>(&mut self, command: impl FnOnce(&mut M, Instant) -> T) -> T {
        let now = self.now();
        let answer = command(&mut self.machine, now);
        self.drain(now);
        answer
    }

    /// Reads what is there, does what is due and sends what there is to send, without waiting: for a program that comes
    /// by once a frame.
    ///
    /// # Errors
    /// The operating system cannot say what is there.
    pub fn poll(&mut self) -> io::Result<()> {
        let now = self.now();
        self.do_what_is_due(now);
        for _ in 0..ROUNDS {
            if self.events.len() >= self.waiting_events {
                break;
            }
            self.receive(Wait::Not, now)?;
            if !self.links.has_due() {
                break;
            }
        }
        Ok(())
    }

    /// Waits until there is an event, and at most until `deadline`; how, the [`ReceiveMode`] says. A deadline that is past
    /// still has what is there read once.
    ///
    /// # Errors
    /// The operating system cannot wait.
    pub fn wait(&mut self, deadline: Option<std::time::Instant>) -> io::Result<Waited> {
        let deadline = deadline.map(|deadline| self.clock.to_machine(deadline));
        let mut look = None;
        loop {
            if self.has_event() {
                if let Some(Look::Until(_)) = look {
                    self.looking.learn(true);
                }
                return Ok(Waited::Event);
            }
            if self.links.was_called() {
                return Ok(Waited::Woken);
            }
            let now = self.now();
            self.do_what_is_due(now);
            if self.has_event() {
                continue;
            }
            let over = deadline.is_some_and(|deadline| deadline <= now);
            let wait = if over || self.more {
                Wait::Not
            } else {
                match *look.get_or_insert_with(|| self.looking.start(now)) {
                    Look::Always => Wait::Look,
                    Look::Until(end) if now < end => Wait::Look,
                    Look::Until(_) => {
                        self.looking.learn(false);
                        look = Some(Look::Never);
                        continue;
                    }
                    Look::Never => self.patience(deadline, now),
                }
            };
            if wait == Wait::Look || wait == Wait::Forever {
                // Neither may go on where nothing can come.
                let is_idle = deadline.is_none() && self.next_deadline().is_none();
                if is_idle && !self.links.has_prospects(&self.machine) {
                    return Ok(Waited::Idle);
                }
            }
            self.receive(wait, now)?;
            if over && !self.has_event() {
                return Ok(Waited::Deadline);
            }
        }
    }

    /// Waits for an event and takes it. There is none where the wait ended for [another reason](Waited).
    ///
    /// # Errors
    /// The operating system cannot wait.
    pub fn event(&mut self, deadline: Option<std::time::Instant>) -> io::Result<Option<M::Event>> {
        if self.events.is_empty() {
            self.wait(deadline)?;
        }
        Ok(self.events.pop_front())
    }

    /// Takes the next event that is there.
    pub fn next_event(&mut self) -> Option<M::Event> {
        self.events.pop_front()
    }

    /// Says whether an event is there.
    pub fn has_event(&self) -> bool {
        !self.events.is_empty()
    }

    /// Waits until everything that the machine has sent so far is with the operating system, and at most until `deadline`.
    /// Says whether it is.
    ///
    /// # Errors
    /// The operating system cannot wait.
    pub fn flush(&mut self, deadline: Option<std::time::Instant>) -> io::Result<bool> {
        let deadline = deadline.map(|deadline| self.clock.to_machine(deadline));
        loop {
            let now = self.now();
            self.do_what_is_due(now);
            if !self.more && !self.links.has_unsent() {
                return Ok(true);
            }
            if deadline.is_some_and(|deadline| deadline <= now) {
                return Ok(false);
            }
            let wait = if self.more { Wait::Not } else { self.patience(deadline, now) };
            self.receive(wait, now)?;
        }
    }

    /// Changes how to wait from now on. Whether there is more than one processor to use is looked at here.
    pub fn set_mode(&mut self, mode: ReceiveMode) {
        self.looking = Looking::new(mode);
    }

    /// Returns the descriptor for an event loop of the application's own: when it becomes what [`wants`](Self::wants) says,
    /// or after [`next_timeout`](Self::next_timeout), [`poll`](Self::poll) has something to do. It is the socket's while
    /// there is but one link, else that of a set; ask for all three after every call of another method.
    ///
    /// # Errors
    /// The process has no descriptor left.
    pub fn fd(&mut self) -> io::Result<BorrowedFd<'_>> {
        self.links.descriptor(&self.machine)
    }

    /// Returns what is to be watched of [`fd`](Self::fd).
    pub fn wants(&mut self) -> Wants {
        self.links.wants(&self.machine)
    }

    /// Returns when [`poll`](Self::poll) has something to do even if nothing arrives; zero where it has now, or where
    /// events wait to be taken.
    pub fn next_timeout(&self) -> Option<Duration> {
        if self.has_event() || self.more || self.links.has_due() {
            return Some(Duration::ZERO);
        }
        self.next_deadline().map(|next| next.saturating_since(self.now()))
    }

    /// Returns something that ends a wait from any thread.
    ///
    /// # Errors
    /// The process has no descriptor left.
    pub fn waker(&self) -> io::Result<Waker> {
        self.links.waker()
    }

    /// Returns the machine.
    pub const fn machine(&self) -> &M {
        &self.machine
    }

    /// Reads the machine's clock.
    pub fn now(&self) -> Instant {
        self.clock.to_machine(std_now())
    }

    /// Returns what was counted so far.
    pub const fn stats(&self) -> Stats {
        self.stats
    }

    /// Returns the operating system's number of the last error of a link, which says more than the reason that the machine
    /// was told.
    pub const fn last_os_error(&self) -> Option<i32> {
        self.stats.last_os_error
    }

    /// Does what the machine wants done at `now`, and sends what an earlier round left.
    fn do_what_is_due(&mut self, now: Instant) {
        if self.more || self.next.is_some_and(|next| next <= now) {
            self.drain(now);
        }
    }

    /// Drains the machine until the links have nothing to report of it.
    fn drain(&mut self, now: Instant) {
        for _ in 0..SETTLINGS {
            self.links.report(&mut self.machine, now);
            let Self { machine, links, events, stats, outgoing, pieces, .. } = self;
            let mut outputs = Outputs { links, events, stats, pieces, now };
            let pumped = pump(machine, now, self.transmits_per_round, outgoing, &mut outputs);
            (self.next, self.more) = (pumped.next, pumped.more);
            if !self.links.has_reports() {
                return;
            }
        }
        self.more = true;
    }

    /// Receives, and answers what was received.
    fn receive(&mut self, wait: Wait, now: Instant) -> io::Result<()> {
        let Self { machine, links, stats, clock, .. } = self;
        let mut round = Round { machine, clock, now, stats, told: false };
        let received = links.receive(wait, &mut round);
        let (told, now) = (round.told, round.now);
        if told {
            self.drain(now);
        }
        received
    }

    /// Returns how long nothing needs to be done but to receive.
    fn patience(&self, deadline: Option<Instant>, now: Instant) -> Wait {
        let until = [deadline, self.next_deadline()].into_iter().flatten().min();
        until.map_or(Wait::Forever, |until| Wait::For(until.saturating_since(now)))
    }

    fn next_deadline(&self) -> Option<Instant> {
        [self.next, self.links.next_deadline()].into_iter().flatten().min()
    }
}

impl<M: Machine> fmt::Debug for Blocking<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blocking")
            .field("links", &self.links)
            .field("events", &self.events.len())
            .finish_non_exhaustive()
    }
}

#[allow(clippy::disallowed_methods, reason = "a driver reads the clock")]
fn std_now() -> std::time::Instant {
    std::time::Instant::now()
}

/// Times that one poll serves links that want another turn at once: a listener takes in one stream at a time.
const ROUNDS: usize = 64;

/// Times that a machine is drained in one go because a link had something to report.
const SETTLINGS: usize = 16;
