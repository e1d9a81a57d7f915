//! `iolite conn`: clients and echo peers of `http`, `https`, `ws`, `wss`, `udp` and `udp_multicast`.
//!
//! | room | what |
//! |---|---|
//! | [`http`], [`ws`], [`udp`], [`multicast`] | the clients, one command or family each |
//! | [`serve`] | the echo peers |
//! | [`dialogue`] | lines in, messages out, for everything that is not HTTP |
//! | [`common`], [`reach`], [`trust`], [`values`] | the options that several commands have |
//! | [`trace`] | what `-v` shows |
//! | [`fault`] | errors: what, where, what to do, and the exit code |

mod common;
mod dialogue;
mod fault;
mod http;
mod multicast;
mod reach;
pub(crate) mod serve;
mod supervised;
mod trace;
mod trust;
mod udp;
mod values;
mod ws;

use clap::Subcommand;

use crate::{failure::Failure, interrupt::Interrupt};

/// The commands of connections.
#[derive(Debug, Subcommand)]
pub(crate) enum Conn {
    /// Fetch what a URL names.
    Get(http::Get),
    /// Send data to a URL and show the answer.
    Post(http::Post),
    /// Ask for the head of an answer only.
    Head(http::Head),
    /// Talk with a WebSocket server: lines go out as messages, messages come in as lines.
    Ws(ws::Ws),
    /// Send datagrams and show the answers.
    Udp(udp::Udp),
    /// Listen to a multicast group, or send to it.
    #[command(subcommand)]
    Multicast(multicast::Multicast),
    /// Run echo peers for all six schemes.
    Serve(serve::Serve),
}

/// Runs one of them.
pub(crate) async fn run(command: Conn, interrupt: Interrupt) -> Result<(), Failure> {
    match command {
        Conn::Get(options) => http::get(options, interrupt).await,
        Conn::Post(options) => http::post(options, interrupt).await,
        Conn::Head(options) => http::head(options, interrupt).await,
        Conn::Ws(options) => ws::run(options, interrupt).await,
        Conn::Udp(options) => udp::run(options, interrupt).await,
        Conn::Multicast(command) => multicast::run(command, interrupt).await,
        Conn::Serve(options) => serve::run(options, interrupt).await,
    }
}

/// The exit codes, for `iolite conn --help`. [`fault`] assigns them.
pub(crate) const EXIT_CODES: &str = "\
Examples:
  iolite conn serve                                   echo peers to try the others on
  iolite conn get http://127.0.0.1:8080/ -v           phases, timings, heads
  iolite conn post http://127.0.0.1:8080/ -d @cmd.json
  echo hello | iolite conn ws ws://127.0.0.1:8080/
  iolite conn udp udp://127.0.0.1:9000 -d hello
  iolite conn multicast listen 'udp_multicast://239.1.2.3:5000?iface=eth0'

Exit codes, beside those of `iolite --help`; those that curl has mean the same there:
  5    the proxy could not be reached or did not open the way
  6    the name has no address
  7    nobody listens there, or there is no way there
  8    the server did not switch to WebSocket
  22   with --fail: the answer's status is 400 or more
  28   all together took longer than --max-time
  35   the TLS handshake failed
  45   no such network interface, or the group cannot be joined
  47   too many redirects, or one that is not followed
  52   no answer came
  55   the peer does not take what is sent
  56   the answer is cut off, or not what the protocol allows
  57   the WebSocket ended without a close frame, or was closed with a code that says why
  60   the server's certificate is not trusted";
