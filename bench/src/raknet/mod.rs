//! RakNet beside its peers: every peer echoes the same messages in every cell.
//!
//! [`cell`] says what is measured, [`peer`] who takes part, [`network`] over what, [`trial`] how a pair of processes is
//! run; [`quantities`], [`console`] and [`chapter`] say how it is told.

pub(crate) mod cell;
mod chapter;
mod console;
mod contest;
mod network;
mod outcome;
mod peer;
mod quantities;
mod trial;

use std::path::PathBuf;

pub(crate) use chapter::CHAPTER;

use crate::campaign;
use crate::compile::Workshop;
use crate::interrupt;
use crate::launch::Placement;
use crate::machine::Run;
use crate::row::Journal;
use cell::{Pace, cells};
use contest::Contest;
use network::Networks;
use peer::Peer;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
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

/// Measures.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
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
        crate::console::print_plan(cells.iter().map(|cell| cell.name.as_str()), &peers);
        return Ok(());
    }
    interrupt::install()?;
    let journal = args.json.as_deref().map(Journal::create).transpose()?;
    let cells = network::keep_possible(cells, args.no_netns)?;
    let workshop = Workshop::locate()?;
    workshop.build(peers.iter().map(|peer| peer.binary))?;
    let networks = if args.no_netns { Networks::host() } else { Networks::set_up(&cells)? };
    let placement = Placement::probe(!args.no_pin);
    let run = Run::describe(&placement.describe(), pace.repetitions);
    campaign::run(&Contest { pace, cells, peers, workshop, networks, placement }, &run, journal)
}
