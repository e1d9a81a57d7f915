//! `iolite conn udp`: datagrams to one peer, and its answers.

use clap::Args;
use proto_conn::{Message, Scheme, Url, client::Options};
use std::{net::SocketAddr, time::Duration};

use super::{
    common::{Common, expect_scheme},
    dialogue::{Dialogue, Input, Limits, Shown},
    fault,
    supervised::{self, Stop},
    values,
};
use crate::{args::values::time, failure::Failure, interrupt::Interrupt};

/// Sends each line of standard input as a datagram and writes each answer as a line. It ends when every datagram has an
/// answer, or none has come for --wait after the last; the exit code is 1 when none came at all.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Udp {
    /// The peer: udp://HOST:PORT.
    url: Url,

    /// Send this as one datagram in place of standard input; @FILE sends a file.
    #[arg(short, long, value_name = "DATA")]
    data: Option<String>,

    /// Write what comes as it is; otherwise bytes that are no text are written in hexadecimal.
    #[arg(short, long)]
    binary: bool,

    /// How long to wait for answers.
    #[arg(short, long, value_name = "TIME", value_parser = time, default_value = "1s")]
    wait: Duration,

    /// Do not wait for answers.
    #[arg(long, conflicts_with = "wait")]
    no_wait: bool,

    /// The local address to send from.
    #[arg(long, value_name = "ADDRESS:PORT")]
    bind: Option<SocketAddr>,

    #[command(flatten)]
    common: Common,
}

/// Sends everything and takes in what answers.
///
/// # Errors
/// The peer cannot be reached, or does not answer.
pub(crate) async fn run(options: Udp, interrupt: Interrupt) -> Result<(), Failure> {
    let Udp { url, data, binary, wait, no_wait, bind, common } = options;
    expect_scheme(&url, |scheme| scheme == Scheme::Udp)?;
    let (mut conn, trace) = common.create(&url, Options { bind, ..Options::default() })?;
    let waker = conn.waker().map_err(|error| fault::of(&url, &error))?;
    let stop = Stop::new(waker.clone());
    let input = match &data {
        Some(data) => Input::given(values::data(data)?),
        None => Input::lines(waker),
    };
    let mut dialogue = Dialogue {
        conn,
        trace,
        input,
        stop: stop.clone(),
        limits: Limits {
            silence: Some(if no_wait { Duration::ZERO } else { wait }),
            messages: None,
            one_answer_each: true,
            max_time: common.max_time,
        },
        shown: if binary { Shown::Raw } else { Shown::Readable },
        make: |line| Ok(Message::datagram(line)),
        hears_itself: false,
        url,
    };
    let work = move || {
        let tally = dialogue.hold()?;
        dialogue.trace.sum_up(tally.received_bytes);
        if tally.sent > 0 && tally.received == 0 && !no_wait && !dialogue.stop.is_wanted() {
            return Err(Failure::check(format_args!("{} did not answer within {wait:?}", dialogue.url))
                .advise(
                    "datagrams get lost silently: check address, port and firewalls; --no-wait only sends",
                ));
        }
        Ok(())
    };
    supervised::run(&interrupt, stop, work).await
}

const EXAMPLES: &str = "\
Examples:
  iolite conn udp udp://192.168.1.7:9000 -d status
  seq 10 | iolite conn udp udp://192.168.1.7:9000 --wait 200ms
  iolite conn udp udp://192.168.1.7:9000 -d @packet.bin --no-wait

The exit codes are those of `iolite conn --help`.";
