//! `iolite raknet bench`.

use bench_peer::{MAX_SIZE, MIN_SIZE};
use clap::Args;
use std::time::Duration;

use super::Connect;
use crate::args::values::{self, HostPort};

/// Sends messages to an echo server, some of them on their way at a time, compares every echo to the last byte, and
/// prints throughput and latency.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Bench {
    /// An echo server, such as `iolite raknet serve`; the port is 19132 unless given.
    #[arg(value_name = "HOST[:PORT]", required_unless_present = "own")]
    pub(crate) server: Option<HostPort>,

    /// Run the echo server in this process.
    #[arg(long = "self", conflicts_with = "server")]
    pub(crate) own: bool,

    /// Bytes a message, 8 to 65536.
    #[arg(short, long, value_name = "BYTES", value_parser = message_size, default_value = "800")]
    pub(crate) size: usize,

    /// Messages on their way at a time in each session.
    #[arg(short = 'w', long, value_name = "COUNT", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub(crate) inflight: u32,

    /// Sessions, each with a socket of its own.
    #[arg(short, long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4_096))]
    pub(crate) connections: u32,

    /// How long to measure.
    #[arg(short, long, value_name = "TIME", value_parser = values::time, default_value = "5s")]
    pub(crate) duration: Duration,

    /// Send this many messages in each session instead of measuring for a time.
    #[arg(short = 'n', long, value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "duration")]
    pub(crate) count: Option<u32>,

    #[command(flatten)]
    pub(crate) connect: Connect,

    /// Print the result as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

fn message_size(text: &str) -> Result<usize, String> {
    let size = values::size(text)?;
    if !(MIN_SIZE..=MAX_SIZE).contains(&size) {
        return Err(format!("the size must lie between {MIN_SIZE} and {MAX_SIZE}"));
    }
    Ok(size)
}

const EXAMPLES: &str = "\
Examples:
  iolite raknet bench --self
  iolite raknet bench 127.0.0.1 --size 64 --inflight 256 --duration 10s
  iolite raknet bench play.example.org --connections 100 --count 1000 --json";
