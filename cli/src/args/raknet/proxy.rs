//! `iolite raknet proxy`.

use clap::Args;
use std::{net::SocketAddr, time::Duration};

use super::{Connect, serve::Switch};
use crate::args::values::{self, HostPort};

/// Relays RakNet sessions until Ctrl-C. Pings are answered with what the target says about itself, with this proxy's
/// port in place of its own. Each incoming session opens one to the target with the same protocol version; messages
/// go through unchanged in both directions, and who sends faster than the other side takes is slowed down.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Proxy {
    /// The address to listen on; port 0 takes any free one.
    #[arg(short, long, value_name = "ADDRESS", default_value = "0.0.0.0:19132")]
    pub(crate) listen: SocketAddr,

    /// The server to relay to; the port is 19132 unless given.
    #[arg(long, value_name = "HOST[:PORT]")]
    pub(crate) to: HostPort,

    /// Sessions at a time.
    #[arg(long, value_name = "COUNT", default_value_t = 1_024, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub(crate) max_connections: u32,

    /// Whether a client must first prove that it receives at its address. Turn it off for clients that cannot, such as
    /// bedrock-protocol on jsp-raknet. A target is spoken to either way.
    #[arg(long, value_enum, default_value_t = Switch::On)]
    pub(crate) cookies: Switch,

    /// The time between two questions for the target's description.
    #[arg(long, value_name = "TIME", value_parser = values::time, default_value = "5s")]
    pub(crate) refresh: Duration,

    /// The time between two statistics with --json.
    #[arg(long, value_name = "TIME", value_parser = values::time, default_value = "1s")]
    pub(crate) interval: Duration,

    /// Print events and statistics as JSON, one object a line.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) connect: Connect,
}

const EXAMPLES: &str = "\
Examples:
  iolite raknet proxy --to play.example.org
  iolite raknet proxy --listen 127.0.0.1:19133 --to 192.0.2.10:19132 --json";
