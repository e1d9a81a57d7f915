//! Side-by-side benchmarks of Iolite and its peers.
//!
//! `bench raknet` measures: it builds the peers, sets up networks ([`network`]), lets every peer echo the same
//! messages in every cell ([`cell`], [`campaign`]) and tells the results ([`outcome`], [`console`],
//! [`row`]). `bench report` turns a file of results into `docs/benchmarks.md` ([`document`], [`chart`]).
//!
//! A peer is a pair of processes ([`trial`]), built from `bench/src/bin` (Iolite) or `bench/rivals` (the
//! others); what they share is the crate `bench-peer`.

#![forbid(unsafe_code)]
#![allow(clippy::disallowed_methods, reason = "benchmarks read the clock")]

mod campaign;
mod cell;
mod chart;
mod compile;
mod console;
mod document;
mod interrupt;
mod launch;
mod machine;
mod network;
mod outcome;
mod peer;
mod row;
mod trial;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use campaign::Campaign;
use cell::{Pace, cells};
use compile::Workshop;
use launch::Placement;
use network::Networks;
use peer::Peer;
use row::Journal;

#[derive(Debug, Parser)]
#[command(about = "Benchmarks Iolite beside its peers", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Measures RakNet through Iolite beside rust-raknet, KCP, TCP, quinn and bare UDP.
    ///
    /// Loss and the GSO-limited loopback need network namespaces, so this is best run as root on Linux. The
    /// peers are built on first use. A full run takes about 25 minutes, --quick about 3.
    Raknet(RaknetArgs),
    /// Writes docs/benchmarks.md and its charts from the results of an earlier run.
    Report(ReportArgs),
}

#[derive(Debug, clap::Args)]
struct RaknetArgs {
    /// Measure fewer cells for a shorter time.
    #[arg(long)]
    quick: bool,
    /// Write every result to this file, one JSON object a line.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Measure only the cells whose name contains one of these words (such as `1c-64` or `sparse,64c`).
    #[arg(long, value_name = "CELL", value_delimiter = ',')]
    filter: Vec<String>,
    /// Measure only these peers.
    #[arg(long, value_name = "PEER", value_delimiter = ',', value_parser = Peer::by_name)]
    peers: Vec<&'static Peer>,
    /// Use the machine's own loopback instead of network namespaces; cells that need more are skipped.
    #[arg(long)]
    no_netns: bool,
    /// Neither pin the processes to processors nor raise their priority.
    #[arg(long)]
    no_pin: bool,
    /// List the cells and peers that would be measured, and stop.
    #[arg(long)]
    list: bool,
}

#[derive(Debug, clap::Args)]
struct ReportArgs {
    /// The file that `bench raknet --json` wrote.
    #[arg(value_name = "FILE")]
    json: PathBuf,
    /// The folder for benchmarks.md; the workspace's docs folder unless given.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Raknet(args) => raknet(&args),
        Command::Report(args) => report(&args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn raknet(args: &RaknetArgs) -> anyhow::Result<()> {
    let pace = if args.quick { Pace::quick() } else { Pace::full() };
    let mut cells = cells(args.quick);
    cells.retain(|cell| {
        args.filter.is_empty() || args.filter.iter().any(|word| cell.name.contains(word.as_str()))
    });
    anyhow::ensure!(
        !cells.is_empty(),
        "no cell's name contains `{}`; --list shows them",
        args.filter.join("` or `")
    );
    let peers = if args.peers.is_empty() { peer::ALL.iter().collect() } else { args.peers.clone() };
    if args.list {
        console::print_plan(&cells, &peers);
        return Ok(());
    }
    interrupt::install()?;
    let journal = args.json.as_deref().map(Journal::create).transpose()?;
    let cells = network::keep_possible(cells, args.no_netns)?;
    let workshop = Workshop::locate()?;
    workshop.build(&peers)?;
    let networks = if args.no_netns { Networks::host() } else { Networks::set_up(&cells)? };
    let placement = Placement::probe(!args.no_pin);
    Campaign { pace, cells, peers, workshop, networks, placement }.run(journal)
}

fn report(args: &ReportArgs) -> anyhow::Result<()> {
    let out = args.out.clone().unwrap_or_else(|| compile::workspace().join("docs"));
    let (run, rows) = row::read(&args.json)?;
    for path in document::write(&out, &run, &rows)? {
        println!("{}", path.display());
    }
    Ok(())
}
