//! `iolite dissect`.

use clap::Args;
use std::{net::IpAddr, path::PathBuf};

/// Prints the RakNet datagrams and Reticulum packets in a pcap or pcap-ng file, one line each. Damaged ones are shown
/// with the place and the reason, datagrams of other protocols as such. Reticulum is found in datagrams and on TCP
/// streams; it is known by its announces, link requests and path requests, or by its port.
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

    /// A port that Reticulum is spoken on; may be repeated.
    #[arg(long, value_name = "PORT")]
    pub(crate) rns_port: Vec<u16>,

    /// Reticulum's TCP streams are framed by KISS instead of HDLC.
    #[arg(long)]
    pub(crate) rns_kiss: bool,

    /// The name of the Reticulum network that has an access code.
    #[arg(long, value_name = "NAME")]
    pub(crate) ifac_name: Option<String>,

    /// The passphrase of the Reticulum network that has an access code.
    #[arg(long, value_name = "PASSPHRASE")]
    pub(crate) ifac_pass: Option<String>,

    /// The length of the access code in bits, as in Reticulum's config file.
    #[arg(long, value_name = "BITS", default_value_t = 128, value_parser = clap::value_parser!(u16).range(8..=512))]
    pub(crate) ifac_size: u16,

    /// A file with a Reticulum identity, to decrypt what was sent to it in single packets; may be repeated. What was
    /// said on links stays encrypted: their keys are made for one link and never sent.
    #[arg(long, value_name = "FILE")]
    pub(crate) identity: Vec<PathBuf>,

    /// Print one JSON object a line.
    #[arg(long, conflicts_with = "verbose")]
    pub(crate) json: bool,
}

const EXAMPLES: &str = "\
Examples:
  iolite dissect trace.pcapng
  iolite dissect trace.pcap --address 203.0.113.7 --port 19132 -v
  tcpdump -c 100 -w - udp port 19132 | iolite dissect -
  iolite dissect trace.pcap --rns-port 4242 --identity ~/.reticulum/storage/identities/rncp -v
  iolite dissect trace.pcapng --json | jq 'select(.malformed)'";
