//! `iolite rns probe`: how far a destination is.

use clap::Args;
use proto_rns::{DestinationHash, crypto::Entropy as _, dest::DestinationName};
use runtime_tokio::rns::{RnsNode, SendFailed};
use serde_json::json;
use std::{path::PathBuf, time::Duration};

use super::{attach, call, keys, shown, values};
use crate::{
    args::values::time,
    failure::Failure,
    interrupt::Interrupt,
    output::{
        self,
        progress::Progress,
        quantity::{millis, share},
        style::{self, paint},
    },
};

/// Sends packets to a destination that proves them, and measures how long the proofs take, as rnprobe does. The exit
/// code is 1 when a proof is missing.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Probe {
    /// The full name of the destination, such as rnstransport.probe.
    #[arg(value_name = "NAME")]
    name: String,

    /// The hash of the destination.
    #[arg(value_name = "HASH", value_parser = values::hash::<DestinationHash>)]
    destination: DestinationHash,

    /// The directory with the config file.
    #[arg(long, value_name = "DIR")]
    config: Option<PathBuf>,

    /// How many bytes each packet carries, 0 to 383.
    #[arg(short, long, default_value_t = 16, value_parser = clap::value_parser!(u16).range(0..=383))]
    size: u16,

    /// How many packets to send.
    #[arg(short = 'n', long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    probes: u32,

    /// How long to wait for a path and for each proof; unless given, 15 s for the path, and for a proof what the way
    /// may take.
    #[arg(short, long, value_name = "TIME", value_parser = time)]
    timeout: Option<Duration>,

    /// The time between two packets.
    #[arg(short, long, value_name = "TIME", value_parser = time)]
    wait: Option<Duration>,

    /// Print one JSON object a line.
    #[arg(long)]
    json: bool,
}

/// Sends all packets and sums up.
pub(crate) async fn run(options: Probe, interrupt: Interrupt) -> Result<(), Failure> {
    let name = DestinationName::parse(&options.name).map_err(|error| {
        Failure::usage(format_args!("{:?} is no destination's name: {error}", options.name))
    })?;
    let progress = if options.json { Progress::hidden() } else { Progress::live("joining the network") };
    let node = interrupt.or(attach::attach(options.config.as_deref())).await?;
    progress.describe(format!("asking for a path to <{}>", options.destination));
    interrupt
        .or(call::find_path(&node, options.destination, options.timeout.unwrap_or(PATH_PATIENCE)))
        .await?;
    check_name(&node, &options, &name)?;
    let (mut sent, mut received) = (0, 0);
    for number in 1..=options.probes {
        if number > 1 {
            tokio::time::sleep(options.wait.unwrap_or_default()).await;
        }
        progress.describe(format!("probe {number} of {}", options.probes));
        let outcome = tokio::select! {
            outcome = send(&node, &options) => outcome,
            () = interrupt.wait() => break,
        };
        sent = number;
        received += u32::from(outcome.is_some());
        tell(&options, &node, number, outcome, &progress)?;
    }
    progress.finish();
    node.shutdown().await;
    sum_up(options.json, sent, received)
}

/// The name and the identity give the hash: with another name the packets would go nowhere.
fn check_name(node: &RnsNode, options: &Probe, name: &DestinationName) -> Result<(), Failure> {
    let identity = node.with_node(|node, _| node.known().identity(options.destination).map(|it| it.hash()));
    match identity {
        Some(identity) if name.of(identity) != options.destination => Err(Failure::usage(format_args!(
            "<{}> is not the destination {} of its identity <{identity}>",
            options.destination, options.name
        ))
        .advise(format_args!("that one has the hash {}", name.of(identity)))),
        _ => Ok(()),
    }
}

async fn send(node: &RnsNode, options: &Probe) -> Option<Result<Duration, SendFailed>> {
    let mut data = vec![0; options.size.into()];
    keys::entropy().ok()?.fill(&mut data);
    let delivery = node.deliver(options.destination, &data);
    let delivered = match options.timeout {
        Some(patience) => tokio::time::timeout(patience, delivery).await.ok()?,
        None => delivery.await,
    };
    match delivered {
        Err(SendFailed::Undelivered(_)) => None,
        other => Some(other),
    }
}

fn tell(
    options: &Probe,
    node: &RnsNode,
    number: u32,
    outcome: Option<Result<Duration, SendFailed>>,
    progress: &Progress,
) -> Result<(), Failure> {
    let destination = options.destination;
    let rtt = outcome.transpose().map_err(|error| {
        Failure::network(format_args!("the probe to <{destination}> is not sent: {error}"))
    })?;
    let hops = node.with_node(|node, _| node.router().hops_to(destination)).unwrap_or(0);
    if options.json {
        return output::json(&json!({
            "probe": number,
            "destination": destination.to_string(),
            "bytes": options.size,
            "rtt_ms": rtt.map(millis),
            "hops": hops,
        }));
    }
    progress.line(format_args!("Sent probe {number} ({} bytes) to <{destination}>", options.size))?;
    match rtt {
        Some(rtt) => progress.line(format_args!(
            "{} from <{destination}>\nRound-trip time is {} milliseconds over {}\n",
            paint(style::GOOD, "Valid reply"),
            millis(rtt),
            shown::hops(hops.into())
        )),
        None => progress.line(format_args!("{}\n", paint(style::BAD, "Probe timed out"))),
    }
}

fn sum_up(json: bool, sent: u32, received: u32) -> Result<(), Failure> {
    let lost = sent.saturating_sub(received);
    let loss = share(lost.into(), sent.into()) * 100.0;
    if !json {
        output::line(format_args!("Sent {sent}, received {received}, packet loss {loss:.1}%"))?;
    }
    if lost == 0 {
        return Ok(());
    }
    Err(Failure::check(format_args!("{lost} of {sent} probes were not proved"))
        .advise("the destination may be gone, or not prove packets"))
}

const PATH_PATIENCE: Duration = Duration::from_secs(15);

const EXAMPLES: &str = "\
Examples:
  iolite rns probe rnstransport.probe 246ecc9650d53321eadccd3075f408ab
  iolite rns probe rnstransport.probe 246ecc9650d53321eadccd3075f408ab -n 5 -w 1s";
