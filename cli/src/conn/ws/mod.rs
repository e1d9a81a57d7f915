//! `iolite conn ws`: messages of a WebSocket as lines.

mod ping;

use clap::Args;
use proto_conn::{
    Message, Scheme, Url,
    client::{Closed, Options},
    ws::{Deflate, Keepalive},
};
use std::time::Duration;

use super::{
    common::{Common, expect_scheme},
    dialogue::{self, Dialogue, Input, Limits, Shown, is_typed},
    fault,
    reach::Reach,
    supervised::{self, Stop},
    values,
};
use crate::{args::values::time, failure::Failure, interrupt::Interrupt, output};

/// Talks with a WebSocket server. Each line of standard input goes out as a message, each message that comes is written
/// as a line. When the input is over, and nothing has come for --wait, the WebSocket is closed in good order; on a
/// terminal Ctrl-D closes it at once.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Ws {
    /// The server: ws://HOST/PATH, with :PORT behind the host where it is not the usual one, or wss://...
    url: Url,

    /// Send this as one message in place of standard input; @FILE sends a file.
    #[arg(short, long, value_name = "DATA")]
    data: Option<String>,

    /// Send binary messages, and write what comes as it is; otherwise bytes that are no text are written in hexadecimal.
    #[arg(short, long)]
    binary: bool,

    /// Send nothing and only listen, until the server closes.
    #[arg(short, long, conflicts_with = "data")]
    listen: bool,

    /// End after so many messages.
    #[arg(short = 'n', long, value_name = "COUNT")]
    messages: Option<u64>,

    /// How long to wait for more when the input is over.
    #[arg(short, long, value_name = "TIME", value_parser = time, default_value = "1s")]
    wait: Duration,

    /// Send so many pings instead of messages, and show how long each took there and back.
    #[arg(long, value_name = "COUNT", conflicts_with_all = ["data", "listen", "messages"])]
    ping: Option<u32>,

    /// The time between two pings with --ping.
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "1s", requires = "ping")]
    interval: Duration,

    /// Watch over the connection with a ping so often; without an answer for as long it counts as lost.
    #[arg(long, value_name = "TIME", value_parser = time)]
    keepalive: Option<Duration>,

    /// Offer a subprotocol. May be repeated, the preferred one first.
    #[arg(long, value_name = "NAME")]
    subprotocol: Vec<String>,

    /// Say that we come from this page.
    #[arg(long, value_name = "ORIGIN")]
    origin: Option<String>,

    /// Offer compression of messages.
    #[arg(long)]
    deflate: bool,

    #[command(flatten)]
    reach: Reach,

    #[command(flatten)]
    common: Common,
}

/// Talks until everything is said.
///
/// # Errors
/// There is no WebSocket, it breaks, or the server closes it with a code that says why.
pub(crate) async fn run(options: Ws, interrupt: Interrupt) -> Result<(), Failure> {
    expect_scheme(&options.url, Scheme::is_websocket)?;
    let conn_options = options.options()?;
    let (mut conn, mut trace) = options.common.create(&options.url, conn_options.clone())?;
    trace.handshake(&conn_options);
    let waker = conn.waker().map_err(|error| fault::of(&options.url, &error))?;
    let stop = Stop::new(waker.clone());
    if let Some(count) = options.ping {
        let work = ping::Pings {
            url: options.url,
            conn,
            trace,
            count,
            interval: options.interval,
            stop: stop.clone(),
        };
        return supervised::run(&interrupt, stop, move || work.run()).await;
    }
    let input = match &options.data {
        Some(data) => Input::given(values::data(data)?),
        None if options.listen => Input::none(),
        None => Input::lines(waker),
    };
    let dialogue = Dialogue {
        conn,
        trace,
        input,
        stop: stop.clone(),
        limits: options.limits(),
        shown: if options.binary { Shown::Raw } else { Shown::Readable },
        make: if options.binary { |line| Ok(Message::binary(line)) } else { dialogue::text },
        hears_itself: false,
        url: options.url,
    };
    supervised::run(&interrupt, stop, move || talk(dialogue)).await
}

fn talk(mut dialogue: Dialogue) -> Result<(), Failure> {
    let tally = dialogue.hold()?;
    let Dialogue { url, mut conn, trace, .. } = dialogue;
    let closed = match tally.closed {
        Some(closed) => closed,
        None => dialogue::close(&mut conn).map_err(|error| fault::of(&url, &error))?,
    };
    let Closed { code, reason, .. } = closed;
    trace.note(format_args!("closed with code {code} {reason}"));
    trace.sum_up(tally.received_bytes);
    // Going away and no code are as normal as saying so (RFC 6455 §7.4.1).
    if matches!(code, dialogue::NORMAL | 1001 | 1005) {
        Ok(())
    } else {
        Err(fault::closed(&url, code, &reason))
    }
}

impl Ws {
    fn options(&self) -> Result<Options, Failure> {
        let mut options = self.reach.options()?;
        options.ws.subprotocols.clone_from(&self.subprotocol);
        options.ws.origin.clone_from(&self.origin);
        options.ws.deflate = self.deflate.then(Deflate::default);
        options.ws.keepalive = self.keepalive.map(|time| Keepalive { interval: time, timeout: time });
        options.ws.deliver_control = self.ping.is_some();
        Ok(options)
    }

    fn limits(&self) -> Limits {
        let is_typed = self.data.is_none() && !self.listen && is_typed();
        if is_typed {
            output::note(format_args!("each line goes to {} as a message; Ctrl-D ends it", self.url));
        }
        let silence = if is_typed { Duration::ZERO } else { self.wait };
        Limits {
            silence: (!self.listen).then_some(silence),
            messages: self.messages,
            one_answer_each: false,
            max_time: self.common.max_time,
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  iolite conn ws ws://192.168.1.7/feed
  echo '{\"subscribe\": \"pose\"}' | iolite conn ws wss://robot.local/feed --wait 5s --deflate
  iolite conn ws ws://192.168.1.7/feed --listen -n 10 --subprotocol telemetry.v2
  iolite conn ws ws://192.168.1.7/feed --ping 5 --receive-mode spin:50us

The exit codes are those of `iolite conn --help`.";
