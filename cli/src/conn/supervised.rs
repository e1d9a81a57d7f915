//! Work in a thread of its own that Ctrl-C ends in good order.

use runtime_blocking::Waker;
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use crate::{commands::aside, failure::Failure, interrupt::Interrupt};

/// Asks work in another thread to end. It is to look at it whenever its driver was woken.
#[derive(Clone, Debug)]
pub(super) struct Stop {
    is_wanted: Arc<AtomicBool>,
    waker: Waker,
}

impl Stop {
    /// Creates one that wakes the work by this.
    pub(super) fn new(waker: Waker) -> Self {
        Self { is_wanted: Arc::new(AtomicBool::new(false)), waker }
    }

    /// Asks for the end.
    pub(super) fn ask(&self) {
        self.is_wanted.store(true, Ordering::Release);
        self.waker.wake();
    }

    /// Says whether the end is asked for.
    pub(super) fn is_wanted(&self) -> bool {
        self.is_wanted.load(Ordering::Acquire)
    }
}

/// Runs work that heeds `stop`, until it is done, or until the user ends it and it has followed.
///
/// # Errors
/// The work's own; [`Failure::interrupted`] when the user ended it.
pub(super) async fn run<T: Send + 'static>(
    interrupt: &Interrupt,
    stop: Stop,
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let mut work = std::pin::pin!(aside(work));
    tokio::select! {
        done = &mut work => done,
        () = interrupt.wait() => {
            stop.ask();
            work.await?;
            Err(Failure::interrupted())
        }
    }
}
