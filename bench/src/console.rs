//! The tables on the terminal.

use crate::machine::Run;
use crate::outcome::Samples;
use crate::row::Table;
use crate::row::{Named, Row};

/// Lists what a run would measure.
pub(crate) fn print_plan<'a, P: Named>(cells: impl Iterator<Item = &'a str>, peers: &[&P]) {
    println!("cells:");
    for cell in cells {
        println!("  {cell}");
    }
    println!("peers:");
    for peer in peers {
        println!("  {:<12} {}", peer.name(), peer.about());
    }
}

/// Tells what the run is.
pub(crate) fn print_run(run: &Run) {
    println!("{} · {} cores · {} · {}", run.cpu, run.cores, run.kernel, run.rustc);
    println!("{} repetitions in rotating order; {}", run.repetitions, run.placement);
}

/// Prints the medians of every throughput and round trip again in one table: cells down, peers across.
pub(crate) fn print_overview(rows: &[Row]) {
    let mut peers: Vec<&str> = Vec::new();
    let mut cells: Vec<(Table, &str)> = Vec::new();
    for row in rows.iter().filter(|row| row.table.is_about_speed()) {
        if !peers.contains(&row.peer.as_str()) {
            peers.push(&row.peer);
        }
        if !cells.contains(&(row.table, row.cell.as_str())) {
            cells.push((row.table, &row.cell));
        }
    }
    print!("\n{:<22}", "medians");
    peers.iter().for_each(|peer| print!("{peer:>12}"));
    println!();
    for (table, cell) in cells {
        let row_of = |peer: &str| {
            rows.iter().find(|row| (row.table, row.cell.as_str(), row.peer.as_str()) == (table, cell, peer))
        };
        let unit = peers.iter().find_map(|peer| row_of(peer)).map_or("", |row| row.unit.as_str());
        print!("{:<22}", format!("{cell} {unit}"));
        for peer in &peers {
            let text = match row_of(peer) {
                None => String::new(),
                Some(Row { theirs: None, .. }) => "failed".to_owned(),
                Some(Row { theirs, .. }) => number(*theirs),
            };
            print!("{text:>12}");
        }
        println!();
    }
}

/// The medians of both sides.
pub(crate) fn both(client: &Samples, server: &Samples) -> String {
    format!("{:>5} / {}", number(client.median()), number(server.median()))
}

/// A number with about three digits that matter; a dash for none.
pub(crate) fn number(value: Option<f64>) -> String {
    match value {
        None => "–".to_owned(),
        Some(value) if value >= 100.0 => format!("{value:.0}"),
        Some(value) if value >= 10.0 => format!("{value:.1}"),
        Some(value) => format!("{value:.2}"),
    }
}
