//! How long a test waits for something.

use std::time::{Duration, Instant};

/// How long anything may take: a peer's start, a megabyte through its slowest window, the timeout of a lost session.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);

/// Asks again and again until there is an answer; `None` when there is none for long.
pub fn until<T>(mut ask: impl FnMut() -> Option<T>) -> Option<T> {
    let deadline = now() + PATIENCE;
    loop {
        if let Some(answer) = ask() {
            return Some(answer);
        }
        if now() >= deadline {
            return None;
        }
        pause(Duration::from_millis(1));
    }
}

/// Reads the clock.
#[allow(clippy::disallowed_methods, reason = "real peers live in real time")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Waits.
#[allow(clippy::disallowed_methods, reason = "real peers live in real time")]
pub(crate) fn pause(duration: Duration) {
    std::thread::sleep(duration);
}
