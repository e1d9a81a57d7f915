//! A cell on the terminal, and all of them at the end.

use bench_peer::conn::Scheme;

use super::cell::{Cell, name, sizes};
use super::peer::ALL;
use super::quantities::Outcome;
use crate::console::number;
use crate::row::{Named as _, Row, Table};

/// Prints one cell with everything that was measured in it.
pub(crate) fn print_cell(cell: &Cell, outcomes: &[Outcome], rows: &[Row]) {
    println!("\n{:<26}{}", cell.name, COLUMNS.map(|(title, _)| format!("{title:>13}")).concat());
    for outcome in outcomes {
        let peer = outcome.peer.name();
        let values =
            COLUMNS.map(|(_, column)| format!("{:>13}", column.text(column.value(&cell.name, peer, rows))));
        println!("  {peer:<24}{}  {}", values.concat(), outcome.failure().unwrap_or_default());
    }
}

/// Prints the shares of the ceiling's latency again: for each scheme, its contenders down and its sizes across.
pub(crate) fn print_shares(rows: &[Row]) {
    for scheme in Scheme::ALL {
        let cells: Vec<_> = sizes(scheme).iter().map(|&size| name(scheme, size)).collect();
        let of = |cell: &str, peer: &str| Column::Share(Table::ConnLatencyShare).value(cell, peer, rows);
        let lines: Vec<_> = ALL
            .iter()
            .map(|peer| (peer.name(), cells.iter().map(|cell| of(cell, peer.name())).collect::<Vec<_>>()))
            .filter(|(_, shares)| shares.iter().any(Option::is_some))
            .collect();
        if lines.is_empty() {
            continue;
        }
        println!(
            "\n{:<26}{}",
            format!("Share(lat) of {scheme}"),
            sizes(scheme).iter().map(|size| format!("{size:>10}")).collect::<String>()
        );
        for (peer, shares) in lines {
            let text: String = shares.into_iter().map(|share| format!("{:>10}", fraction(share))).collect();
            println!("  {peer:<24}{text}");
        }
    }
}

/// A share of the ceiling; a dash for none.
fn fraction(share: Option<f64>) -> String {
    share.map_or_else(|| number(None), |share| format!("{share:.3}"))
}

/// Where a column's numbers come from.
#[derive(Clone, Copy)]
enum Column {
    Best(Table),
    /// The best, as a fraction.
    Share(Table),
    /// The best of a percentile, whose label the cell's name ends with.
    Percentile(&'static str),
    /// The median of the repetitions instead of the best.
    Median(Table),
}

impl Column {
    fn text(self, value: Option<f64>) -> String {
        match self {
            Self::Share(_) => fraction(value),
            Self::Best(_) | Self::Percentile(_) | Self::Median(_) => number(value),
        }
    }

    fn value(self, cell: &str, peer: &str, rows: &[Row]) -> Option<f64> {
        let find = |table, cell: &str| {
            rows.iter().find(|row| row.table == table && row.cell == cell && row.peer == peer)
        };
        match self {
            Self::Best(table) | Self::Share(table) => find(table, cell)?.theirs,
            Self::Percentile(label) => find(Table::ConnPercentile, &format!("{cell} {label}"))?.theirs,
            Self::Median(table) => find(table, cell)?.median(),
        }
    }
}

const COLUMNS: [(&str, Column); 10] = [
    ("latency RT", Column::Best(Table::ConnLatency)),
    ("its median", Column::Median(Table::ConnLatency)),
    ("p50", Column::Percentile("p50")),
    ("p99", Column::Percentile("p99")),
    ("MiB/s", Column::Best(Table::ConnThroughput)),
    ("server_cost", Column::Best(Table::ConnServerCost)),
    ("w/o server", Column::Best(Table::ConnNetLatency)),
    ("MiB/s w/o", Column::Best(Table::ConnNetThroughput)),
    ("Share(thrpt)", Column::Share(Table::ConnThroughputShare)),
    ("Share(lat)", Column::Share(Table::ConnLatencyShare)),
];
