//! The future that connects a machine to sockets, a clock and the application's tasks.

mod alarm;
mod scratch;
mod sink;
mod spin;

use proto_core::{Instant, LinkId, Machine, deliver, pump};
use socket2::Socket;
use std::{
    fmt, io,
    marker::PhantomData,
    mem,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use crate::{DriverConfig, Face, Handle, Runtime, ports::Ports, shared::Shared};
use alarm::Alarm;
use scratch::with_scratch;
use sink::Outputs;
use spin::{Spin, Wait, drivers};

/// Runs a machine until its face says that it is finished, or until some time after the last handle was dropped.
///
/// A wake-up goes through rounds of two halves:
///
/// ```text
///          +--> send: due timers, what waits for room, what commands and input left
///          |    receive: batches of datagrams, pieces of streams and news of links into the machine
///          |    deliver: events, which wake the application's tasks
///          |      |-- some: yield, so that answers given at once leave together with the acknowledgements
///          +------+-- none: next round
///                 nothing received: look again for a moment, then set the timer and sleep
/// ```
pub struct Driver<M: Machine, F: Face<M>, R: Runtime> {
    shared: Arc<Shared<M, F>>,
    ports: Ports<R>,
    alarm: Alarm<R::Timer>,
    spin: Spin,
    config: DriverConfig,
    /// The machine took something in since it was drained.
    unsent: bool,
    /// When it must be drained again, if nothing happens before.
    next: Option<Instant>,
}

impl<M, F, R> Driver<M, F, R>
where
    M: Machine + Send + 'static,
    F: Face<M>,
    R: Runtime,
{
    /// Creates a driver and the first handle on it. It runs once it is [spawned](Self::spawn) or polled.
    ///
    /// # Errors
    /// The runtime has no timer to give.
    pub fn new(machine: M, face: F, config: DriverConfig) -> io::Result<(Self, Handle<M, F>)> {
        let shared = Arc::new(Shared::new(machine, face, R::now));
        let driver = Self {
            shared: Arc::clone(&shared),
            ports: Ports::new(),
            alarm: Alarm::new(R::timer()?),
            spin: Spin::new(config.spin),
            config,
            unsent: true,
            next: None,
        };
        Ok((driver, Handle::new(shared)))
    }

    /// Adds a bound UDP socket as `link`; the machine is told that the link is up, without having asked for it.
    ///
    /// # Errors
    /// The reactor or the operating system cannot take the socket.
    pub fn add_udp(&mut self, link: LinkId, socket: std::net::UdpSocket) -> io::Result<()> {
        self.ports.add_udp(link, socket)
    }

    /// Adds a stream socket of any family as `link`; the machine is told that the link is up, without having asked for
    /// it, as soon as the socket is connected.
    ///
    /// # Errors
    /// The reactor or the operating system cannot take the socket, or the link is in use.
    pub fn add_stream(&mut self, link: LinkId, socket: impl Into<Socket>) -> io::Result<()> {
        self.ports.add_stream(link, socket.into(), self.shared.now())
    }

    /// Adds a listening socket of any family as `link`; the machine is told that the link is up, without having asked
    /// for it.
    ///
    /// # Errors
    /// The reactor or the operating system cannot take the socket, or the link is in use.
    pub fn add_listener(&mut self, link: LinkId, socket: impl Into<Socket>) -> io::Result<()> {
        self.ports.add_listener(link, socket.into())
    }

    /// Runs the driver in the background.
    pub fn spawn(self) {
        R::spawn(self);
    }
}

impl<M, F, R> Future for Driver<M, F, R>
where
    M: Machine + Send + 'static,
    F: Face<M>,
    R: Runtime,
{
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        let mut active = false;
        for _ in 0..ROUNDS {
            let now = this.shared.now();
            match this.send(now, cx) {
                Sent::Finished => {
                    this.end();
                    return Poll::Ready(());
                }
                Sent::Some => active = true,
                Sent::Nothing => {}
            }
            let looking = this.spin.is_on();
            if this.receive(now, looking, cx) {
                active = true;
                this.spin.arrived();
                if this.deliver(now) {
                    break;
                }
            } else if !this.unsent {
                match this.spin.wait(now, active && this.ports.has_udp()) {
                    Wait::Look => break,
                    // Another round, in which the task registers for what arrives.
                    Wait::Sleep if looking => active = false,
                    Wait::Sleep => {
                        let slack = if drivers() > FEW_DRIVERS { COARSE } else { Duration::ZERO };
                        this.alarm.schedule(this.next, slack, this.shared.clock(), cx);
                        return Poll::Pending;
                    }
                }
            }
        }
        this.shared.lock().scheduled = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl<M: Machine, F: Face<M>, R: Runtime> Driver<M, F, R> {
    /// Drains the machine into the ports, if anything happened since it was drained last.
    fn send(&mut self, now: Instant, cx: &mut Context<'_>) -> Sent {
        let mut guard = self.shared.lock();
        let state = &mut *guard;
        let commanded = state.enter(cx);
        let due = self.next.is_some_and(|next| next <= now);
        if !(self.unsent || commanded || due || self.ports.is_blocked()) {
            return Sent::Nothing;
        }
        if mem::take(&mut state.abandoned) {
            state.face.abandon(&mut state.machine, now);
            state.end_by(now + self.config.linger);
        }
        state.face.prepare(&mut state.machine, now);

        let (mut next, mut all, mut any) = (None, false, false);
        let max_segments = self.ports.max_segments().min(self.config.segments_per_send);
        for _ in 0..SETTLINGS {
            let mut outputs = Outputs::<M, F, R> {
                ports: &mut self.ports,
                face: &mut state.face,
                stats: &mut state.stats,
                now,
                max_segments,
                machine: PhantomData,
            };
            let budget = self.config.transmits_per_round;
            let pumped = with_scratch(|scratch| pump(&mut state.machine, now, budget, scratch, &mut outputs));
            next = pumped.next;
            any |= pumped.transmits > 0;
            let settled = !self.ports.settle(&mut state.machine, now, &mut state.stats, cx);
            all = settled && !pumped.more;
            if settled || pumped.more {
                break;
            }
        }
        state.holding_back = self.ports.hold_back(&state.machine);
        self.unsent = !all;
        let own = [state.end_by, self.ports.next_deadline()];
        self.next = own.into_iter().chain([next]).flatten().min();

        let finished = all && state.face.is_finished(&state.machine) && !self.ports.has_unsent();
        if finished || state.end_by.is_some_and(|end| end <= now) {
            Sent::Finished
        } else if any {
            Sent::Some
        } else {
            Sent::Nothing
        }
    }

    /// Reads what has arrived on each link, up to the budget, into the machine. Says whether anything had. Where
    /// nothing had, the task is woken by the next arrival, unless it is only `looking`.
    fn receive(&mut self, now: Instant, looking: bool, cx: &mut Context<'_>) -> bool {
        let any = self.ports.serve(&self.shared, now, &self.config, looking, cx);
        self.unsent |= any;
        any
    }

    /// Hands out the events that what was received caused, and says whether there were any.
    fn deliver(&mut self, now: Instant) -> bool {
        let mut guard = self.shared.lock();
        let state = &mut *guard;
        let mut outputs = Outputs::<M, F, R> {
            ports: &mut self.ports,
            face: &mut state.face,
            stats: &mut state.stats,
            now,
            max_segments: self.config.segments_per_send,
            machine: PhantomData,
        };
        deliver(&mut state.machine, &mut outputs)
    }
}

impl<M: Machine, F: Face<M>, R: Runtime> Driver<M, F, R> {
    /// Closes the sockets and then tells everybody who waits.
    fn end(&mut self) {
        self.ports.close();
        let mut guard = self.shared.lock();
        let state = &mut *guard;
        if !mem::replace(&mut state.ended, true) {
            state.face.stopped(&mut state.machine);
            state.driver = None;
            for watcher in mem::take(&mut state.watchers) {
                watcher.wake();
            }
        }
    }
}

/// A driver that is dropped before its end (a runtime that shuts down) leaves nobody waiting.
impl<M: Machine, F: Face<M>, R: Runtime> Drop for Driver<M, F, R> {
    fn drop(&mut self) {
        self.end();
    }
}

impl<M: Machine, F: Face<M>, R: Runtime> fmt::Debug for Driver<M, F, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Driver").field("config", &self.config).finish_non_exhaustive()
    }
}

/// What the sending half of a round did.
enum Sent {
    /// Something left.
    Some,
    /// There was nothing to send.
    Nothing,
    /// There is nothing left to do, ever.
    Finished,
}

/// Up to so many drivers in a process, each has a precise timer.
const FEW_DRIVERS: usize = 8;

/// How late the timers of more drivers may be: a cheaper kind will do for them.
const COARSE: Duration = Duration::from_millis(2);

/// Rounds in one wake-up before other tasks get their turn.
const ROUNDS: usize = 4;

/// Times in one round that a machine is drained because a link had something to report.
const SETTLINGS: usize = 8;
