//! `iolite raknet send`.

use clap::Args;
use proto_raknet::{Priority, Reliability};
use std::{path::PathBuf, time::Duration};

use super::{Connect, one_of::one_of};
use crate::{
    args::values::{self, Hex, HostPort},
    raknet::names::{PRIORITIES, RELIABILITIES},
};

/// Opens a session, sends messages, and closes it when they have arrived. Without TEXT and --file the message is
/// standard input.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Send {
    /// The server; the port is 19132 unless given.
    #[arg(value_name = "HOST[:PORT]")]
    pub(crate) server: HostPort,

    /// The message.
    pub(crate) text: Option<String>,

    /// Send the contents of a file.
    #[arg(short, long, conflicts_with = "text")]
    pub(crate) file: Option<PathBuf>,

    /// Send each line as a message of its own.
    #[arg(long)]
    pub(crate) lines: bool,

    /// Bytes in hexadecimal to put before each message, or none. RakNet keeps a few first bytes for itself; 0xfe is
    /// what Bedrock puts before its packets.
    #[arg(long, value_name = "HEX", value_parser = values::hex, default_value = "fe")]
    pub(crate) prefix: Hex,

    /// How the messages are to arrive.
    #[arg(short, long, value_parser = one_of(RELIABILITIES), default_value = "reliable-ordered")]
    pub(crate) reliability: Reliability,

    /// The channel they are ordered in, 0 to 31.
    #[arg(short, long, default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=31))]
    pub(crate) channel: u8,

    /// How urgent they are.
    #[arg(long, value_parser = one_of(PRIORITIES), default_value = "high")]
    pub(crate) priority: Priority,

    /// How often to send them.
    #[arg(short = 'n', long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) count: u32,

    /// Wait for the echo of every message and compare.
    #[arg(short, long)]
    pub(crate) echo: bool,

    /// Ask for a receipt of every message and wait for it.
    #[arg(long)]
    pub(crate) receipt: bool,

    /// How long to wait for echoes and receipts.
    #[arg(short, long, value_name = "TIME", value_parser = values::time, default_value = "10s")]
    pub(crate) wait: Duration,

    #[command(flatten)]
    pub(crate) connect: Connect,

    /// Print the result as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

const EXAMPLES: &str = "\
Examples:
  iolite raknet send 127.0.0.1 'hello' --echo
  iolite raknet send 127.0.0.1:19134 --file level.dat --reliability reliable --receipt
  seq 1000 | iolite raknet send 127.0.0.1 --lines --echo
  iolite raknet send 127.0.0.1 'x' --prefix 8601 --reliability unreliable -n 100 --echo";
