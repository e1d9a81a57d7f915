//! What a driver and its handles share.

use proto_core::{Instant, StdClock};
use std::{
    mem,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Waker},
};

use crate::Stats;

/// The machine and its face under one lock, which is held only while a command runs and while the driver moves data.
pub(crate) struct Shared<M, F> {
    state: Mutex<State<M, F>>,
    /// Living handles. Outside the lock, so that cloning a handle never waits.
    handles: AtomicUsize,
    clock: StdClock,
    read_clock: fn() -> std::time::Instant,
}

pub(crate) struct State<M, F> {
    pub(crate) machine: M,
    pub(crate) face: F,
    pub(crate) stats: Stats,
    /// The driver's task, once it has been polled.
    pub(crate) driver: Option<Waker>,
    /// A command was run, or something else was done that the driver is to look at.
    pub(crate) commanded: bool,
    /// The driver is about to run anyway, so that waking it would be wasted work.
    pub(crate) scheduled: bool,
    /// The driver left a link unread because the machine wanted no more; taking something out may change that.
    pub(crate) holding_back: bool,
    /// The last handle was dropped.
    pub(crate) abandoned: bool,
    /// When the driver ends, whatever is left to do.
    pub(crate) end_by: Option<Instant>,
    /// The driver has ended.
    pub(crate) ended: bool,
    /// Tasks that wait for the driver's end.
    pub(crate) watchers: Vec<Waker>,
}

impl<M, F> Shared<M, F> {
    /// Creates the state with one handle.
    pub(crate) fn new(machine: M, face: F, read_clock: fn() -> std::time::Instant) -> Self {
        let state = State {
            machine,
            face,
            stats: Stats::default(),
            driver: None,
            commanded: false,
            // The first poll is on its way.
            scheduled: true,
            holding_back: false,
            abandoned: false,
            end_by: None,
            ended: false,
            watchers: Vec::new(),
        };
        Self {
            state: Mutex::new(state),
            handles: AtomicUsize::new(1),
            clock: StdClock::new(read_clock()),
            read_clock,
        }
    }

    /// Takes the lock. A panic of another holder is not passed on: machines keep their own invariants.
    pub(crate) fn lock(&self) -> MutexGuard<'_, State<M, F>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn now(&self) -> Instant {
        self.clock.to_machine((self.read_clock)())
    }

    pub(crate) const fn clock(&self) -> &StdClock {
        &self.clock
    }

    pub(crate) fn add_handle(&self) {
        self.handles.fetch_add(1, Ordering::Relaxed);
    }

    /// Says whether that was the last one.
    pub(crate) fn remove_handle(&self) -> bool {
        self.handles.fetch_sub(1, Ordering::AcqRel) == 1
    }
}

impl<M, F> State<M, F> {
    /// Makes sure that the driver runs soon.
    pub(crate) fn wake_driver(&mut self) {
        self.commanded = true;
        if !self.scheduled
            && let Some(driver) = &self.driver
        {
            self.scheduled = true;
            driver.wake_by_ref();
        }
    }

    /// Takes note that the driver runs now, in the task of `cx`. Says whether somebody wants it to look at the machine.
    pub(crate) fn enter(&mut self, cx: &Context<'_>) -> bool {
        self.scheduled = false;
        if self.driver.as_ref().is_none_or(|driver| !driver.will_wake(cx.waker())) {
            self.driver = Some(cx.waker().clone());
        }
        mem::take(&mut self.commanded)
    }

    /// Brings the end nearer, never further away.
    pub(crate) fn end_by(&mut self, deadline: Instant) {
        self.end_by = Some(self.end_by.map_or(deadline, |before| before.min(deadline)));
    }
}
