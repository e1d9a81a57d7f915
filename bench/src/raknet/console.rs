//! A cell on the terminal.

use super::{
    cell::{Cell, Kind},
    outcome::Outcome,
};
use crate::console::{both, number};
use crate::row::OURS;

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
