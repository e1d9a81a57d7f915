//! What the tables say about a cell.

use super::{
    cell::{Cell, Kind, Network},
    outcome::Outcome,
    peer::Peer,
    trial::Measurement,
};
use crate::row::Table;

type Quantity = crate::row::Quantity<Peer, Measurement>;

/// What is read off the outcomes of a cell.
pub(crate) fn quantities(cell: &Cell) -> Vec<Quantity> {
    let name = &cell.name;
    let mut quantities = match cell.kind {
        Kind::Throughput => {
            let table = match (cell.network, cell.connections) {
                (Network::Plain, _) => Table::ThroughputPlain,
                (Network::Limited { .. }, 1) => Table::ThroughputLimited,
                (Network::Limited { .. }, _) => Table::ThroughputMany,
            };
            vec![Quantity { table, cell: name.clone(), unit: "MiB/s", samples: Outcome::throughput }]
        }
        Kind::SparseLatency => percentiles(Table::SparseLatency, name),
        Kind::LoadLatency => percentiles(Table::LoadLatency, name),
    };
    if cell.network.loss_per_mille() == 0 {
        let mut of_side = |table, side, unit, samples| {
            quantities.push(Quantity { table, cell: format!("{name} {side}"), unit, samples });
        };
        of_side(Table::Memory, "client", "MiB", Outcome::client_memory);
        of_side(Table::Memory, "server", "MiB", Outcome::server_memory);
        of_side(Table::ProcessorTime, "client", "µs/echo", Outcome::client_time);
        of_side(Table::ProcessorTime, "server", "µs/echo", Outcome::server_time);
    }
    quantities
}

fn percentiles(table: Table, name: &str) -> Vec<Quantity> {
    let percentile =
        |label, samples| Quantity { table, cell: format!("{name} {label}"), unit: "µs", samples };
    vec![
        percentile("p50", |outcome| outcome.rtt(|rtt| rtt.p50)),
        percentile("p95", |outcome| outcome.rtt(|rtt| rtt.p95)),
        percentile("p99", |outcome| outcome.rtt(|rtt| rtt.p99)),
    ]
}

#[cfg(test)]
mod tests {
    use bench_peer::{Report, Usage};

    use super::*;
    use crate::process::Failure;
    use crate::raknet::cell::cells;
    use crate::row::Row;

    fn outcome(peer: &str, mib_per_second: u64, memory: u64) -> Outcome {
        let usage = Usage { peak_rss: memory << 20, user_seconds: 0.0, system_seconds: 0.0 };
        let bytes = mib_per_second << 20;
        let client = Report { seconds: 1.0, echoes: 1, least_echoes: 1, bytes, rtt: None, usage };
        let mut outcome = Outcome::new(Peer::by_name(peer).unwrap());
        outcome.add(Ok(Measurement { client, server: usage }));
        outcome
    }

    fn first_rows(outcomes: &[Outcome]) -> Vec<Row> {
        Row::of_cell(&quantities(&cells(true)[0]), outcomes)
    }

    #[test]
    fn a_ratio_over_one_always_means_that_iolite_is_better() {
        let rows = first_rows(&[outcome("iolite", 100, 2), outcome("rr-batch", 50, 3)]);
        let find = |table, cell: &str| {
            rows.iter().find(|row| row.peer == "rr-batch" && row.table == table && row.cell == cell).unwrap()
        };
        assert_eq!(find(Table::ThroughputLimited, "1c-64-0%").ratio, Some(2.0));
        assert_eq!(find(Table::Memory, "1c-64-0% server").ratio, Some(1.5));
    }

    #[test]
    fn a_peer_that_failed_keeps_its_row() {
        let mut failed = Outcome::new(Peer::by_name("quinn").unwrap());
        failed.add(Err(Failure { why: "no route".to_owned(), stalled: false }));
        let rows = first_rows(&[outcome("iolite", 100, 2), failed]);
        let row = rows.iter().find(|row| row.peer == "quinn").unwrap();
        assert_eq!((row.theirs, row.ratio), (None, None));
        assert_eq!(row.failed.as_deref(), Some("failed: no route"));
    }

    #[test]
    fn a_line_has_the_promised_keys_and_reads_back() {
        let row = first_rows(&[outcome("iolite", 100, 2)]).remove(0);
        let line = serde_json::to_value(&row).unwrap();
        for key in ["table", "cell", "peer", "unit", "ours", "theirs", "ratio"] {
            assert!(line.get(key).is_some(), "{key}");
        }
        assert_eq!(serde_json::from_value::<Row>(line).unwrap().cell, row.cell);
    }
}
