//! `iolite conn multicast`: what a group says, and what is said to it.

use clap::{Args, Subcommand};
use proto_conn::{Message, Scheme, Url, client::Options};
use proto_core::{DatagramOptions, Interface};
use std::time::Duration;

use super::{
    common::{Common, expect_scheme},
    dialogue::{Dialogue, Input, Limits, Shown},
    fault,
    supervised::{self, Stop},
    values,
};
use crate::{args::values::time, failure::Failure, interrupt::Interrupt};

/// What is done with a group.
#[derive(Debug, Subcommand)]
pub(crate) enum Multicast {
    /// Join a group and write each datagram as a line.
    Listen(Listen),
    /// Send to a group, and show who answers.
    Send(Send),
}

/// Joins a group and writes each datagram that comes as a line, until Ctrl-C. With -v each has its sender and
/// interface on standard error.
#[derive(Debug, Args)]
#[command(after_help = LISTEN_EXAMPLES)]
pub(crate) struct Listen {
    #[command(flatten)]
    group: Group,

    /// End after so many datagrams.
    #[arg(short = 'n', long, value_name = "COUNT")]
    messages: Option<u64>,
}

/// Sends each line of standard input as a datagram to a group. With --wait, what others say to the group meanwhile is
/// written as lines.
#[derive(Debug, Args)]
#[command(after_help = SEND_EXAMPLES)]
pub(crate) struct Send {
    #[command(flatten)]
    group: Group,

    /// Send this as one datagram in place of standard input; @FILE sends a file.
    #[arg(short, long, value_name = "DATA")]
    data: Option<String>,

    /// How many routers a datagram may pass.
    #[arg(long, value_name = "HOPS", default_value_t = 1)]
    ttl: u8,

    /// How long to listen for what others answer.
    #[arg(short, long, value_name = "TIME", value_parser = time)]
    wait: Option<Duration>,
}

/// A group and where it is.
#[derive(Debug, Args)]
struct Group {
    /// The group: udp_multicast://GROUP:PORT, with SOURCE@ before it for a source-specific one and ?iface=NAME behind.
    url: Url,

    /// The interface, by name or index. May be repeated. Without any the routes of this host choose one.
    #[arg(long, value_name = "NAME", value_parser = values::interface)]
    iface: Vec<Interface>,

    /// Write what comes as it is; otherwise bytes that are no text are written in hexadecimal.
    #[arg(short, long)]
    binary: bool,

    #[command(flatten)]
    common: Common,
}

/// Runs one of them.
///
/// # Errors
/// The group cannot be joined, or breaks.
pub(crate) async fn run(command: Multicast, interrupt: Interrupt) -> Result<(), Failure> {
    match command {
        Multicast::Listen(Listen { group, messages }) => {
            let limits =
                Limits { silence: None, messages, one_answer_each: false, max_time: group.common.max_time };
            group.talk(DatagramOptions::default(), false, limits, Some(Input::none()), interrupt).await
        }
        Multicast::Send(Send { group, data, ttl, wait }) => {
            let limits = Limits {
                silence: Some(wait.unwrap_or_default()),
                messages: None,
                one_answer_each: false,
                max_time: group.common.max_time,
            };
            let datagram = DatagramOptions { ttl: Some(ttl), ..DatagramOptions::default() };
            let input = data.as_deref().map(values::data).transpose()?.map(Input::given);
            group.talk(datagram, true, limits, input, interrupt).await
        }
    }
}

impl Group {
    /// Joins, says what there is to say (by default what standard input says), and hears the others.
    async fn talk(
        self,
        datagram: DatagramOptions,
        hears_itself: bool,
        limits: Limits,
        input: Option<Input>,
        interrupt: Interrupt,
    ) -> Result<(), Failure> {
        let Self { url, iface, binary, common } = self;
        expect_scheme(&url, |scheme| scheme == Scheme::UdpMulticast)?;
        let options = Options { datagram, interfaces: iface, ..Options::default() };
        let (mut conn, trace) = common.create(&url, options)?;
        let waker = conn.waker().map_err(|error| fault::of(&url, &error))?;
        let stop = Stop::new(waker.clone());
        let mut dialogue = Dialogue {
            conn,
            trace,
            input: input.unwrap_or_else(|| Input::lines(waker)),
            stop: stop.clone(),
            limits,
            shown: if binary { Shown::Raw } else { Shown::Readable },
            make: |line| Ok(Message::datagram(line)),
            hears_itself,
            url,
        };
        let work = move || {
            let tally = dialogue.hold()?;
            dialogue.trace.sum_up(tally.received_bytes);
            Ok(())
        };
        supervised::run(&interrupt, stop, work).await
    }
}

const LISTEN_EXAMPLES: &str = "\
Examples:
  iolite conn multicast listen 'udp_multicast://239.1.2.3:5000?iface=eth0' -v
  iolite conn multicast listen udp_multicast://192.168.1.7@232.1.1.1:5000 --iface eth0 -n 10

The exit codes are those of `iolite conn --help`.";

const SEND_EXAMPLES: &str = "\
Examples:
  iolite conn multicast send udp_multicast://239.1.2.3:5000 --iface eth0 -d 'who is there?' --wait 1s
  seq 100 | iolite conn multicast send 'udp_multicast://[ff02::1234]:5000' --iface eth0 --iface wlan0

The exit codes are those of `iolite conn --help`.";
