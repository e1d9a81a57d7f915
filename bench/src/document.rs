//! `docs/benchmarks.md` and its charts, written from the results.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::chart::{self, Bar, Panel, Tone};
use crate::console::number;
use crate::machine::Run;
use crate::peer::{self, OURS, Peer};
use crate::row::{Row, Table};

/// Writes the document and its charts under `folder`; returns what was written.
pub(crate) fn write(folder: &Path, run: &Run, rows: &[Row]) -> anyhow::Result<Vec<PathBuf>> {
    let charts = folder.join(CHARTS);
    fs::create_dir_all(&charts).with_context(|| format!("cannot create {}", charts.display()))?;
    let mut written = Vec::new();
    let mut save = |path: PathBuf, text: &str| {
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        written.push(path);
        anyhow::Ok(())
    };
    let mut text = introduction(run);
    for section in SECTIONS {
        let rows: Vec<_> = rows.iter().filter(|row| row.table == section.table).collect();
        if rows.is_empty() {
            continue;
        }
        save(charts.join(section.file_name()), &section.chart(&rows))?;
        section.describe(&rows, &mut text);
    }
    save(folder.join("benchmarks.md"), &text)?;
    Ok(written)
}

fn introduction(run: &Run) -> String {
    let mut text = format!(
        "# Benchmarks\n\n\
         Iolite's RakNet beside rust-raknet, KCP, TCP and QUIC, measured together in one run. This page is \
         generated: `cargo run --release -p bench -- report FILE`.\n\n\
         | | |\n|---|---|\n\
         | Date | {date} |\n| Processor | {cpu}, {cores} cores |\n| Kernel | {kernel} |\n| Compiler | {rustc} |\n\
         | Command | `{command}` |\n| Processes | {placement} |\n\n",
        date = run.date,
        cpu = run.cpu,
        cores = run.cores,
        kernel = run.kernel,
        rustc = run.rustc,
        command = run.command,
        placement = run.placement,
    );
    text.push_str(METHOD);
    for peer in peer::ALL {
        push(&mut text, &format!("- `{}`: {}.", peer.name, peer.about));
    }
    push(
        &mut text,
        &format!(
            "\nEvery value is the median of {} repetitions, whose order rotates; the smallest and the largest \
             stand below it. **×** tells how many times better Iolite through tokio is.",
            run.repetitions
        ),
    );
    text
}

/// One table of the results with its chart.
struct Section {
    table: Table,
    title: &'static str,
    about: &'static str,
    /// What the chart's caption says about its scale.
    scale: &'static str,
    /// Only cells whose name ends so are drawn; the table has all.
    drawn: &'static str,
    columns: usize,
}

impl Section {
    fn file_name(&self) -> String {
        format!("{}.svg", self.title.to_lowercase().replace([',', ':'], "").replace(' ', "-"))
    }

    fn describe(&self, rows: &[&Row], text: &mut String) {
        let chart = format!("{CHARTS}/{}", self.file_name());
        push(text, &format!("\n## {}\n\n{}\n\n![{}]({chart})\n", self.title, self.about, self.title));
        let peers: Vec<_> =
            peer::ALL.iter().filter(|peer| rows.iter().any(|row| row.peer == peer.name)).collect();
        let unit = rows.first().map_or("", |row| row.unit.as_str());
        let heads: Vec<_> = peers.iter().map(|peer| peer.name).collect();
        push(text, &format!("| {unit} | {} |", heads.join(" | ")));
        push(text, &format!("|---|{}", "---:|".repeat(peers.len())));
        for cell in cells(rows) {
            let entries: Vec<_> = peers.iter().map(|peer| entry(find(rows, cell, peer))).collect();
            push(text, &format!("| {cell} | {} |", entries.join(" | ")));
        }
        for row in rows.iter().filter(|row| row.failed.is_some()) {
            let failed = row.failed.as_deref().unwrap_or_default();
            push(text, &format!("\n`{}` in {}: {failed}.", row.peer, row.cell));
        }
    }

    fn chart(&self, rows: &[&Row]) -> String {
        let drawn: Vec<_> = cells(rows).into_iter().filter(|cell| cell.ends_with(self.drawn)).collect();
        let panels: Vec<_> = drawn
            .into_iter()
            .map(|cell| {
                let bars =
                    peer::ALL.iter().filter_map(|peer| find(rows, cell, peer).map(|row| bar(peer, row)));
                Panel { title: cell.to_owned(), bars: bars.collect() }
            })
            .collect();
        chart::grid(&format!("{} ({})", self.title, self.scale), &panels, self.columns)
    }
}

/// The cells in the order in which they were measured.
fn cells<'a>(rows: &[&'a Row]) -> Vec<&'a str> {
    let mut cells = Vec::new();
    for row in rows {
        if !cells.contains(&row.cell.as_str()) {
            cells.push(row.cell.as_str());
        }
    }
    cells
}

fn find<'a>(rows: &[&'a Row], cell: &str, peer: &Peer) -> Option<&'a Row> {
    rows.iter().find(|row| row.cell == cell && row.peer == peer.name).copied()
}

fn entry(row: Option<&Row>) -> String {
    let Some(row) = row else { return String::new() };
    if row.theirs.is_none() {
        return "failed".to_owned();
    }
    let ratio =
        row.ratio.filter(|_| row.peer != OURS).map_or_else(String::new, |ratio| format!(" **{ratio:.2}×**"));
    let (min, max) = (row.samples.first().copied(), row.samples.last().copied());
    format!("{}{ratio}<br><sub>{}–{}</sub>", number(row.theirs), number(min), number(max))
}

fn bar(peer: &Peer, row: &Row) -> Bar {
    let value = match (row.theirs, row.samples.as_slice()) {
        (Some(median), [min, .., max]) => Some([median, *min, *max]),
        (Some(median), _) => Some([median; 3]),
        (None, _) => None,
    };
    let tone = match peer.name {
        name if name.starts_with(OURS) => Tone::Ours,
        _ if peer.is_limit() => Tone::Limit,
        _ => Tone::Rival,
    };
    Bar { label: peer.name.to_owned(), tone, value, text: number(row.theirs) }
}

fn push(text: &mut String, line: &str) {
    // Writing to a string can not fail.
    let _ = writeln!(text, "{line}");
}

/// The folder of the charts, beside the document.
const CHARTS: &str = "benchmarks";

const METHOD: &str = "\
Client and server are separate processes. The client checks every echo in full: length, order and content. \
A burst lasts a fixed time after connecting and 20 warm-up messages on each connection; throughput is echoed payload per \
direction. `limited` loopback has the MTU of Ethernet and no segmentation offload, which is how most paths \
outside a machine behave; loss drops packets at random in both directions, acknowledgements included. One connection has \
64 messages in flight, each of many has 16. Memory is the peak resident size of the process (`VmHWM`). Every \
peer has the socket options that it sets by itself. Iolite looks for answers for up to 50 µs before it sleeps, as it does by default; \
the last section shows what that costs. rust-raknet and KCP as set here have no congestion control; Iolite runs with \
`Congestion::Fixed` instead of its default, CUBIC, which slows down under random loss as TCP and QUIC do. QUIC encrypts, the others \
do not.\n\n";

const SECTIONS: &[Section] = &[
    Section {
        table: Table::ThroughputLimited,
        title: "Throughput, one connection, limited loopback",
        about: "Messages of 64, 800 and 4,096 bytes; 0, 1 and 5 % loss.",
        scale: "MiB/s, longer is better",
        drawn: "",
        columns: 3,
    },
    Section {
        table: Table::ThroughputPlain,
        title: "Throughput, one connection, plain loopback",
        about: "The loopback as it is, where segmentation offload works.",
        scale: "MiB/s, longer is better",
        drawn: "",
        columns: 3,
    },
    Section {
        table: Table::ThroughputMany,
        title: "Throughput, many connections",
        about: "All connections between two processes, limited loopback.",
        scale: "MiB/s, longer is better",
        drawn: "",
        columns: 4,
    },
    Section {
        table: Table::SparseLatency,
        title: "Round trip of a single message",
        about: "One message at a time over an idle connection.",
        scale: "median in µs, shorter is better",
        drawn: "p50",
        columns: 2,
    },
    Section {
        table: Table::LoadLatency,
        title: "Round trip under load",
        about: "Every message's round trip while all windows are full, queues of both ends included.",
        scale: "median in µs, shorter is better",
        drawn: "p50",
        columns: 2,
    },
    Section {
        table: Table::Memory,
        title: "Peak memory",
        about: "Peak resident memory of client and server, without loss.",
        scale: "server, MiB, shorter is better",
        drawn: "server",
        columns: 3,
    },
    Section {
        table: Table::ProcessorTime,
        title: "Processor time",
        about: "User and kernel time of client and server for each echoed message, without loss; connecting and \
                warming up included. A peer that polls for a while before it sleeps pays for it here.",
        scale: "server, µs per echo, shorter is better",
        drawn: "server",
        columns: 3,
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    fn row(peer: &str, theirs: Option<f64>) -> Row {
        Row {
            table: Table::ThroughputLimited,
            cell: "1c-64-0%".to_owned(),
            peer: peer.to_owned(),
            unit: "MiB/s".to_owned(),
            ours: Some(100.0),
            theirs,
            ratio: theirs.map(|theirs| 100.0 / theirs),
            samples: theirs.into_iter().collect(),
            failed: theirs.is_none().then(|| "failed: why".to_owned()),
        }
    }

    fn described(rows: &[Row]) -> String {
        let mut text = String::new();
        SECTIONS[0].describe(&rows.iter().collect::<Vec<_>>(), &mut text);
        text
    }

    #[test]
    fn the_table_has_a_column_for_every_peer_that_was_measured_and_no_other() {
        let text = described(&[row("quinn", Some(50.0)), row("iolite", Some(100.0))]);
        assert!(text.contains("| MiB/s | iolite | quinn |"), "{text}");
        assert!(text.contains("50.0 **2.00×**"), "{text}");
    }

    #[test]
    fn a_failed_peer_stands_in_the_table_and_its_reason_below() {
        let text = described(&[row("iolite", Some(100.0)), row("tcp", None)]);
        assert!(text.contains("| failed |") && text.contains("`tcp` in 1c-64-0%: failed: why."), "{text}");
    }

    #[test]
    fn charts_have_file_names_that_a_link_can_carry() {
        for section in SECTIONS {
            let name = section.file_name();
            assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || ".-".contains(c)), "{name}");
        }
    }
}
