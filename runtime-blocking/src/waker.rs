//! Waking a driver that waits.

use rustix::{
    event::{EventfdFlags, eventfd},
    io::{read, write},
};
use std::{
    fmt, io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::Wake,
};

/// Ends a [`wait`](crate::Blocking::wait) from any thread.
#[derive(Clone)]
pub struct Waker {
    bell: Arc<Bell>,
}

impl Waker {
    /// Has the driver's wait return soon: the one in progress, or else the next.
    pub fn wake(&self) {
        self.bell.ring(&self.bell.called);
    }
}

impl fmt::Debug for Waker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waker").finish_non_exhaustive()
    }
}

/// What other threads ring and the driver watches.
#[derive(Debug)]
pub(crate) struct Bell {
    descriptor: OwnedFd,
    /// The application called.
    called: AtomicBool,
    /// A name was resolved.
    answered: AtomicBool,
}

impl Bell {
    /// Creates a bell.
    ///
    /// # Errors
    /// The process has no descriptor left.
    pub(crate) fn new() -> io::Result<Self> {
        let descriptor = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?;
        Ok(Self { descriptor, called: AtomicBool::new(false), answered: AtomicBool::new(false) })
    }

    pub(crate) fn waker(bell: &Arc<Self>) -> Waker {
        Waker { bell: Arc::clone(bell) }
    }

    /// Forgets that it was rung.
    pub(crate) fn silence(&self) {
        // The flags say what for; that the counter is empty already does not matter.
        let _ = read(&self.descriptor, &mut [0; 8]);
    }

    /// Says whether the application called since it was last asked.
    pub(crate) fn was_called(&self) -> bool {
        self.called.load(Ordering::Relaxed) && self.called.swap(false, Ordering::AcqRel)
    }

    /// Says whether a name was resolved since it was last asked.
    pub(crate) fn was_answered(&self) -> bool {
        self.answered.load(Ordering::Relaxed) && self.answered.swap(false, Ordering::AcqRel)
    }

    fn ring(&self, reason: &AtomicBool) {
        if !reason.swap(true, Ordering::AcqRel) {
            // It fails only where the counter is full, which wakes just as well.
            let _ = write(&self.descriptor, &1_u64.to_ne_bytes());
        }
    }
}

impl AsFd for Bell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// A resolver's thread rings when it has an answer.
impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.ring(&self.answered);
    }
}
