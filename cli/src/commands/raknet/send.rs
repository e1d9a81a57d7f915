//! `iolite raknet send`: messages from the command line, a file or standard input.

use bytes::Bytes;
use proto_raknet::{Channel, Message, Reliability};
use runtime_tokio::raknet::{ClientOptions, Delivery, RaknetStream, Receipt};
use serde_json::json;
use std::{
    collections::HashMap,
    fs,
    io::{self, Read as _},
    net::SocketAddr,
    time::{Duration, Instant},
};

use crate::{
    args::raknet::Send,
    commands::aside,
    failure::Failure,
    output::{
        self,
        progress::Progress,
        quantity::{bytes, count, millis, throughput, time},
        style::{self, paint},
    },
    raknet::{fault, names, resolve::resolve},
};

/// Sends, waits as asked, and closes.
///
/// # Errors
/// The messages cannot be read or sent, there is no session, or an echo or receipt did not come or was wrong.
pub(crate) async fn run(options: Send) -> Result<(), Failure> {
    let plan = Plan::of(&options).await?;
    let server = resolve(&options.server, options.connect.family).await?;
    let progress = if options.json { Progress::hidden() } else { Progress::live("connecting") };
    let client = ClientOptions { connect: options.connect.options(), ..ClientOptions::default() };
    let stream =
        RaknetStream::connect_with(server, client).await.map_err(|error| fault::connect(server, &error))?;
    progress.describe("sending");
    let start = Instant::now();
    let sent = plan.send(&stream, server, options.echo.then_some(options.wait));
    let (receipts, missing) = sent.await?;
    let lost = wait_for_receipts(receipts, options.wait).await;
    progress.describe("closing");
    stream.close().await.map_err(|reason| fault::closed(server, reason))?;
    let taken = start.elapsed();
    progress.finish();
    plan.report(&options, server, taken, missing, lost)
}

/// What is to be sent.
#[derive(Debug)]
struct Plan {
    messages: Vec<Message>,
    payload_bytes: u64,
}

impl Plan {
    async fn of(options: &Send) -> Result<Self, Failure> {
        let reliability = with_receipt(options.reliability, options.receipt)?;
        let channel = Channel::new(options.channel).unwrap_or_default();
        let content = content(options).await?;
        let parts: Vec<&[u8]> = if options.lines {
            content.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).collect()
        } else {
            vec![&content]
        };
        let once: Vec<Message> = parts
            .into_iter()
            .map(|part| {
                let payload = Bytes::from([&options.prefix.0, part].concat());
                Message::new(payload).reliability(reliability).channel(channel).priority(options.priority)
            })
            .collect();
        if once.iter().all(|message| message.payload.is_empty()) {
            return Err(Failure::usage("there is nothing to send")
                .advise("give a text, --file FILE, or something on standard input"));
        }
        let messages: Vec<Message> = (0..options.count).flat_map(|_| once.iter().cloned()).collect();
        let payload_bytes = messages.iter().map(|message| message.payload.len() as u64).sum();
        Ok(Self { messages, payload_bytes })
    }

    /// Sends everything; with `echo`, takes in what comes back at the same time and goes on so long after the last
    /// message. Returns the receipts and how many echoes are missing.
    async fn send(
        &self,
        stream: &RaknetStream,
        server: SocketAddr,
        echo: Option<Duration>,
    ) -> Result<(Vec<Receipt>, u64), Failure> {
        let sending = async {
            let mut receipts = Vec::new();
            for message in &self.messages {
                let sent = stream.send_with(message.clone()).await;
                receipts.extend(sent.map_err(|error| fault::send(server, error))?);
            }
            Ok(receipts)
        };
        let Some(patience) = echo else { return Ok((sending.await?, 0)) };
        let mut echoes = Echoes::of(&self.messages);
        let mut receiving = Box::pin(echoes.take_all(stream, server));
        let receipts = tokio::select! {
            sent = sending => sent?,
            Err(failure) = &mut receiving => return Err(failure),
        };
        let in_time = tokio::time::timeout(patience, &mut receiving).await;
        drop(receiving);
        match in_time {
            Ok(taken) => taken.map(|()| (receipts, 0)),
            Err(_) => Ok((receipts, echoes.missing)),
        }
    }

    fn report(
        &self,
        options: &Send,
        server: SocketAddr,
        taken: Duration,
        missing: u64,
        lost: u64,
    ) -> Result<(), Failure> {
        let total = self.messages.len() as u64;
        let may_be_lost = !options.reliability.is_reliable() || options.reliability.is_sequenced();
        if options.json {
            output::json(&json!({
                "server": server.to_string(),
                "messages": total,
                "bytes": self.payload_bytes,
                "reliability": names::reliability(options.reliability),
                "seconds": taken.as_secs_f64(),
                "milliseconds": millis(taken),
                "echoed": options.echo.then_some(total - missing),
                "acknowledged": options.receipt.then_some(total - lost),
            }))?;
        } else {
            let verb = |done: u64, word: &str| {
                let style = if done == total { style::GOOD } else { style::ODD };
                paint(style, format_args!("{} of {} {word}", count(done), count(total)))
            };
            let mut parts = vec![format!(
                "{} {}, {} in {} ({})",
                count(total),
                if total == 1 { "message" } else { "messages" },
                bytes(self.payload_bytes),
                time(taken),
                throughput(self.payload_bytes, taken)
            )];
            parts.extend(options.echo.then(|| verb(total - missing, "echoed and compared")));
            parts.extend(options.receipt.then(|| verb(total - lost, "acknowledged")));
            output::line(parts.join(", "))?;
        }
        if missing + lost > 0 && !may_be_lost {
            return Err(Failure::check(format_args!(
                "{missing} echoes and {lost} receipts did not come within {}",
                time(options.wait)
            ))
            .advise("is it an echo server? --wait gives it more time"));
        }
        Ok(())
    }
}

/// The echoes that are still to come.
#[derive(Debug)]
struct Echoes {
    awaited: HashMap<Bytes, u64>,
    missing: u64,
}

impl Echoes {
    fn of(messages: &[Message]) -> Self {
        let mut awaited: HashMap<Bytes, u64> = HashMap::new();
        for message in messages {
            *awaited.entry(message.payload.clone()).or_default() += 1;
        }
        Self { awaited, missing: messages.len() as u64 }
    }

    async fn take_all(&mut self, stream: &RaknetStream, server: SocketAddr) -> Result<(), Failure> {
        while self.missing > 0 {
            let received = stream.recv().await.map_err(|reason| fault::closed(server, reason))?;
            match self.awaited.get_mut(&received.payload) {
                Some(left) if *left > 0 => *left -= 1,
                _ => {
                    return Err(Failure::check(format_args!(
                        "{server} sent {} that are no echo of what was sent",
                        bytes(received.payload.len() as u64)
                    )));
                }
            }
            self.missing -= 1;
        }
        Ok(())
    }
}

/// Waits for what became of the messages and returns how many were lost, or untold in time.
async fn wait_for_receipts(receipts: Vec<Receipt>, patience: Duration) -> u64 {
    let total = receipts.len() as u64;
    let mut acknowledged = 0;
    let all = async {
        for receipt in receipts {
            acknowledged += u64::from(receipt.await == Delivery::Acknowledged);
        }
    };
    let _ = tokio::time::timeout(patience, all).await;
    total - acknowledged
}

/// Returns the mode that also asks for a receipt.
fn with_receipt(reliability: Reliability, receipt: bool) -> Result<Reliability, Failure> {
    if !receipt || reliability.has_receipt() {
        return Ok(reliability);
    }
    Reliability::ALL.into_iter().find(|mode| mode.has_receipt() && mode.base() == reliability).ok_or_else(
        || {
            Failure::usage(format_args!("there are no receipts for {}", names::reliability(reliability)))
                .advise("use --reliability unreliable, reliable or reliable-ordered with --receipt")
        },
    )
}

async fn content(options: &Send) -> Result<Vec<u8>, Failure> {
    match (&options.text, &options.file) {
        (Some(text), _) => Ok(text.clone().into_bytes()),
        (None, Some(file)) => fs::read(file)
            .map_err(|error| Failure::file(format_args!("cannot read {}: {error}", file.display()))),
        (None, None) => aside(standard_input).await,
    }
}

fn standard_input() -> Result<Vec<u8>, Failure> {
    let mut content = Vec::new();
    io::stdin()
        .lock()
        .read_to_end(&mut content)
        .map_err(|error| Failure::file(format_args!("cannot read standard input: {error}")))?;
    Ok(content)
}
