//! The lines by which peers tell the benchmark what there is to know.

use std::{
    io::{self, Write as _},
    net::SocketAddr,
};

use serde::{Deserialize, Serialize};

use super::Tally;
use crate::{Rtt, Usage};

/// What an initiator or driver measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// From the first operation of the measurement until the last was settled.
    pub seconds: f64,
    /// Operations that were settled in that time.
    pub operations: u64,
    /// The bytes of their contents.
    pub bytes: u64,
    /// How long operations took.
    pub rtt: Option<Rtt>,
    /// All that was begun, warm-up included.
    pub begun: Tally,
    /// All that was settled: proved, answered, or taken from the relay with every byte right.
    pub settled: Tally,
    /// What this process took during the measurement.
    pub own: Option<Usage>,
    /// What the partner took.
    pub partner: Option<Usage>,
    /// The longest frame that the link through a relay allows, where there is one.
    pub link_mtu: Option<usize>,
}

impl Report {
    /// Prints the report as one line of JSON.
    ///
    /// # Errors
    ///
    /// When standard output is closed.
    pub fn print(&self) -> io::Result<()> {
        print_line(&serde_json::to_string(self)?)
    }
}

/// Where a responder or relay can be reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ready {
    /// Where it listens.
    pub address: SocketAddr,
    /// Its destination in hexadecimal digits; empty for a relay.
    pub destination: String,
}

impl Ready {
    /// Tells the benchmark; other processes are started after this line.
    ///
    /// # Errors
    ///
    /// When standard output is closed.
    pub fn print(&self) -> io::Result<()> {
        print_line(format!("{READY}{} {}", self.address, self.destination).trim_end())
    }

    /// Reads the line that [`print`](Self::print) wrote.
    pub fn parse(line: &str) -> Option<Self> {
        let mut words = line.strip_prefix(READY)?.split_whitespace();
        let address = words.next()?.parse().ok()?;
        Some(Self { address, destination: words.next().unwrap_or_default().to_owned() })
    }
}

pub(super) fn print_line(line: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{line}")?;
    stdout.flush()
}

const READY: &str = "ready ";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relay_has_only_an_address_and_a_responder_a_destination_too() {
        let relay = Ready::parse("ready 127.0.0.1:7").unwrap();
        assert_eq!((relay.address.port(), relay.destination.as_str()), (7, ""));
        assert_eq!(Ready::parse("ready 127.0.0.1:7 00ff").unwrap().destination, "00ff");
        assert_eq!(Ready::parse("listening on 127.0.0.1:7"), None);
    }
}
