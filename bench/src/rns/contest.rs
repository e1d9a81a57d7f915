//! Reticulum's part in a campaign.

use super::{
    cell::{Cell, Pace},
    console,
    peer::Peer,
    quantities::{Outcome, quantities},
    trial::{Measurement, Trial},
};
use crate::campaign;
use crate::compile::Workshop;
use crate::launch::Placement;
use crate::process::Failure;
use crate::python::Python;
use crate::row::Quantity;

/// Everything that trials need.
#[derive(Debug)]
pub(crate) struct Contest {
    pub(crate) pace: Pace,
    pub(crate) cells: Vec<Cell>,
    pub(crate) peers: Vec<&'static Peer>,
    pub(crate) workshop: Workshop,
    pub(crate) python: Option<Python>,
    pub(crate) placement: Placement,
}

impl campaign::Contest for Contest {
    type Cell = Cell;
    type Peer = Peer;
    type Measurement = Measurement;

    fn cells(&self) -> &[Cell] {
        &self.cells
    }

    fn name<'cell>(&self, cell: &'cell Cell) -> &'cell str {
        cell.name
    }

    fn peers(&self, cell: &Cell) -> Vec<&'static Peer> {
        self.peers.iter().copied().filter(|peer| peer.takes_part_in(cell)).collect()
    }

    fn trial(&self, cell: &Cell, peer: &'static Peer) -> Result<Measurement, Failure> {
        let Self { pace, workshop, python, placement, .. } = self;
        Trial { cell, peer, pace, workshop, python: python.as_ref(), placement: *placement }.run()
    }

    fn quantities(&self, cell: &Cell) -> Vec<Quantity<Peer, Measurement>> {
        quantities(cell)
    }

    fn print(&self, cell: &Cell, outcomes: &[Outcome]) {
        console::print_cell(cell, outcomes);
    }
}
