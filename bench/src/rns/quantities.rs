//! What the tables say about a cell.

use bench_peer::Usage;

use super::{cell::Cell, peer::Peer, trial::Measurement};
use crate::outcome::Samples;
use crate::row::Table;

/// All repetitions of one peer in one cell.
pub(crate) type Outcome = crate::outcome::Outcome<Peer, Measurement>;

type Quantity = crate::row::Quantity<Peer, Measurement>;

/// What is read off the outcomes of a cell; the first is the one that matters most.
pub(crate) fn quantities(cell: &Cell) -> Vec<Quantity> {
    let quantity = |table, cell: String, unit, samples| Quantity { table, cell, unit, samples };
    let name = cell.name.to_owned();
    let [near, far] = cell.roles().map(|role| format!("{name} {role}"));
    let mut quantities = vec![if cell.is_bulk() {
        quantity(Table::RnsBytes, name.clone(), "MB/s", Outcome::rate_of_bytes)
    } else {
        quantity(Table::RnsOperations, name.clone(), "1/s", Outcome::rate)
    }];
    if !cell.is_relayed() {
        quantities.push(quantity(Table::RnsLatency, format!("{name} p50"), "ms", Outcome::median_time));
        quantities.push(quantity(Table::RnsLatency, format!("{name} p99"), "ms", Outcome::tail_time));
    }
    let (table, unit) =
        if cell.is_bulk() { (Table::RnsTimePerByte, "ms/MB") } else { (Table::RnsTimePerOperation, "µs") };
    let [near_time, far_time]: [fn(&Outcome) -> Samples; 2] = if cell.is_bulk() {
        [Outcome::near_time_per_byte, Outcome::far_time_per_byte]
    } else {
        [Outcome::near_time, Outcome::far_time]
    };
    if cell.is_relayed() {
        // Only the relay is somebody's; the driver is the same for all.
        quantities.push(quantity(table, far.clone(), unit, far_time));
        quantities.push(quantity(Table::RnsMemory, far.clone(), "MiB", Outcome::far_memory));
        quantities.push(quantity(Table::RnsBusy, near, "%", Outcome::near_share));
        quantities.push(quantity(Table::RnsBusy, far, "%", Outcome::far_share));
    } else {
        quantities.push(quantity(table, near.clone(), unit, near_time));
        quantities.push(quantity(table, far.clone(), unit, far_time));
        quantities.push(quantity(Table::RnsMemory, near, "MiB", Outcome::near_memory));
        quantities.push(quantity(Table::RnsMemory, far, "MiB", Outcome::far_memory));
    }
    quantities
}

impl Outcome {
    /// Operations a second.
    pub(crate) fn rate(&self) -> Samples {
        self.samples(|Measurement { report, .. }| Some(report.operations as f64 / report.seconds))
    }

    /// Contents in megabytes a second.
    pub(crate) fn rate_of_bytes(&self) -> Samples {
        self.samples(|Measurement { report, .. }| Some(report.bytes as f64 / report.seconds / MB))
    }

    /// The median of the times that operations took, in milliseconds.
    pub(crate) fn median_time(&self) -> Samples {
        self.samples(|Measurement { report, .. }| report.rtt.as_ref().map(|rtt| rtt.p50 / 1e3))
    }

    fn tail_time(&self) -> Samples {
        self.samples(|Measurement { report, .. }| report.rtt.as_ref().map(|rtt| rtt.p99 / 1e3))
    }

    /// Processor time of the initiator or driver, in microseconds an operation.
    pub(crate) fn near_time(&self) -> Samples {
        self.of_role(0, |usage, Measurement { report, .. }| seconds(usage) * 1e6 / report.operations as f64)
    }

    /// Processor time of the responder or relay, in microseconds an operation.
    pub(crate) fn far_time(&self) -> Samples {
        self.of_role(1, |usage, Measurement { report, .. }| seconds(usage) * 1e6 / report.operations as f64)
    }

    /// Processor time of the initiator or driver, in milliseconds a megabyte.
    pub(crate) fn near_time_per_byte(&self) -> Samples {
        self.of_role(0, |usage, Measurement { report, .. }| seconds(usage) * 1e3 / (report.bytes as f64 / MB))
    }

    /// Processor time of the responder or relay, in milliseconds a megabyte.
    pub(crate) fn far_time_per_byte(&self) -> Samples {
        self.of_role(1, |usage, Measurement { report, .. }| seconds(usage) * 1e3 / (report.bytes as f64 / MB))
    }

    /// Peak resident memory of the initiator or driver, in MiB.
    pub(crate) fn near_memory(&self) -> Samples {
        self.of_role(0, |usage, _| usage.peak_rss as f64 / MIB)
    }

    /// Peak resident memory of the responder or relay, in MiB.
    pub(crate) fn far_memory(&self) -> Samples {
        self.of_role(1, |usage, _| usage.peak_rss as f64 / MIB)
    }

    /// The share of one processor that the driver took, in percent.
    pub(crate) fn near_share(&self) -> Samples {
        self.of_role(0, |usage, Measurement { report, .. }| seconds(usage) * 100.0 / report.seconds)
    }

    /// The share of one processor that the relay took, in percent.
    pub(crate) fn far_share(&self) -> Samples {
        self.of_role(1, |usage, Measurement { report, .. }| seconds(usage) * 100.0 / report.seconds)
    }

    fn of_role(&self, role: usize, value: impl Fn(&Usage, &Measurement) -> f64) -> Samples {
        self.samples(|measurement| Some(value(measurement.usage.get(role)?, measurement)))
    }
}

fn seconds(usage: &Usage) -> f64 {
    usage.user_seconds + usage.system_seconds
}

const MB: f64 = 1e6;
const MIB: f64 = 1_048_576.0;
