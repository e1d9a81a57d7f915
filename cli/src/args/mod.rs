//! What the command line says.

pub(crate) mod demo;
pub(crate) mod dissect;
pub(crate) mod raknet;
pub(crate) mod values;

use clap::{ColorChoice, Parser, Subcommand};

/// Tries out, measures and looks into the protocols of Iolite.
#[derive(Debug, Parser)]
#[command(name = "iolite", version, arg_required_else_help = true, after_help = EXAMPLES, after_long_help = LONG)]
pub(crate) struct Arguments {
    /// When to use colours.
    #[arg(long, value_name = "WHEN", global = true, default_value_t = ColorChoice::Auto)]
    pub(crate) color: ColorChoice,

    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show everything at work over loopback sockets, and check it.
    Demo(demo::Demo),
    /// Ping, serve, send, relay and measure with RakNet, the protocol of Minecraft Bedrock.
    #[command(subcommand)]
    Raknet(raknet::Raknet),
    /// Run a Reticulum node, look into it, and work over it.
    #[command(subcommand)]
    Rns(crate::rns::Rns),
    /// Talk over HTTP, WebSocket and UDP, with and without TLS, and run echo peers for all of them.
    #[cfg(target_os = "linux")]
    #[command(subcommand, after_help = crate::conn::EXIT_CODES)]
    Conn(Box<crate::conn::Conn>),
    /// Print the RakNet datagrams and Reticulum packets of a capture file readably.
    Dissect(dissect::Dissect),
}

const EXAMPLES: &str = "\
Examples:
  iolite demo
  iolite raknet ping play.example.org
  iolite raknet proxy --listen 0.0.0.0:19132 --to play.example.org
  iolite rns daemon
  iolite conn get https://example.org/ -v
  iolite dissect trace.pcapng";

const LONG: &str = "\
Examples:
  iolite demo                                       everything at work, with a summary
  iolite raknet ping play.example.org               who is there, and how far away
  iolite raknet serve --listen 127.0.0.1:19132      an echo server
  iolite raknet send 127.0.0.1 'hello' --echo       one message there and back
  iolite raknet proxy --to play.example.org         relay Bedrock players
  iolite raknet bench --self                        throughput and latency of this machine
  iolite rns daemon                                 the Reticulum node of this host
  iolite rns status                                 its interfaces
  iolite conn serve                                 echo peers for http, ws, udp and their like
  iolite conn get https://example.org/ -v           a request, with phases and timings
  echo hi | iolite conn ws ws://127.0.0.1:8080/     lines as WebSocket messages
  iolite dissect trace.pcapng --port 19132          what happened on the wire

Exit codes:
  0    it worked
  1    it ran, and found something wrong: a failed check, no answer to any ping
  2    the command line makes no sense
  3    the network or a peer refused: unknown host, no answer, address in use, session lost
  4    a file cannot be read or is not what it should be
  130  interrupted with Ctrl-C
`iolite conn --help` has more of them, one for each phase of a connection.";
