//! The results as JSON, one object a line.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use anyhow::Context;
use serde::{Deserialize, Serialize};

use crate::cell::{Cell, Kind, Network};
use crate::machine::Run;
use crate::outcome::{Outcome, Samples};
use crate::peer::OURS;

/// One quantity of one cell: Iolite's value beside a peer's.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) table: Table,
    pub(crate) cell: String,
    pub(crate) peer: String,
    pub(crate) unit: String,
    /// Iolite's median through tokio.
    pub(crate) ours: Option<f64>,
    /// The peer's median.
    pub(crate) theirs: Option<f64>,
    /// How many times better Iolite is; under 1 it is worse.
    pub(crate) ratio: Option<f64>,
    /// The peer's value of every repetition, sorted.
    pub(crate) samples: Vec<f64>,
    /// What went wrong in some or all repetitions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) failed: Option<String>,
}

/// What a row is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Table {
    ThroughputLimited,
    ThroughputPlain,
    ThroughputMany,
    SparseLatency,
    LoadLatency,
    Memory,
    ProcessorTime,
}

impl Row {
    /// The rows of one measured cell.
    pub(crate) fn of_cell(cell: &Cell, outcomes: &[Outcome]) -> Vec<Self> {
        let ours = outcomes.iter().find(|outcome| outcome.peer.name == OURS);
        let mut rows = Vec::new();
        for quantity in quantities(cell) {
            let our_median = ours.and_then(|outcome| (quantity.samples)(outcome).median());
            rows.extend(outcomes.iter().map(|outcome| quantity.row(outcome, our_median)));
        }
        rows
    }
}

impl Table {
    pub(crate) fn lower_is_better(self) -> bool {
        match self {
            Self::ThroughputLimited | Self::ThroughputPlain | Self::ThroughputMany => false,
            Self::SparseLatency | Self::LoadLatency | Self::Memory | Self::ProcessorTime => true,
        }
    }
}

/// Something that is read off an outcome.
struct Quantity {
    table: Table,
    cell: String,
    unit: &'static str,
    samples: fn(&Outcome) -> Samples,
}

fn quantities(cell: &Cell) -> Vec<Quantity> {
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

impl Quantity {
    fn row(&self, outcome: &Outcome, ours: Option<f64>) -> Row {
        let samples = (self.samples)(outcome);
        let theirs = samples.median();
        let ratio = ours
            .zip(theirs)
            .map(|(ours, theirs)| if self.table.lower_is_better() { theirs / ours } else { ours / theirs });
        Row {
            table: self.table,
            cell: self.cell.clone(),
            peer: outcome.peer.name.to_owned(),
            unit: self.unit.to_owned(),
            ours: ours.map(rounded),
            theirs: theirs.map(rounded),
            ratio: ratio.filter(|ratio| ratio.is_finite()).map(rounded),
            samples: samples.values().iter().copied().map(rounded).collect(),
            failed: outcome.failure(),
        }
    }
}

/// Three decimals are more than any of the quantities is good for.
fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

/// The file that results are written to while the run goes on.
#[derive(Debug)]
pub(crate) struct Journal(File);

/// The first line: what the run was. It has the keys of a row, so that a reader of rows may skip it by table.
#[derive(Debug, Serialize, Deserialize)]
struct RunLine {
    table: RunTable,
    cell: String,
    peer: String,
    unit: String,
    ours: Option<f64>,
    theirs: Option<f64>,
    ratio: Option<f64>,
    run: Run,
}

#[derive(Debug, Serialize, Deserialize)]
enum RunTable {
    #[serde(rename = "run")]
    Run,
}

impl Journal {
    /// Creates the file, before anything is measured in vain.
    pub(crate) fn create(path: &Path) -> anyhow::Result<Self> {
        File::create(path).map(Self).with_context(|| format!("cannot write {}", path.display()))
    }

    pub(crate) fn write_run(&mut self, run: &Run) -> anyhow::Result<()> {
        let empty = String::new;
        self.write_line(&RunLine {
            table: RunTable::Run,
            cell: empty(),
            peer: empty(),
            unit: empty(),
            ours: None,
            theirs: None,
            ratio: None,
            run: run.clone(),
        })
    }

    pub(crate) fn write_rows(&mut self, rows: &[Row]) -> anyhow::Result<()> {
        rows.iter().try_for_each(|row| self.write_line(row))
    }

    fn write_line(&mut self, line: &impl Serialize) -> anyhow::Result<()> {
        let mut bytes = serde_json::to_vec(line)?;
        bytes.push(b'\n');
        self.0.write_all(&bytes).context("cannot write the results")
    }
}

/// Reads a file of results.
pub(crate) fn read(path: &Path) -> anyhow::Result<(Run, Vec<Row>)> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    parse(&text).with_context(|| format!("{} is no file of `bench raknet --json`", path.display()))
}

fn parse(text: &str) -> anyhow::Result<(Run, Vec<Row>)> {
    let mut lines = text.lines();
    let first: RunLine = serde_json::from_str(lines.next().context("it is empty")?).context("line 1")?;
    let rows = lines
        .zip(2..)
        .map(|(line, number)| serde_json::from_str(line).with_context(|| format!("line {number}")));
    Ok((first.run, rows.collect::<anyhow::Result<_>>()?))
}

#[cfg(test)]
mod tests {
    use bench_peer::{Report, Usage};

    use super::*;
    use crate::cell::cells;
    use crate::peer::Peer;
    use crate::trial::{Failure, Measurement};

    fn outcome(peer: &str, mib_per_second: u64, memory: u64) -> Outcome {
        let usage = Usage { peak_rss: memory << 20, user_seconds: 0.0, system_seconds: 0.0 };
        let bytes = mib_per_second << 20;
        let client = Report { seconds: 1.0, echoes: 1, least_echoes: 1, bytes, rtt: None, usage };
        let mut outcome = Outcome::new(Peer::by_name(peer).unwrap());
        outcome.add(Ok(Measurement { client, server: usage }));
        outcome
    }

    fn first_rows(outcomes: &[Outcome]) -> Vec<Row> {
        Row::of_cell(&cells(true)[0], outcomes)
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

    #[test]
    fn a_file_that_is_something_else_is_refused_with_its_line() {
        assert!(format!("{:#}", parse("{}\n").unwrap_err()).contains("line 1"));
        assert!(parse("").is_err());
    }
}
