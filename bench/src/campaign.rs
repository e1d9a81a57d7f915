//! The whole run: every cell, every peer, in rotating order.

use indicatif::{ProgressBar, ProgressStyle};

use crate::cell::{Cell, Pace};
use crate::compile::Workshop;
use crate::console;
use crate::interrupt;
use crate::launch::Placement;
use crate::machine::Run;
use crate::network::Networks;
use crate::outcome::Outcome;
use crate::peer::Peer;
use crate::row::{Journal, Row};
use crate::trial::Trial;

/// Everything a run needs.
#[derive(Debug)]
pub(crate) struct Campaign {
    pub(crate) pace: Pace,
    pub(crate) cells: Vec<Cell>,
    pub(crate) peers: Vec<&'static Peer>,
    pub(crate) workshop: Workshop,
    pub(crate) networks: Networks,
    pub(crate) placement: Placement,
}

impl Campaign {
    /// Measures all cells; each is printed and recorded as soon as it is done.
    pub(crate) fn run(&self, mut journal: Option<Journal>) -> anyhow::Result<()> {
        let run = Run::describe(self.placement.describe(), self.pace.repetitions);
        console::print_run(&run);
        if let Some(journal) = &mut journal {
            journal.write_run(&run)?;
        }
        let progress = self.progress();
        let mut rows = Vec::new();
        for (index, cell) in self.cells.iter().enumerate() {
            let outcomes = self.measure(index, cell, &progress)?;
            progress.suspend(|| console::print_cell(cell, &outcomes));
            let cell_rows = Row::of_cell(cell, &outcomes);
            if let Some(journal) = &mut journal {
                journal.write_rows(&cell_rows)?;
            }
            rows.extend(cell_rows);
        }
        progress.finish_and_clear();
        console::print_overview(&rows);
        Ok(())
    }

    /// Lets every peer have its repetitions; each repetition begins with another peer.
    fn measure(&self, index: usize, cell: &Cell, progress: &ProgressBar) -> anyhow::Result<Vec<Outcome>> {
        let load = cell.load(&self.pace);
        let mut outcomes: Vec<_> = self
            .peers
            .iter()
            .filter(|peer| peer.takes_part_in(cell))
            .map(|&peer| Outcome::new(peer))
            .collect();
        let peers = outcomes.len();
        for repetition in 0..self.pace.repetitions {
            for turn in 0..peers {
                interrupt::check()?;
                let Some(outcome) = outcomes.get_mut((index + repetition + turn) % peers) else { continue };
                progress.set_message(format!("{} · {}", cell.name, outcome.peer.name));
                if !outcome.is_hopeless() {
                    outcome.add(
                        Trial {
                            program: &self.workshop.path(outcome.peer.binary),
                            mode: outcome.peer.mode,
                            load: &load,
                            namespace: self.networks.namespace(cell.network),
                            placement: self.placement,
                        }
                        .run(),
                    );
                }
                progress.inc(1);
            }
        }
        // A trial that ended because of the interruption must not look like the peer's failure.
        interrupt::check()?;
        Ok(outcomes)
    }

    fn progress(&self) -> ProgressBar {
        let takers = |cell| self.peers.iter().filter(|peer| peer.takes_part_in(cell)).count();
        let trials: usize = self.cells.iter().map(takers).sum::<usize>() * self.pace.repetitions;
        let bar = ProgressBar::new(trials as u64);
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} · {eta} left · {msg}") {
            bar.set_style(style);
        }
        bar
    }
}
