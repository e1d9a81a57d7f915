//! Reticulum beside its peers: the same work for every pair of nodes, and for every relay.
//!
//! [`cell`] says what is measured, [`peer`] who takes part, [`trial`] how the processes of one trial are run;
//! [`quantities`], [`console`] and [`chapter`] say how it is told.

mod cell;
mod chapter;
mod console;
mod contest;
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
use peer::{Peer, Program};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Measure for a shorter time.
    #[arg(long)]
    quick: bool,
    /// Write every result to this file, one JSON object a line.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Measure only the cells whose name contains one of these words.
    #[arg(long, value_name = "CELL", value_delimiter = ',')]
    filter: Vec<String>,
    /// Measure only these peers.
    #[arg(long, value_name = "PEER", value_delimiter = ',', value_parser = Peer::by_name)]
    peers: Vec<&'static Peer>,
    /// Pin initiators and drivers to one processor, responders and relays to another, and raise their priority.
    ///
    /// This holds off whatever else the machine does. personal-rns with its pool of threads is left out: its threads
    /// spin, and starve each other at such a priority.
    #[arg(long)]
    pin: bool,
    /// List the cells and peers that would be measured, and stop.
    #[arg(long)]
    list: bool,
}

/// Measures.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let pace = if args.quick { Pace::quick() } else { Pace::full() };
    let mut cells = cells();
    cells.retain(|cell| {
        args.filter.is_empty() || args.filter.iter().any(|word| cell.name.contains(word.as_str()))
    });
    anyhow::ensure!(
        !cells.is_empty(),
        "no cell's name contains `{}`; --list shows them",
        args.filter.join("` or `")
    );
    let mut peers = if args.peers.is_empty() { peer::ALL.iter().collect() } else { args.peers.clone() };
    peers.retain(|peer| !args.pin || !peer.spins());
    anyhow::ensure!(!peers.is_empty(), "prns-pool can not be measured with --pin");
    if args.list {
        crate::console::print_plan(cells.iter().map(|cell| cell.name), &peers);
        return Ok(());
    }
    interrupt::install()?;
    let journal = args.json.as_deref().map(Journal::create).transpose()?;
    let workshop = Workshop::locate()?;
    let programs: Vec<_> = peers.iter().flat_map(|peer| [peer.initiator, peer.responder]).collect();
    workshop.build(programs.iter().filter_map(|program| program.binary()).chain([cell::DRIVER]))?;
    let python =
        if programs.contains(&Program::Python) { Some(peer::REFERENCE.install(&workshop)?) } else { None };
    let placement = Placement::probe(args.pin);
    let run = Run::describe(&placement.describe(), pace.repetitions);
    campaign::run(&Contest { pace, cells, peers, workshop, python, placement }, &run, journal)
}
