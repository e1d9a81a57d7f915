//! The tables on the terminal.

use crate::cell::{Cell, Kind};
use crate::machine::Run;
use crate::outcome::{Outcome, Samples};
use crate::peer::{OURS, Peer};
use crate::row::{Row, Table};

/// Lists what a run would measure.
pub(crate) fn print_plan(cells: &[Cell], peers: &[&Peer]) {
    println!("cells:");
    for cell in cells {
        println!("  {}", cell.name);
    }
    println!("peers:");
    for peer in peers {
        println!("  {:<12} {}", peer.name, peer.about);
    }
}

/// Tells what the run is.
pub(crate) fn print_run(run: &Run) {
    println!("{} · {} cores · {} · {}", run.cpu, run.cores, run.kernel, run.rustc);
    println!("{} repetitions in rotating order, medians; {}", run.repetitions, run.placement);
}

/// Prints one cell with everything that was measured in it.
pub(crate) fn print_cell(cell: &Cell, outcomes: &[Outcome]) {
    let columns = columns(cell.kind);
    print!("\n{:<16}", cell.name);
    for column in &columns {
        print!("{:>10}", column.title);
    }
    println!("{:>10}   {:<16}CPU µs/echo c / s", "iolite is", "peak MiB c / s");
    let Some(first) = columns.first() else { return };
    let ours = outcomes.iter().find(|outcome| outcome.peer.name == OURS);
    let ours = ours.and_then(|outcome| (first.value)(outcome));
    for outcome in outcomes {
        print!("  {:<14}", outcome.peer.name);
        for column in &columns {
            print!("{:>10}", number((column.value)(outcome)));
        }
        let ratio = ours.zip((first.value)(outcome)).filter(|_| outcome.peer.name != OURS);
        let ratio = ratio
            .map(|(ours, theirs)| if cell.kind == Kind::Throughput { ours / theirs } else { theirs / ours });
        print!("{:>10}", ratio.map_or_else(String::new, |ratio| format!("{ratio:.2}x")));
        let memory = both(&outcome.client_memory(), &outcome.server_memory());
        let time = both(&outcome.client_time(), &outcome.server_time());
        println!("   {memory:<16}{time:<16}  {}", remarks(outcome));
    }
}

/// Prints every throughput and round trip again in one table: cells down, peers across.
pub(crate) fn print_overview(rows: &[Row]) {
    let mut peers: Vec<&str> = Vec::new();
    let mut cells: Vec<(Table, &str)> = Vec::new();
    for row in rows.iter().filter(|row| !matches!(row.table, Table::Memory | Table::ProcessorTime)) {
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
fn both(client: &Samples, server: &Samples) -> String {
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

struct Column {
    title: &'static str,
    value: fn(&Outcome) -> Option<f64>,
}

fn columns(kind: Kind) -> Vec<Column> {
    let column = |title, value| Column { title, value };
    match kind {
        Kind::Throughput => vec![
            column("MiB/s", |outcome| outcome.throughput().median()),
            column("min", |outcome| outcome.throughput().min()),
            column("max", |outcome| outcome.throughput().max()),
        ],
        Kind::SparseLatency | Kind::LoadLatency => vec![
            column("p50 µs", |outcome| outcome.rtt(|rtt| rtt.p50).median()),
            column("min", |outcome| outcome.rtt(|rtt| rtt.p50).min()),
            column("max", |outcome| outcome.rtt(|rtt| rtt.p50).max()),
            column("p95 µs", |outcome| outcome.rtt(|rtt| rtt.p95).median()),
            column("p99 µs", |outcome| outcome.rtt(|rtt| rtt.p99).median()),
        ],
    }
}

fn remarks(outcome: &Outcome) -> String {
    let starved =
        (outcome.least_echoes() == Some(0)).then(|| "some connections got no echo in time".to_owned());
    outcome.failure().into_iter().chain(starved).collect::<Vec<_>>().join("; ")
}
