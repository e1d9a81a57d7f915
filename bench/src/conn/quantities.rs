//! What the tables say about a cell.

use super::{
    cell::Cell,
    peer::{CEILING, Peer},
    trial::Measurement,
};
use crate::outcome::Samples;
use crate::row::{Row, Table, rounded};

/// All repetitions of one contender in one cell.
pub(crate) type Outcome = crate::outcome::Outcome<Peer, Measurement>;

/// What is read off such an outcome.
pub(crate) type Quantity = crate::row::Quantity<Peer, Measurement>;

/// What is read off the outcomes of a cell.
pub(crate) fn quantities(cell: &Cell) -> Vec<Quantity> {
    let quantity = |table, unit, samples| Quantity { table, cell: cell.name.clone(), unit, samples };
    let percentile = |label, samples| Quantity {
        table: Table::ConnPercentile,
        cell: format!("{} {label}", cell.name),
        unit: "µs",
        samples,
    };
    vec![
        quantity(Table::ConnLatency, "µs", Outcome::latency),
        percentile("p50", Outcome::median_latency),
        percentile("p99", Outcome::tail_latency),
        quantity(Table::ConnThroughput, "MiB/s", Outcome::throughput),
        quantity(Table::ConnServerCost, "µs", Outcome::server_cost),
        quantity(Table::ConnNetLatency, "µs", Outcome::net_latency),
        quantity(Table::ConnNetThroughput, "MiB/s", Outcome::net_throughput),
    ]
}

/// What follows from the rows of a cell: which fraction of the ceiling everybody reaches. Without ceiling there is none.
pub(crate) fn shares(rows: &[Row]) -> Vec<Row> {
    let share_of = |table, of: Table, share: fn(f64, f64) -> f64| {
        let about = move |row: &&Row| row.table == of;
        let ceiling = rows.iter().filter(about).find(|row| row.peer == CEILING).and_then(|row| row.theirs);
        let share = move |ceiling, value| rounded(share(ceiling, value));
        rows.iter().filter(about).filter_map(move |row| {
            let ceiling = ceiling?;
            let mut samples: Vec<_> = row.samples.iter().map(|&value| share(ceiling, value)).collect();
            samples.sort_by(f64::total_cmp);
            let of_ceiling = |value: Option<f64>| value.map(|value| share(ceiling, value));
            let (ours, theirs) = (of_ceiling(row.ours), of_ceiling(row.theirs));
            Some(Row { table, unit: String::new(), ours, theirs, samples, ..row.clone() })
        })
    };
    share_of(Table::ConnLatencyShare, Table::ConnLatency, |ceiling, value| ceiling / value)
        .chain(share_of(Table::ConnThroughputShare, Table::ConnThroughput, |ceiling, value| value / ceiling))
        .collect()
}

impl Outcome {
    /// The mean round trip in microseconds.
    pub(crate) fn latency(&self) -> Samples {
        self.samples(|measurement| Some(measurement.report.mean))
    }

    /// The median round trip in microseconds.
    pub(crate) fn median_latency(&self) -> Samples {
        self.samples(|measurement| Some(measurement.report.rtt.p50))
    }

    /// The round trip that 99 of 100 do not exceed, in microseconds.
    pub(crate) fn tail_latency(&self) -> Samples {
        self.samples(|measurement| Some(measurement.report.rtt.p99))
    }

    /// Echoed MiB a second.
    pub(crate) fn throughput(&self) -> Samples {
        self.samples(|Measurement { report, size, .. }| {
            Some(report.exchanges as f64 * *size as f64 / MIB / report.seconds)
        })
    }

    /// What an answer costs the peer, in microseconds.
    pub(crate) fn server_cost(&self) -> Samples {
        self.samples(|measurement| measurement.server_cost)
    }

    /// The mean round trip without that cost, in microseconds.
    pub(crate) fn net_latency(&self) -> Samples {
        self.samples(Measurement::net_latency)
    }

    /// MiB a second that the round trip without the peer's cost would come to.
    pub(crate) fn net_throughput(&self) -> Samples {
        self.samples(|measurement| Some(measurement.size as f64 / MIB / (measurement.net_latency()? / 1e6)))
    }
}

const MIB: f64 = 1_048_576.0;

#[cfg(test)]
mod tests {
    use bench_peer::conn::Report;
    use bench_peer::{Rtt, Usage};

    use super::*;
    use crate::conn::cell::cells;

    fn outcome(peer: &str, means: &[f64]) -> Outcome {
        let mut outcome = Outcome::new(Peer::by_name(peer).unwrap());
        for &mean in means {
            let report = Report {
                exchanges: 1_000,
                seconds: mean / 1e3,
                mean,
                rtt: Rtt { p50: mean, p95: mean, p99: mean, max: mean },
                server_cost: None,
                usage: Usage { peak_rss: 0, user_seconds: 0.0, system_seconds: 0.0 },
            };
            outcome.add(Ok(Measurement { report, size: 64, server_cost: Some(1.0) }));
        }
        outcome
    }

    fn rows(outcomes: &[Outcome]) -> Vec<Row> {
        let mut rows = Row::of_cell(&quantities(&cells()[0]), outcomes);
        rows.extend(shares(&rows));
        rows
    }

    fn find<'a>(rows: &'a [Row], table: Table, peer: &str) -> &'a Row {
        rows.iter().find(|row| row.table == table && row.peer == peer).unwrap()
    }

    #[test]
    fn shares_compare_the_best_of_everybody_with_the_best_of_the_ceiling() {
        let rows = rows(&[outcome(CEILING, &[5.0, 9.0]), outcome("hyper", &[20.0, 10.0])]);
        for table in [Table::ConnLatencyShare, Table::ConnThroughputShare] {
            assert_eq!(find(&rows, table, "hyper").theirs, Some(0.5));
            assert_eq!(find(&rows, table, "hyper").samples, [0.25, 0.5]);
            assert_eq!(find(&rows, table, CEILING).theirs, Some(1.0));
        }
        assert_eq!(find(&rows, Table::ConnNetLatency, "hyper").theirs, Some(9.0));
    }

    #[test]
    fn without_ceiling_there_are_no_shares() {
        let rows = rows(&[outcome("hyper", &[20.0])]);
        assert!(rows.iter().all(|row| row.table != Table::ConnLatencyShare));
    }
}
