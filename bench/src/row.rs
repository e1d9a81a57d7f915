//! The results as JSON, one object a line.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use anyhow::Context;
use serde::{Deserialize, Serialize};

use crate::machine::Run;
use crate::outcome::{Outcome, Samples};

/// One quantity of one cell: Iolite's value beside a peer's.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) table: Table,
    pub(crate) cell: String,
    pub(crate) peer: String,
    pub(crate) unit: String,
    /// What Iolite's repetitions come to.
    pub(crate) ours: Option<f64>,
    /// What the peer's repetitions come to: their median or the best, as the table says.
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
    RnsOperations,
    RnsBytes,
    RnsLatency,
    RnsMemory,
    RnsTimePerOperation,
    RnsTimePerByte,
    RnsBusy,
    ConnLatencyShare,
    ConnThroughputShare,
    ConnLatency,
    ConnPercentile,
    ConnThroughput,
    ConnServerCost,
    ConnNetLatency,
    ConnNetThroughput,
}

/// What several repetitions come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Summary {
    Median,
    /// Where whatever else the machine does can only make it worse.
    Best,
}

impl Summary {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Median => "median",
            Self::Best => "best",
        }
    }
}

impl Row {
    /// The rows of one measured cell.
    pub(crate) fn of_cell<P: Named, M>(
        quantities: &[Quantity<P, M>],
        outcomes: &[Outcome<P, M>],
    ) -> Vec<Self> {
        let ours = outcomes.iter().find(|outcome| outcome.peer.is_ours());
        let mut rows = Vec::new();
        for quantity in quantities {
            let ours = ours.and_then(|outcome| quantity.table.summed_up(&(quantity.samples)(outcome)));
            rows.extend(outcomes.iter().map(|outcome| quantity.row(outcome, ours)));
        }
        rows
    }

    /// The middle of the samples, or the mean of the two middle ones.
    pub(crate) fn median(&self) -> Option<f64> {
        Samples::new(self.samples.clone()).median()
    }
}

impl Table {
    /// Whether it tells rates or times of operations, rather than what they cost.
    pub(crate) fn is_about_speed(self) -> bool {
        match self {
            Self::ThroughputLimited
            | Self::ThroughputPlain
            | Self::ThroughputMany
            | Self::SparseLatency
            | Self::LoadLatency
            | Self::RnsOperations
            | Self::RnsBytes
            | Self::RnsLatency
            | Self::ConnLatencyShare
            | Self::ConnThroughputShare
            | Self::ConnLatency
            | Self::ConnPercentile
            | Self::ConnThroughput
            | Self::ConnNetLatency
            | Self::ConnNetThroughput => true,
            Self::Memory
            | Self::ProcessorTime
            | Self::RnsMemory
            | Self::RnsTimePerOperation
            | Self::RnsTimePerByte
            | Self::RnsBusy
            | Self::ConnServerCost => false,
        }
    }

    pub(crate) fn lower_is_better(self) -> bool {
        match self {
            Self::ThroughputLimited
            | Self::ThroughputPlain
            | Self::ThroughputMany
            | Self::RnsOperations
            | Self::RnsBytes
            | Self::ConnLatencyShare
            | Self::ConnThroughputShare
            | Self::ConnThroughput
            | Self::ConnNetThroughput => false,
            Self::SparseLatency
            | Self::LoadLatency
            | Self::Memory
            | Self::ProcessorTime
            | Self::RnsLatency
            | Self::RnsMemory
            | Self::RnsTimePerOperation
            | Self::RnsTimePerByte
            | Self::RnsBusy
            | Self::ConnLatency
            | Self::ConnPercentile
            | Self::ConnServerCost
            | Self::ConnNetLatency => true,
        }
    }

    /// What repetitions come to in this table.
    pub(crate) fn summary(self) -> Summary {
        match self {
            Self::ThroughputLimited
            | Self::ThroughputPlain
            | Self::ThroughputMany
            | Self::SparseLatency
            | Self::LoadLatency
            | Self::Memory
            | Self::ProcessorTime
            | Self::RnsOperations
            | Self::RnsBytes
            | Self::RnsLatency
            | Self::RnsMemory
            | Self::RnsTimePerOperation
            | Self::RnsTimePerByte
            | Self::RnsBusy => Summary::Median,
            Self::ConnLatencyShare
            | Self::ConnThroughputShare
            | Self::ConnLatency
            | Self::ConnPercentile
            | Self::ConnThroughput
            | Self::ConnServerCost
            | Self::ConnNetLatency
            | Self::ConnNetThroughput => Summary::Best,
        }
    }

    fn summed_up(self, samples: &Samples) -> Option<f64> {
        match self.summary() {
            Summary::Median => samples.median(),
            Summary::Best if self.lower_is_better() => samples.min(),
            Summary::Best => samples.max(),
        }
    }

    /// How many times better one value is than another.
    fn ratio(self, ours: f64, theirs: f64) -> f64 {
        if self.lower_is_better() { theirs / ours } else { ours / theirs }
    }
}

/// How tables call a peer.
pub(crate) trait Named {
    fn name(&self) -> &'static str;

    /// What the tables' legend says.
    fn about(&self) -> &'static str;

    /// Whether it is the one that all ratios compare with.
    fn is_ours(&self) -> bool {
        self.name() == OURS
    }
}

/// The usual name of the peer that all ratios compare with.
pub(crate) const OURS: &str = "iolite";

/// Something that is read off an outcome.
#[derive(Debug)]
pub(crate) struct Quantity<P: 'static, M> {
    pub(crate) table: Table,
    pub(crate) cell: String,
    pub(crate) unit: &'static str,
    pub(crate) samples: fn(&Outcome<P, M>) -> Samples,
}

impl<P: Named, M> Quantity<P, M> {
    fn row(&self, outcome: &Outcome<P, M>, ours: Option<f64>) -> Row {
        let samples = (self.samples)(outcome);
        let theirs = self.table.summed_up(&samples);
        let ratio = ours.zip(theirs).map(|(ours, theirs)| self.table.ratio(ours, theirs));
        Row {
            table: self.table,
            cell: self.cell.clone(),
            peer: outcome.peer.name().to_owned(),
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
pub(crate) fn rounded(value: f64) -> f64 {
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
    parse(&text).with_context(|| format!("{} is no file that `bench` wrote with --json", path.display()))
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
    use super::*;

    #[test]
    fn a_file_that_is_something_else_is_refused_with_its_line() {
        assert!(format!("{:#}", parse("{}\n").unwrap_err()).contains("line 1"));
        assert!(parse("").is_err());
    }
}
