//! One KCP connection with the benchmark's settings and its flush policy.

use std::time::{Duration, Instant};

use bench_peer::Fault;

use crate::core::{Kcp, Outlet};

/// When queued segments leave.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Flush {
    /// With every message, as its author's echo of "immediate writes".
    AfterEachSend,
    /// Once for everything a wake-up brought, which packs small segments.
    AfterEachWake,
}

/// A connection, and whether a flush is owed.
pub(crate) struct Session<O: Outlet> {
    kcp: Kcp<O>,
    policy: Flush,
    owes_flush: bool,
}

impl<O: Outlet> Session<O> {
    pub(crate) fn new(conversation: u32, policy: Flush, outlet: O, clock: &Clock) -> Result<Self, Fault> {
        let mut kcp = Kcp::new(conversation, outlet)?;
        kcp.tune(INTERVAL_MS, WINDOWS, MTU);
        kcp.update(clock.now());
        Ok(Self { kcp, policy, owes_flush: false })
    }

    pub(crate) fn input(&mut self, datagram: &[u8]) -> Result<(), Fault> {
        self.owes_flush = true;
        self.kcp.input(datagram)
    }

    pub(crate) fn recv<'a>(&mut self, buffer: &'a mut [u8]) -> Option<&'a [u8]> {
        self.kcp.recv(buffer)
    }

    pub(crate) fn send(&mut self, message: &[u8], clock: &Clock) -> Result<(), Fault> {
        self.kcp.send(message)?;
        self.owes_flush = true;
        if self.policy == Flush::AfterEachSend {
            self.flush(clock);
        }
        Ok(())
    }

    /// Ends the handling of one datagram: acknowledgements that no message took along leave now.
    pub(crate) fn end_datagram(&mut self, clock: &Clock) {
        if self.policy == Flush::AfterEachSend {
            self.flush(clock);
        }
    }

    /// Ends a wake-up.
    pub(crate) fn end_wake(&mut self, clock: &Clock) {
        self.flush(clock);
    }

    /// Lets the core do what is due; wanted every [`INTERVAL`].
    pub(crate) fn tick(&mut self, clock: &Clock) {
        self.kcp.update(clock.now());
    }

    fn flush(&mut self, clock: &Clock) {
        if self.owes_flush {
            self.owes_flush = false;
            self.kcp.update(clock.now());
            self.kcp.flush();
        }
    }
}

/// KCP's clock, and the beat at which idle connections are visited.
pub(crate) struct Clock {
    base: Instant,
    next_tick: Instant,
}

impl Clock {
    pub(crate) fn new() -> Self {
        let base = Instant::now();
        Self { base, next_tick: base + INTERVAL }
    }

    /// Milliseconds since the start.
    pub(crate) fn now(&self) -> u32 {
        self.base.elapsed().as_millis() as u32
    }

    /// How long nothing but a datagram needs attention.
    pub(crate) fn until_tick(&self) -> Duration {
        self.next_tick.saturating_duration_since(Instant::now())
    }

    /// Whether the connections must be visited now; true once a beat.
    pub(crate) fn is_tick(&mut self) -> bool {
        let now = Instant::now();
        let due = now >= self.next_tick;
        if due {
            self.next_tick = now + INTERVAL;
        }
        due
    }
}

const INTERVAL_MS: i32 = 10;
const INTERVAL: Duration = Duration::from_millis(10);
/// The core never takes a receive window under 128.
const WINDOWS: (i32, i32) = (64, 128);
/// Of the UDP payload.
const MTU: i32 = 1400;
/// Longest datagram that is read.
pub(crate) const LARGEST_DATAGRAM: usize = 2048;
/// Datagrams taken from one socket before others get their turn.
pub(crate) const DATAGRAMS_PER_WAKE: usize = 64;
