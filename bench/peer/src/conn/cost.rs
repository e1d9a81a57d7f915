//! What answering costs a peer.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The times between a request that has fully arrived and the start of its answer, added up.
///
/// Transport and encryption are no part of it.
#[derive(Debug, Clone, Default)]
pub struct Gauge(Arc<Sums>);

#[derive(Debug, Default)]
struct Sums {
    answers: AtomicU64,
    nanos: AtomicU64,
}

/// What a [`Gauge`] read at some moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// Requests that were answered.
    pub answers: u64,
    /// Nanoseconds that all of them took together.
    pub nanos: u64,
}

impl Gauge {
    /// Adds one answer; it took no time where nothing lies between the request and sending it back.
    pub fn add(&self, time: Duration) {
        let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        // Only one peer adds; whoever reads at the same time sees one answer more or less.
        self.0.nanos.fetch_add(nanos, Ordering::Relaxed);
        self.0.answers.fetch_add(1, Ordering::Relaxed);
    }

    /// Everything so far.
    pub fn read(&self) -> Cost {
        Cost { answers: self.0.answers.load(Ordering::Relaxed), nanos: self.0.nanos.load(Ordering::Relaxed) }
    }
}

impl Cost {
    /// The cost since `earlier`.
    pub fn since(self, earlier: Self) -> Self {
        Self { answers: self.answers - earlier.answers, nanos: self.nanos - earlier.nanos }
    }

    /// Microseconds an answer; none without answers.
    pub fn mean(self) -> Option<f64> {
        (self.answers > 0).then(|| self.nanos as f64 / self.answers as f64 / 1e3)
    }

    /// Prints the cost as one line of JSON, which is a server's last word.
    ///
    /// # Errors
    ///
    /// When standard output is closed.
    pub fn print(&self) -> io::Result<()> {
        let mut line = serde_json::to_string(self)?;
        line.push('\n');
        io::stdout().lock().write_all(line.as_bytes())
    }
}
