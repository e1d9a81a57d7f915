//! Tasks that wait for the same thing.

use std::task::{Context, Waker};

/// Wakers of waiting tasks. There are as many as tasks that wait, and nearly always that is one.
#[derive(Debug, Default)]
pub(crate) struct Waiters {
    wakers: Vec<Waker>,
}

impl Waiters {
    /// Has the task of `cx` woken by the next [`wake`](Self::wake).
    pub(crate) fn add(&mut self, cx: &Context<'_>) {
        if !self.wakers.iter().any(|waker| waker.will_wake(cx.waker())) {
            self.wakers.push(cx.waker().clone());
        }
    }

    /// Wakes all. Each has to [add](Self::add) itself again if it goes on waiting.
    pub(crate) fn wake(&mut self) {
        for waker in self.wakers.drain(..) {
            waker.wake();
        }
    }
}
