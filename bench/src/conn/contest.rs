//! The part of the six schemes in a campaign.

use super::{
    cell::{Cell, Pace},
    console, gates,
    identity::Identity,
    parts::Parts,
    peer::Peer,
    quantities::{Outcome, Quantity, quantities, shares},
    trial::{Measurement, Trial},
};
use crate::campaign;
use crate::launch::Placement;
use crate::process::Failure;
use crate::row::Row;

/// Everything that trials need.
#[derive(Debug)]
pub(crate) struct Contest {
    pub(crate) pace: Pace,
    pub(crate) cells: Vec<Cell>,
    pub(crate) peers: Vec<&'static Peer>,
    pub(crate) parts: Parts,
    pub(crate) identity: Identity,
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
        &cell.name
    }

    fn peers(&self, cell: &Cell) -> Vec<&'static Peer> {
        self.peers.iter().copied().filter(|peer| peer.takes_part_in(cell)).collect()
    }

    fn trial(&self, cell: &Cell, peer: &'static Peer) -> Result<Measurement, Failure> {
        let Self { pace, parts, identity, placement, .. } = self;
        Trial { cell, peer, pace, parts, identity, placement: *placement }.run()
    }

    fn quantities(&self, cell: &Cell) -> Vec<Quantity> {
        quantities(cell)
    }

    fn rows(&self, cell: &Cell, outcomes: &[Outcome]) -> Vec<Row> {
        let mut rows = Row::of_cell(&self.quantities(cell), outcomes);
        rows.extend(shares(&rows));
        rows
    }

    fn print(&self, cell: &Cell, outcomes: &[Outcome]) {
        console::print_cell(cell, outcomes, &self.rows(cell, outcomes));
    }

    fn conclude(&self, rows: &[Row]) {
        console::print_shares(rows);
        print!("{}", gates::told(&self.placement.describe(), rows));
    }
}
