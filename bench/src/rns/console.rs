//! A cell on the terminal.

use super::{cell::Cell, quantities::Outcome};
use crate::console::{both, number};
use crate::row::{Named as _, OURS};

/// Prints one cell with everything that was measured in it.
pub(crate) fn print_cell(cell: &Cell, outcomes: &[Outcome]) {
    let bulk = cell.is_bulk();
    let rate = if bulk { Outcome::rate_of_bytes } else { Outcome::rate };
    let [near, far] = cell.roles();
    println!(
        "\n{:<16}{:>10}{:>10}{:>10}{:>10}{:>10}   {:<18}peak MiB   ({near} / {far})",
        cell.name,
        if bulk { "MB/s" } else { "1/s" },
        "min",
        "max",
        "iolite is",
        "p50 ms",
        if bulk { "CPU ms/MB" } else { "CPU µs" },
    );
    let ours = outcomes
        .iter()
        .find(|outcome| outcome.peer.name() == OURS)
        .and_then(|outcome| rate(outcome).median());
    for outcome in outcomes {
        let rates = rate(outcome);
        let ratio = ours.zip(rates.median()).filter(|_| outcome.peer.name() != OURS);
        let ratio = ratio.map_or_else(String::new, |(ours, theirs)| format!("{:.2}x", ours / theirs));
        let time = if bulk {
            both(&outcome.near_time_per_byte(), &outcome.far_time_per_byte())
        } else {
            both(&outcome.near_time(), &outcome.far_time())
        };
        println!(
            "  {:<14}{:>10}{:>10}{:>10}{ratio:>10}{:>10}   {time:<18}{}  {}",
            outcome.peer.name(),
            number(rates.median()),
            number(rates.min()),
            number(rates.max()),
            number(outcome.median_time().median()),
            both(&outcome.near_memory(), &outcome.far_memory()),
            outcome.failure().unwrap_or_default(),
        );
    }
}
