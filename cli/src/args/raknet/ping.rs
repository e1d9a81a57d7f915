//! `iolite raknet ping`.

use clap::Args;
use std::time::Duration;

use super::Family;
use crate::args::values::{self, HostPort};

/// Pings a server without opening a session, as a game's server list does. Shows what the server says about itself
/// and, at the end or on Ctrl-C, the statistics of the round trip. The exit code is 1 when nobody answered.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Ping {
    /// The server; the port is 19132 unless given.
    #[arg(value_name = "HOST[:PORT]")]
    pub(crate) server: HostPort,

    /// Stop after this many pings; 0 goes on until Ctrl-C.
    #[arg(short = 'n', long, default_value_t = 4)]
    pub(crate) count: u64,

    /// The time between two pings.
    #[arg(short, long, value_name = "TIME", value_parser = values::time, default_value = "1s")]
    pub(crate) interval: Duration,

    /// How long to wait for an answer.
    #[arg(short = 't', long, value_name = "TIME", value_parser = values::time, default_value = "2s")]
    pub(crate) timeout: Duration,

    /// Ask for an answer only if the server takes connections.
    #[arg(long)]
    pub(crate) open_only: bool,

    #[command(flatten)]
    pub(crate) family: Family,

    /// Print one JSON object a line.
    #[arg(long)]
    pub(crate) json: bool,
}

const EXAMPLES: &str = "\
Examples:
  iolite raknet ping play.example.org
  iolite raknet ping 203.0.113.7:19134 -n 100 -i 200ms
  iolite raknet ping play.example.org -n 1 --json";
