//! `iolite dissect`.

use clap::Args;
use std::{net::IpAddr, path::PathBuf};

/// Prints the RakNet datagrams in a pcap or pcap-ng file, one line each. Damaged datagrams are shown with the place
/// and the reason, those of other protocols as such.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Dissect {
    /// The capture; `-` reads standard input.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Show every field and the bytes of payloads.
    #[arg(short, long)]
    pub(crate) verbose: bool,

    /// Only datagrams from or to this IP address; may be repeated.
    #[arg(short, long, value_name = "IP")]
    pub(crate) address: Vec<IpAddr>,

    /// Only datagrams from or to this port; may be repeated.
    #[arg(short, long)]
    pub(crate) port: Vec<u16>,

    /// Stop after this many datagrams.
    #[arg(short = 'n', long, value_name = "COUNT")]
    pub(crate) limit: Option<u64>,

    /// Print one JSON object a line.
    #[arg(long, conflicts_with = "verbose")]
    pub(crate) json: bool,
}

const EXAMPLES: &str = "\
Examples:
  iolite dissect trace.pcapng
  iolite dissect trace.pcap --address 203.0.113.7 --port 19132 -v
  tcpdump -c 100 -w - udp port 19132 | iolite dissect -
  iolite dissect trace.pcapng --json | jq 'select(.malformed)'";
