//! What was aimed at, beside what was reached.

use std::fmt::Write as _;

use bench_peer::conn::Scheme;

use super::cell::{cells, name};
use super::peer::{
    ALL, EXPORT_C, EXPORT_CPP, EXPORT_PYTHON, Peer, RAW, REQUESTS_LEAN, WEBSOCKET_CLIENT_LEAN,
};
use crate::console::number;
use crate::document::Standing;
use crate::launch::TOGETHER;
use crate::row::{Named as _, Row, Table};

/// Something that one contender has to reach in one cell.
#[derive(Debug)]
struct Gate {
    cell: String,
    peer: &'static str,
    demand: Demand,
}

#[derive(Debug, Clone, Copy)]
enum Demand {
    /// So much of the ceiling's latency.
    Share(f64),
    /// At least as much of the ceiling as the best rival.
    Lead(Table),
    /// So many times as fast as a rival.
    Times(f64, &'static str),
    /// Not more than so many microseconds, or so much of the whole, slower than another way into the same library.
    Behind { other: &'static str, micros: f64, part: f64 },
}

/// What became of a gate.
#[derive(Debug)]
struct Verdict {
    gate: Gate,
    target: String,
    reached: String,
    met: bool,
}

/// The table of all gates that the rows decide, as Markdown, which a terminal shows as well.
///
/// Gates are about one processor for both ends; without, nothing is gated.
pub(crate) fn told(placement: &str, rows: &[Row]) -> String {
    let verdicts: Vec<_> = gates().into_iter().filter_map(|gate| judged(gate, rows)).collect();
    let mut text = String::new();
    if verdicts.is_empty() {
        return text;
    }
    text.push_str("\n### Gates of the six schemes\n\n");
    if !placement.starts_with(TOGETHER) {
        text.push_str("Gates are for `--pin`: without, the figures show the scheduler's placement.\n\n");
    }
    let missed = verdicts.iter().filter(|verdict| !verdict.met).count();
    // Writing to a string can not fail.
    let _ = writeln!(text, "{} of {} met.\n", verdicts.len() - missed, verdicts.len());
    text.push_str("| Cell | Who | Target | Reached | |\n|---|---|---|---|---|\n");
    for Verdict { gate: Gate { cell, peer, .. }, target, reached, met } in verdicts {
        let met = if met { "met" } else { "**missed**" };
        let _ = writeln!(text, "| {cell:<19} | {peer:<13} | {target:<46} | {reached:<28} | {met:<10} |");
    }
    text
}

fn gates() -> Vec<Gate> {
    let mut gates = Vec::new();
    let mut gate = |cell: &str, peer, demand| gates.push(Gate { cell: cell.to_owned(), peer, demand });
    for (scheme, size, share) in RAW_SHARES {
        gate(&name(scheme, size), RAW, Demand::Share(share));
    }
    for cell in cells() {
        gate(&cell.name, RAW, Demand::Lead(Table::ConnLatencyShare));
        gate(&cell.name, RAW, Demand::Lead(Table::ConnThroughputShare));
        gate(&cell.name, EXPORT_C, Demand::Behind { other: RAW, micros: 0.1, part: 0.03 });
        gate(&cell.name, EXPORT_CPP, Demand::Behind { other: EXPORT_C, micros: 0.05, part: 0.0 });
        gate(&cell.name, EXPORT_PYTHON, Demand::Times(1.0, REQUESTS_LEAN));
        gate(&cell.name, EXPORT_PYTHON, Demand::Times(1.0, WEBSOCKET_CLIENT_LEAN));
    }
    for (scheme, size, share) in PYTHON_SHARES {
        gate(&name(scheme, size), EXPORT_PYTHON, Demand::Share(share));
    }
    gate(&name(Scheme::Http, 64), EXPORT_PYTHON, Demand::Times(20.0, REQUESTS_LEAN));
    gate(&name(Scheme::Ws, 64), EXPORT_PYTHON, Demand::Times(2.0, WEBSOCKET_CLIENT_LEAN));
    gates
}

/// Compares; nothing where somebody who has to be compared was not measured.
fn judged(gate: Gate, rows: &[Row]) -> Option<Verdict> {
    let value = |table, peer: &str| {
        let mut rows = rows.iter().filter(|row| row.table == table && row.cell == gate.cell);
        rows.find(|row| row.peer == peer)?.theirs
    };
    let latency = |peer| value(Table::ConnLatency, peer);
    let (target, reached, met) = match gate.demand {
        Demand::Share(least) => {
            let share = value(Table::ConnLatencyShare, gate.peer)?;
            (format!("Share(lat) of {least}"), format!("{share:.3}"), share >= least)
        }
        Demand::Lead(table) => {
            let share = value(table, gate.peer)?;
            let rivals = ALL.iter().filter(|peer| peer.standing() == Standing::Rival).map(Peer::name);
            let (best, who) = rivals
                .filter_map(|rival| Some((value(table, rival)?, rival)))
                .max_by(|(left, _), (right, _)| left.total_cmp(right))?;
            let what = if table == Table::ConnLatencyShare { "Share(lat)" } else { "Share(thrpt)" };
            (format!("{what} of the best rival: {best:.3} ({who})"), format!("{share:.3}"), share >= best)
        }
        Demand::Times(factor, rival) => {
            let (ours, theirs) = (latency(gate.peer)?, latency(rival)?);
            let times = theirs / ours;
            (format!("{factor} times as fast as {rival}"), format!("{times:.2} times"), times >= factor)
        }
        Demand::Behind { other, micros, part } => {
            let (ours, theirs) = (latency(gate.peer)?, latency(other)?);
            let limit = theirs + micros.max(theirs * part);
            let reached = format!("{} µs", number(Some(ours)));
            (format!("{} µs, close to {other}", number(Some(limit))), reached, ours <= limit)
        }
    };
    Some(Verdict { gate, target, reached, met })
}

/// What raw has to reach with *ring* below TLS.
const RAW_SHARES: [(Scheme, usize, f64); 16] = [
    (Scheme::Http, 64, 0.80),
    (Scheme::Http, 131_072, 0.45),
    (Scheme::Http, 1_048_576, 0.37),
    (Scheme::Https, 64, 0.62),
    (Scheme::Https, 131_072, 0.112),
    (Scheme::Https, 1_048_576, 0.13),
    (Scheme::Ws, 64, 0.90),
    (Scheme::Ws, 131_072, 0.39),
    (Scheme::Ws, 1_048_576, 0.35),
    (Scheme::Wss, 64, 0.68),
    (Scheme::Wss, 131_072, 0.112),
    (Scheme::Wss, 1_048_576, 0.125),
    (Scheme::Udp, 64, 0.93),
    (Scheme::Udp, 1024, 0.92),
    (Scheme::UdpMulticast, 64, 0.83),
    (Scheme::UdpMulticast, 1024, 0.83),
];

/// What Python's module has to reach against the lean peer.
const PYTHON_SHARES: [(Scheme, usize, f64); 3] =
    [(Scheme::Http, 64, 0.55), (Scheme::Ws, 64, 0.60), (Scheme::Udp, 64, 0.65)];

#[cfg(test)]
mod tests {
    use super::*;

    fn row(table: Table, cell: &str, peer: &str, value: f64) -> Row {
        Row {
            table,
            cell: cell.to_owned(),
            peer: peer.to_owned(),
            unit: String::new(),
            ours: None,
            theirs: Some(value),
            ratio: None,
            samples: vec![value],
            failed: None,
        }
    }

    #[test]
    fn every_gate_is_about_a_cell_that_is_measured() {
        let names: Vec<_> = cells().into_iter().map(|cell| cell.name).collect();
        for gate in gates() {
            assert!(names.contains(&gate.cell), "{gate:?}");
        }
    }

    #[test]
    fn a_share_below_its_target_or_behind_a_rival_is_missed_and_said_so() {
        let share = |peer, value| row(Table::ConnLatencyShare, "http-64", peer, value);
        let text = told(TOGETHER, &[share(RAW, 0.79), share("hyper", 0.57), share("ureq", 0.27)]);
        assert!(text.contains("1 of 2 met"), "{text}");
        assert!(text.contains("| Share(lat) of 0.8 ") && text.contains("| **missed** |"), "{text}");
        assert!(text.contains("best rival: 0.570 (hyper)"), "{text}");
    }

    #[test]
    fn limits_are_no_rivals_and_without_our_rows_nothing_is_judged() {
        let share = |peer, value| row(Table::ConnLatencyShare, "ws-64", peer, value);
        assert!(told(TOGETHER, &[share("lean", 0.95), share("hyper", 0.57)]).is_empty());
        let text = told(TOGETHER, &[share(RAW, 0.92), share("lean", 0.95), share("tungstenite", 0.77)]);
        assert!(text.contains("2 of 2 met"), "{text}");
    }

    #[test]
    fn a_binding_may_be_slower_by_its_allowance_and_no_more() {
        let latency = |peer, value| row(Table::ConnLatency, "udp-64", peer, value);
        let verdict = |ours| told(TOGETHER, &[latency(RAW, 5.0), latency(EXPORT_C, ours)]);
        assert!(verdict(5.14).contains("1 of 1 met"), "{}", verdict(5.14));
        assert!(verdict(5.16).contains("0 of 1 met"), "{}", verdict(5.16));
    }
}
