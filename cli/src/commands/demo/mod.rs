//! `iolite demo`: every feature at work over loopback sockets.
//!
//! Each protocol brings a list of [`Section`]s; this module runs them one after the other and sums up.

#[cfg(target_os = "linux")]
mod conn;
mod raknet;
mod rns;
mod section;

use serde_json::{Value, json};
use std::time::{Duration, Instant};

use crate::{
    args::demo::Demo,
    failure::Failure,
    output::{
        self,
        progress::Progress,
        quantity::{count, throughput, time},
        style::{self, paint},
        table::{Align, Cell, Table},
    },
};
use section::{Outcome, Section, Stage};

/// Runs all sections and prints the summary.
///
/// # Errors
/// A section failed; the others have run all the same.
pub(crate) async fn run(options: Demo) -> Result<(), Failure> {
    let start = Instant::now();
    let mut reports = Vec::new();
    for section in raknet::SECTIONS.iter().chain(rns::SECTIONS).chain(CONN) {
        let report = run_section(section, options).await;
        if !options.json {
            output::line(report.line())?;
        }
        reports.push(report);
    }
    let taken = start.elapsed();
    let failed = reports.iter().filter(|report| report.outcome.is_err()).count();
    if options.json {
        output::json(&json!({
            "ok": failed == 0,
            "seconds": taken.as_secs_f64(),
            "sections": reports.iter().map(Report::json).collect::<Vec<_>>(),
        }))?;
    } else {
        output::line("")?;
        output::line(table(&reports))?;
        output::line(verdict(reports.len(), failed, taken))?;
    }
    match failed {
        0 => Ok(()),
        _ => Err(Failure::check(format_args!("{failed} of {} sections failed", reports.len()))),
    }
}

async fn run_section(section: &'static Section, options: Demo) -> Report {
    let progress = if options.json { Progress::hidden() } else { Progress::live(section.name) };
    let start = Instant::now();
    let work = (section.run)(Stage { quick: options.quick, progress: progress.clone() });
    let outcome = match tokio::time::timeout(LONGEST, work).await {
        Ok(outcome) => outcome,
        Err(_) => Err(Failure::check(format_args!("not done after {}", time(LONGEST)))),
    };
    progress.finish();
    Report { section, outcome, taken: start.elapsed() }
}

/// How a section went.
#[derive(Debug)]
struct Report {
    section: &'static Section,
    outcome: Result<Outcome, Failure>,
    taken: Duration,
}

impl Report {
    fn line(&self) -> String {
        let Section { protocol, name, .. } = self.section;
        let name = paint(style::STRONG, format_args!("{protocol} {name}"));
        match &self.outcome {
            Ok(outcome) => format!("{} {name}: {}", paint(style::GOOD, "✓"), outcome.found),
            Err(failure) => format!("{} {name}: {}", paint(style::BAD, "✗"), failure.what()),
        }
    }

    fn json(&self) -> Value {
        let Section { protocol, name, .. } = self.section;
        let outcome = self.outcome.as_ref();
        json!({
            "protocol": protocol,
            "section": name,
            "ok": outcome.is_ok(),
            "seconds": self.taken.as_secs_f64(),
            "messages": outcome.ok().map(|outcome| outcome.messages),
            "bytes": outcome.ok().map(|outcome| outcome.bytes),
            "transfer_seconds": outcome.ok().map(|outcome| outcome.transfer.as_secs_f64()),
            "found": outcome.map_or_else(|failure| failure.what().to_owned(), |outcome| outcome.found.clone()),
        })
    }
}

fn table(reports: &[Report]) -> Table<6> {
    let mut table = Table::new(
        ["protocol", "section", "result", "time", "messages", "throughput"],
        [Align::Left, Align::Left, Align::Left, Align::Right, Align::Right, Align::Right],
    );
    for Report { section, outcome, taken } in reports {
        let (result, messages, speed) = match outcome {
            Ok(Outcome { messages, bytes, transfer, .. }) => {
                let speed = if *bytes > 0 { throughput(*bytes, *transfer) } else { String::new() };
                (Cell::styled(style::GOOD, "ok"), count(*messages), speed)
            }
            Err(_) => (Cell::styled(style::BAD, "FAILED"), String::new(), String::new()),
        };
        table.row([
            Cell::plain(section.protocol),
            Cell::plain(section.name),
            result,
            Cell::plain(time(*taken)),
            Cell::plain(messages),
            Cell::plain(speed),
        ]);
    }
    table
}

fn verdict(sections: usize, failed: usize, taken: Duration) -> String {
    match failed {
        0 => paint(style::GOOD, format_args!("all {sections} sections are right, in {}", time(taken))),
        _ => paint(style::BAD, format_args!("{failed} of {sections} sections failed, in {}", time(taken))),
    }
}

/// The sections of connections, where there are any.
#[cfg(target_os = "linux")]
const CONN: &[Section] = conn::SECTIONS;
#[cfg(not(target_os = "linux"))]
const CONN: &[Section] = &[];

/// How long a section may take.
const LONGEST: Duration = Duration::from_secs(60);
