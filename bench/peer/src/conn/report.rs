//! What a client tells the benchmark.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use crate::{Rtt, Usage};

/// The result of one client run: the measured exchanges only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Exchanges.
    pub exchanges: u64,
    /// From the first to the last of them.
    pub seconds: f64,
    /// The mean round trip in microseconds.
    pub mean: f64,
    /// How the round trips are distributed.
    pub rtt: Rtt,
    /// The mean [`Cost`](super::Cost) of an answer in microseconds, where the peer runs in the client's process.
    pub server_cost: Option<f64>,
    /// What the process took from the machine.
    pub usage: Usage,
}

impl Report {
    /// Prints the report as one line of JSON.
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
