//! `iolite raknet serve`.

use clap::{Args, ValueEnum};
use std::{net::SocketAddr, time::Duration};

use crate::args::values;

/// Runs an echo server until Ctrl-C: every message goes back with its reliability and channel.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Serve {
    /// The address to listen on; port 0 takes any free one.
    #[arg(short, long, value_name = "ADDRESS", default_value = "0.0.0.0:19132")]
    pub(crate) listen: SocketAddr,

    /// The name that pings are answered with.
    #[arg(long, value_name = "NAME", default_value = "Iolite echo server")]
    pub(crate) motd: String,

    /// Sessions at a time.
    #[arg(long, value_name = "COUNT", default_value_t = 4_096, value_parser = clap::value_parser!(u32).range(1..=1_048_576))]
    pub(crate) max_connections: u32,

    /// What clients must know to be let in.
    #[arg(long)]
    pub(crate) password: Option<String>,

    /// Whether a client must first prove that it receives at its address. Turn it off for clients that cannot, such as
    /// rust-raknet and jsp-raknet.
    #[arg(long, value_enum, default_value_t = Switch::On)]
    pub(crate) cookies: Switch,

    /// The protocol versions to let in; the first is announced to others.
    #[arg(long, value_name = "VERSIONS", value_delimiter = ',', default_value = "11,10,9,8,7,6")]
    pub(crate) protocol: Vec<u8>,

    /// Sockets that share the address, to use several cores.
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) shards: u16,

    /// The time between two statistics with --json.
    #[arg(long, value_name = "TIME", value_parser = values::time, default_value = "1s")]
    pub(crate) interval: Duration,

    /// Print events and statistics as JSON, one object a line.
    #[arg(long)]
    pub(crate) json: bool,
}

/// A setting that is on or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Switch {
    /// It is in force.
    On,
    /// It is not.
    Off,
}

const EXAMPLES: &str = "\
Examples:
  iolite raknet serve
  iolite raknet serve --listen 127.0.0.1:0 --password secret --max-connections 10
  iolite raknet serve --listen '[::]:19132' --shards 4 --cookies off --protocol 11,10";
