//! Bare UDP datagrams without any protocol: what the machine allows.
//!
//! `single` makes one system call per datagram, `gso` hands the kernel batches through segmentation offload
//! and takes them back through receive offload. A message longer than a datagram counts as several datagrams;
//! never more than a small receive buffer holds are under way, because nothing here would send one again.

mod batches;
mod single;

use std::io::{Error, ErrorKind};
use std::time::{Duration, Instant};

use bench_peer::{Command, Exchange, Fault, Histogram, Load, Payload, Report, Role, Stopwatch};

fn main() -> Result<(), Fault> {
    let mut command = Command::from_args()?;
    if command.load.connections != 1 {
        return Err("bare UDP has one connection only".into());
    }
    cut_into_datagrams(&mut command.load);
    let mode = command.choose(&[("single", Mode::Single), ("gso", Mode::Gso)])?;
    match (mode, command.role) {
        (Mode::Single, Role::Server) => single::serve(command.address),
        (Mode::Gso, Role::Server) => batches::serve(command.address),
        (Mode::Single, Role::Client) => drive(&command.load, &mut single::Client::new(command.address)?),
        (Mode::Gso, Role::Client) => drive(&command.load, &mut batches::Client::new(command.address)?),
    }
}

#[derive(Clone, Copy)]
enum Mode {
    Single,
    Gso,
}

/// A way to send what an exchange allows and to take what came back.
trait Client {
    fn send(&mut self, exchange: &mut Exchange) -> Result<(), Fault>;
    fn receive(&mut self, exchange: &mut Exchange) -> Result<(), Fault>;
}

fn drive(load: &Load, client: &mut impl Client) -> Result<(), Fault> {
    let mut exchange = Exchange::new(Payload::new(load.size).into(), 0);
    exchange.begin(load.warmup, 1, None);
    while !exchange.is_done() {
        client.send(&mut exchange)?;
        client.receive(&mut exchange)?;
    }
    let histogram = load.latency.then(Histogram::shared);
    let stopwatch = Stopwatch::start(load);
    exchange.begin(load.count, load.window, histogram.clone());
    while !exchange.is_done() && !stopwatch.is_over() {
        client.send(&mut exchange)?;
        client.receive(&mut exchange)?;
    }
    let elapsed = stopwatch.elapsed_at(Instant::now());
    Ok(Report::new(load, elapsed, [exchange.received()], histogram.as_ref()).print()?)
}

fn cut_into_datagrams(load: &mut Load) {
    let pieces = load.size.div_ceil(LARGEST_PAYLOAD);
    load.size = load.size.div_ceil(pieces);
    load.count = load.count.saturating_mul(pieces as u32);
}

/// What fits into a datagram of the peers.
const LARGEST_PAYLOAD: usize = 1400;
/// How long an echo may take before its datagram counts as lost.
const PATIENCE: Duration = Duration::from_secs(1);

fn lost(error: Error) -> Fault {
    if error.kind() == ErrorKind::WouldBlock {
        "a datagram was lost, and bare UDP sends none again".into()
    } else {
        error.into()
    }
}
