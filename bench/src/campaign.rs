//! A whole run: every cell, every peer, in rotating order.

use indicatif::{ProgressBar, ProgressStyle};

use crate::console;
use crate::interrupt;
use crate::machine::Run;
use crate::outcome::Outcome;
use crate::process::Failure;
use crate::row::{Journal, Named, Quantity, Row};

/// What a run measures, and how one trial of it goes.
pub(crate) trait Contest {
    type Cell;
    type Peer: Named + 'static;
    type Measurement;

    /// The cells, in the order in which they are measured.
    fn cells(&self) -> &[Self::Cell];

    /// What a cell is called.
    fn name<'cell>(&self, cell: &'cell Self::Cell) -> &'cell str;

    /// The peers that take part in a cell.
    fn peers(&self, cell: &Self::Cell) -> Vec<&'static Self::Peer>;

    /// Measures one peer in one cell once.
    fn trial(&self, cell: &Self::Cell, peer: &'static Self::Peer) -> Result<Self::Measurement, Failure>;

    /// What the tables say about a cell.
    fn quantities(&self, cell: &Self::Cell) -> Vec<Quantity<Self::Peer, Self::Measurement>>;

    /// The rows of a cell: its quantities, and whatever follows from them.
    fn rows(&self, cell: &Self::Cell, outcomes: &[Outcome<Self::Peer, Self::Measurement>]) -> Vec<Row> {
        Row::of_cell(&self.quantities(cell), outcomes)
    }

    /// Prints a cell with all that was measured in it.
    fn print(&self, cell: &Self::Cell, outcomes: &[Outcome<Self::Peer, Self::Measurement>]);

    /// Prints what all cells come to.
    fn conclude(&self, rows: &[Row]) {
        console::print_overview(rows);
    }
}

/// Measures all cells; each is printed and recorded as soon as it is done.
pub(crate) fn run<C: Contest>(contest: &C, run: &Run, mut journal: Option<Journal>) -> anyhow::Result<()> {
    console::print_run(run);
    if let Some(journal) = &mut journal {
        journal.write_run(run)?;
    }
    let progress = progress(contest, run.repetitions);
    let mut rows = Vec::new();
    for (index, cell) in contest.cells().iter().enumerate() {
        let outcomes = measure(contest, index, cell, run.repetitions, &progress)?;
        progress.suspend(|| contest.print(cell, &outcomes));
        let cell_rows = contest.rows(cell, &outcomes);
        if let Some(journal) = &mut journal {
            journal.write_rows(&cell_rows)?;
        }
        rows.extend(cell_rows);
    }
    progress.finish_and_clear();
    contest.conclude(&rows);
    Ok(())
}

/// Lets every peer have its repetitions; each repetition begins with another peer.
fn measure<C: Contest>(
    contest: &C,
    index: usize,
    cell: &C::Cell,
    repetitions: usize,
    progress: &ProgressBar,
) -> anyhow::Result<Vec<Outcome<C::Peer, C::Measurement>>> {
    let mut outcomes: Vec<_> = contest.peers(cell).into_iter().map(Outcome::new).collect();
    let peers = outcomes.len();
    for repetition in 0..repetitions {
        for turn in 0..peers {
            interrupt::check()?;
            let Some(outcome) = outcomes.get_mut((index + repetition + turn) % peers) else { continue };
            progress.set_message(format!("{} · {}", contest.name(cell), outcome.peer.name()));
            if !outcome.is_hopeless() {
                outcome.add(contest.trial(cell, outcome.peer));
            }
            progress.inc(1);
        }
    }
    // A trial that ended because of the interruption must not look like the peer's failure.
    interrupt::check()?;
    Ok(outcomes)
}

fn progress<C: Contest>(contest: &C, repetitions: usize) -> ProgressBar {
    let trials: usize =
        contest.cells().iter().map(|cell| contest.peers(cell).len()).sum::<usize>() * repetitions;
    let bar = ProgressBar::new(trials as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} · {eta} left · {msg}") {
        bar.set_style(style);
    }
    bar
}
