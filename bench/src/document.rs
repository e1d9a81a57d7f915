//! `docs/benchmarks.md` and its charts, written from the results.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::chart::{self, Bar, Panel, Tone};
use crate::console::number;
use crate::machine::Run;
use crate::row::{Row, Table};

/// What is written about one kind of run.
pub(crate) struct Chapter {
    pub(crate) title: &'static str,
    pub(crate) about: &'static str,
    /// What one has to know to read the tables.
    pub(crate) method: &'static str,
    /// Everybody who may take part, in the order of the tables' columns.
    pub(crate) legend: fn() -> Vec<Legend>,
    pub(crate) sections: &'static [Section],
    /// What is said when all tables are there.
    pub(crate) closing: fn(&Run, &[Row]) -> String,
}

/// Who a column is about.
pub(crate) struct Legend {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) standing: Standing,
}

/// What somebody is to the reader of the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Iolite as all ratios have it.
    Ours,
    /// Iolite in another way.
    Sibling,
    Rival,
    /// What the machine can do.
    Limit,
}

/// Writes the document and its charts under `folder`, each chapter from the results that are about it; returns what was
/// written.
pub(crate) fn write(
    folder: &Path,
    chapters: &[&Chapter],
    results: &[(Run, Vec<Row>)],
) -> anyhow::Result<Vec<PathBuf>> {
    let charts = folder.join(CHARTS);
    fs::create_dir_all(&charts).with_context(|| format!("cannot create {}", charts.display()))?;
    let mut written = Vec::new();
    let mut save = |path: PathBuf, text: &str| {
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        written.push(path);
        anyhow::Ok(())
    };
    let mut text = INTRODUCTION.to_owned();
    for chapter in chapters {
        for (run, rows) in results.iter().filter(|(_, rows)| chapter.is_about(rows)) {
            let legend = (chapter.legend)();
            chapter.introduce(run, rows, &legend, &mut text);
            for section in chapter.sections {
                let rows: Vec<_> = rows.iter().filter(|row| section.is_about(row)).collect();
                if !rows.is_empty() {
                    save(charts.join(section.file_name()), &section.chart(&rows, &legend))?;
                    section.describe(&rows, &legend, &mut text);
                }
            }
            text.push_str(&(chapter.closing)(run, rows));
        }
    }
    save(folder.join("benchmarks.md"), &text)?;
    Ok(written)
}

impl Chapter {
    fn is_about(&self, rows: &[Row]) -> bool {
        self.sections.iter().any(|section| rows.iter().any(|row| section.is_about(row)))
    }

    fn introduce(&self, run: &Run, rows: &[Row], legend: &[Legend], text: &mut String) {
        push(
            text,
            &format!(
                "\n## {title}\n\n{about}\n\n\
                 | | |\n|---|---|\n\
                 | Date | {date} |\n| Processor | {cpu}, {cores} cores |\n| Kernel | {kernel} |\n\
                 | Compiler | {rustc} |\n| Command | `{command}` |\n| Processes | {placement} |\n\n{method}",
                title = self.title,
                about = self.about,
                date = run.date,
                cpu = run.cpu,
                cores = run.cores,
                kernel = run.kernel,
                rustc = run.rustc,
                command = run.command,
                placement = run.placement,
                method = self.method,
            ),
        );
        for peer in legend.iter().filter(|peer| rows.iter().any(|row| row.peer == peer.name)) {
            push(text, &format!("- `{}`: {}.", peer.name, peer.about));
        }
        push(
            text,
            &format!(
                "\nEvery value is the {} of {} repetitions, whose order rotates; the smallest and the largest \
                 stand below it. **×** tells how many times better Iolite is.",
                self.sections.first().map_or("median", |section| section.table.summary().name()),
                run.repetitions
            ),
        );
    }
}

/// One table of the results with its chart.
pub(crate) struct Section {
    pub(crate) table: Table,
    pub(crate) title: &'static str,
    pub(crate) about: &'static str,
    /// What the chart's caption says about its scale.
    pub(crate) scale: &'static str,
    /// Only cells whose name ends so are drawn; the table has all.
    pub(crate) drawn: &'static str,
    pub(crate) layout: Layout,
    /// How many panels of the chart stand side by side.
    pub(crate) columns: usize,
}

/// How a table is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// A line for each cell, a column for each peer.
    PeersAcross,
    /// A line for each peer, a column for each cell, of those whose name begins so.
    CellsAcross(&'static str),
}

impl Section {
    fn is_about(&self, row: &Row) -> bool {
        let prefix = match self.layout {
            Layout::PeersAcross => "",
            Layout::CellsAcross(prefix) => prefix,
        };
        row.table == self.table && row.cell.starts_with(prefix)
    }

    fn file_name(&self) -> String {
        format!("{}.svg", self.title.to_lowercase().replace([',', ':'], "").replace(' ', "-"))
    }

    fn describe(&self, rows: &[&Row], legend: &[Legend], text: &mut String) {
        let chart = format!("{CHARTS}/{}", self.file_name());
        push(text, &format!("\n### {}\n\n{}\n\n![{}]({chart})\n", self.title, self.about, self.title));
        let peers: Vec<_> =
            legend.iter().filter(|peer| rows.iter().any(|row| row.peer == peer.name)).collect();
        let unit = rows.first().map_or("", |row| row.unit.as_str());
        let cells = cells(rows);
        let names = peers.iter().map(|peer| peer.name).collect();
        let entry = |cell, peer| entry(find(rows, cell, peer), peer);
        match self.layout {
            Layout::PeersAcross => {
                push_head(text, unit, names);
                for cell in cells {
                    push_line(text, cell, peers.iter().map(|peer| entry(cell, peer)));
                }
            }
            Layout::CellsAcross(_) => {
                push_head(text, unit, cells.clone());
                for peer in &peers {
                    push_line(text, peer.name, cells.iter().map(|cell| entry(cell, peer)));
                }
            }
        }
        for row in rows.iter().filter(|row| row.failed.is_some()) {
            let failed = row.failed.as_deref().unwrap_or_default();
            push(text, &format!("\n`{}` in {}: {failed}.", row.peer, row.cell));
        }
    }

    fn chart(&self, rows: &[&Row], legend: &[Legend]) -> String {
        let drawn: Vec<_> = cells(rows).into_iter().filter(|cell| cell.ends_with(self.drawn)).collect();
        let panels: Vec<_> = drawn
            .into_iter()
            .map(|cell| {
                let bars = legend.iter().filter_map(|peer| find(rows, cell, peer).map(|row| bar(peer, row)));
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

fn find<'a>(rows: &[&'a Row], cell: &str, peer: &Legend) -> Option<&'a Row> {
    rows.iter().find(|row| row.cell == cell && row.peer == peer.name).copied()
}

fn push_head(text: &mut String, unit: &str, columns: Vec<&str>) {
    push(text, &format!("| {unit} | {} |", columns.join(" | ")));
    push(text, &format!("|---|{}", "---:|".repeat(columns.len())));
}

fn push_line(text: &mut String, head: &str, entries: impl Iterator<Item = String>) {
    push(text, &format!("| {head} | {} |", entries.collect::<Vec<_>>().join(" | ")));
}

fn entry(row: Option<&Row>, peer: &Legend) -> String {
    let Some(row) = row else { return String::new() };
    if row.theirs.is_none() {
        return "failed".to_owned();
    }
    let ratio = row
        .ratio
        .filter(|_| peer.standing != Standing::Ours)
        .map_or_else(String::new, |ratio| format!(" **{ratio:.2}×**"));
    let (min, max) = (row.samples.first().copied(), row.samples.last().copied());
    format!("{}{ratio}<br><sub>{}–{}</sub>", number(row.theirs), number(min), number(max))
}

fn bar(peer: &Legend, row: &Row) -> Bar {
    let value = match (row.theirs, row.samples.as_slice()) {
        (Some(value), [min, .., max]) => Some([value, *min, *max]),
        (Some(value), _) => Some([value; 3]),
        (None, _) => None,
    };
    let tone = match peer.standing {
        Standing::Ours | Standing::Sibling => Tone::Ours,
        Standing::Limit => Tone::Limit,
        Standing::Rival => Tone::Rival,
    };
    Bar { label: peer.name.to_owned(), tone, value, text: number(row.theirs) }
}

fn push(text: &mut String, line: &str) {
    // Writing to a string can not fail.
    let _ = writeln!(text, "{line}");
}

/// The folder of the charts, beside the document.
const CHARTS: &str = "benchmarks";

const INTRODUCTION: &str = "# Benchmarks\n\nIolite beside its peers, those of each chapter measured together in one \
run. This page is generated: `cargo run --release -p bench -- report FILE...`.\n";

#[cfg(test)]
mod tests {
    use super::*;

    const SECTION: Section = Section {
        table: Table::ThroughputLimited,
        title: "Throughput",
        about: "",
        scale: "",
        drawn: "",
        layout: Layout::PeersAcross,
        columns: 1,
    };

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

    fn described(section: &Section, rows: &[Row]) -> String {
        let mut text = String::new();
        let peer = |name, standing| Legend { name, about: "", standing };
        let legend =
            [peer("iolite", Standing::Ours), peer("quinn", Standing::Rival), peer("tcp", Standing::Rival)];
        section.describe(&rows.iter().collect::<Vec<_>>(), &legend, &mut text);
        text
    }

    #[test]
    fn the_table_has_a_column_for_every_peer_that_was_measured_and_no_other() {
        let text = described(&SECTION, &[row("quinn", Some(50.0)), row("iolite", Some(100.0))]);
        assert!(text.contains("| MiB/s | iolite | quinn |"), "{text}");
        assert!(text.contains("50.0 **2.00×**"), "{text}");
    }

    #[test]
    fn a_failed_peer_stands_in_the_table_and_its_reason_below() {
        let text = described(&SECTION, &[row("iolite", Some(100.0)), row("tcp", None)]);
        assert!(text.contains("| failed |") && text.contains("`tcp` in 1c-64-0%: failed: why."), "{text}");
    }

    #[test]
    fn a_transposed_table_has_a_line_for_every_peer_and_only_its_own_cells() {
        let section = Section { layout: Layout::CellsAcross("1c-64-"), ..SECTION };
        assert!(section.is_about(&row("tcp", None)));
        assert!(!section.is_about(&Row { cell: "2c-64-0%".to_owned(), ..row("tcp", None) }));
        let text = described(&section, &[row("iolite", Some(100.0)), row("quinn", Some(50.0))]);
        assert!(
            text.contains("| MiB/s | 1c-64-0% |") && text.contains("\n| quinn | 50.0 **2.00×**"),
            "{text}"
        );
    }

    #[test]
    fn charts_have_file_names_that_a_link_can_carry() {
        let chapters = [&crate::raknet::CHAPTER, &crate::rns::CHAPTER, &crate::conn::CHAPTER];
        for section in chapters.into_iter().flat_map(|chapter| chapter.sections) {
            let name = section.file_name();
            assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || ".-".contains(c)), "{name}");
        }
    }
}
