//! Giving commands to a machine that a driver runs.

use proto_core::Instant;
use std::{
    fmt,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use crate::{Stats, shared::Shared};

/// One of the application's hands on a driver. Commands run in the caller's thread; what they cause is sent by the
/// driver's task.
///
/// The driver lives at least as long as its handles. When the last one is dropped it ends in good order (see
/// [`Face::abandon`](crate::Face::abandon)).
pub struct Handle<M, F> {
    shared: Arc<Shared<M, F>>,
}

impl<M, F> Handle<M, F> {
    pub(crate) const fn new(shared: Arc<Shared<M, F>>) -> Self {
        Self { shared }
    }

    /// Runs a command that may leave something to send, and has the driver send it.
    #[inline]
    pub fn with<T>(&self, command: impl FnOnce(&mut M, &mut F, Instant) -> T) -> T {
        let now = self.shared.now();
        let mut state = self.shared.lock();
        let state = &mut *state;
        let answer = command(&mut state.machine, &mut state.face, now);
        state.wake_driver();
        answer
    }

    /// Runs a command that leaves nothing to send: asks something, or takes out what has arrived.
    #[inline]
    pub fn read<T>(&self, command: impl FnOnce(&mut M, &mut F) -> T) -> T {
        let mut state = self.shared.lock();
        let state = &mut *state;
        let answer = command(&mut state.machine, &mut state.face);
        if state.holding_back {
            state.wake_driver();
        }
        answer
    }

    /// Says whether both belong to the same driver.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// Has the driver end after `within` even if the machine is not finished by then. Of several calls the
    /// nearest deadline counts.
    pub fn end_within(&self, within: Duration) {
        let deadline = self.shared.now() + within;
        let mut state = self.shared.lock();
        state.end_by(deadline);
        state.wake_driver();
    }

    /// Waits until the driver has ended and its sockets are closed.
    pub async fn ended(&self) {
        std::future::poll_fn(|cx| self.poll_ended(cx)).await;
    }

    /// Polls for the driver's end.
    pub fn poll_ended(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.shared.lock();
        if state.ended {
            return Poll::Ready(());
        }
        if !state.watchers.iter().any(|watcher| watcher.will_wake(cx.waker())) {
            state.watchers.push(cx.waker().clone());
        }
        Poll::Pending
    }

    /// Says whether the driver has ended, so that commands have no effect any more.
    pub fn has_ended(&self) -> bool {
        self.shared.lock().ended
    }

    /// Returns what the driver counted so far.
    pub fn stats(&self) -> Stats {
        self.shared.lock().stats
    }
}

impl<M, F> Clone for Handle<M, F> {
    fn clone(&self) -> Self {
        self.shared.add_handle();
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<M, F> Drop for Handle<M, F> {
    fn drop(&mut self) {
        if self.shared.remove_handle() {
            let mut state = self.shared.lock();
            state.abandoned = true;
            state.wake_driver();
        }
    }
}

impl<M, F> fmt::Debug for Handle<M, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").finish_non_exhaustive()
    }
}
