//! The client of the six schemes beside its peers: one connection, one exchange at a time, the same echo for everybody.
//!
//! [`cell`] says what is measured, [`peer`] who takes part, [`parts`] where the programs come from, [`identity`] what the
//! peers show, [`trial`] how the processes of one trial are run; [`quantities`], [`gates`], [`console`] and [`chapter`] say
//! how it is told.

mod cell;
mod chapter;
mod console;
mod contest;
mod gates;
mod identity;
mod parts;
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
use cell::{Pace, cells, sweep_cells};
use contest::Contest;
use identity::Identity;
use parts::Parts;
use peer::Peer;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Measure for a shorter time and less often.
    #[arg(long)]
    quick: bool,
    /// Write every result to this file, one JSON object a line.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Measure only the cells whose name contains one of these words (such as `http-` or `ws-64,udp`).
    #[arg(long, value_name = "CELL", value_delimiter = ',')]
    filter: Vec<String>,
    /// Measure only these peers; all shares need kernel-oneway-park.
    #[arg(long, value_name = "PEER", value_delimiter = ',', value_parser = Peer::by_name)]
    peers: Vec<&'static Peer>,
    /// Run both ends on one processor, and ahead of other processes where that is allowed.
    ///
    /// This is what the gates are about: on a small virtual machine a figure without it measures where the scheduler
    /// placed the ends, whose difference is tenfold.
    #[arg(long)]
    pin: bool,
    /// Measure long messages that are cut into sends of different sizes instead.
    #[arg(long, conflicts_with = "peers")]
    sweep: bool,
    /// List the cells and peers that would be measured, and stop.
    #[arg(long)]
    list: bool,
}

/// Measures.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let pace = if args.quick { Pace::quick() } else { Pace::full() };
    let (mut cells, pace) = if args.sweep { (sweep_cells(), pace.sweep()) } else { (cells(), pace) };
    cells.retain(|cell| {
        args.filter.is_empty() || args.filter.iter().any(|word| cell.name.contains(word.as_str()))
    });
    anyhow::ensure!(
        !cells.is_empty(),
        "no cell's name contains `{}`; --list shows them",
        args.filter.join("` or `")
    );
    let mut peers: Vec<_> = match args.peers.as_slice() {
        [] if args.sweep => peer::SWEEP.iter().collect(),
        [] => peer::ALL.iter().collect(),
        some => some.to_vec(),
    };
    peers.retain(|peer| !args.pin || !peer.spins());
    anyhow::ensure!(!peers.is_empty(), "who never sleeps can not be measured with --pin");
    if args.list {
        crate::console::print_plan(cells.iter().map(|cell| cell.name.as_str()), &peers);
        return Ok(());
    }
    interrupt::install()?;
    let journal = args.json.as_deref().map(Journal::create).transpose()?;
    let workshop = Workshop::locate()?;
    let identity = Identity::make(workshop.peers_folder().join("conn-identity"))?;
    let parts = Parts::gather(workshop, &peers)?;
    let placement = Placement::together(args.pin)?;
    let run = Run::describe(&placement.describe(), pace.repetitions);
    campaign::run(&Contest { pace, cells, peers, parts, identity, placement }, &run, journal)
}
