//! The report that is kept with the documentation.

use std::{collections::BTreeMap, fmt::Write as _};

use super::{Role, Verdicts};

/// Writes what Autobahn thinks of both roles as Markdown. `date` is when, and `command` how it was run.
///
/// # Panics
/// Never: text takes what is written.
pub fn report(results: &[(Role, Verdicts)], date: &str, command: &str) -> String {
    let mut text = format!(
        "# Autobahn\n\n\
         What Autobahn's test suite for WebSocket (PyPI `autobahntestsuite` 25.10.1, under Python 2.7) thinks of \
         `proto-conn`, driven by `runtime-blocking`, on {date}. The command, which also writes this file:\n\n\
         ```sh\n{command}\n```\n\n\
         The tests that are always run leave most cases of the groups 12 and 13 out, because they take minutes.\n"
    );
    for (role, verdicts) in results {
        write!(text, "\n## Our {role}: {} cases\n\n", verdicts.len()).expect("room for text");
        text += "| group | what | cases | OK | non-strict | informational | failed |\n";
        text += "|---|---|--:|--:|--:|--:|--:|\n";
        for (group, tally) in tallies(verdicts) {
            writeln!(text, "| {group} | {} | {tally} |", title(group)).expect("room for text");
        }
        text += &remarks(verdicts);
    }
    text
}

/// Counts by verdict.
#[derive(Default)]
struct Tally {
    ok: usize,
    non_strict: usize,
    informational: usize,
    failed: usize,
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { ok, non_strict, informational, failed } = self;
        let all = ok + non_strict + informational + failed;
        write!(f, "{all} | {ok} | {non_strict} | {informational} | {failed}")
    }
}

fn tallies(verdicts: &Verdicts) -> BTreeMap<u32, Tally> {
    let mut tallies: BTreeMap<u32, Tally> = BTreeMap::new();
    for (id, verdict) in verdicts.iter() {
        let tally = tallies.entry(group(id)).or_default();
        *match verdict.behavior.as_str() {
            _ if !verdict.is_passed() => &mut tally.failed,
            "NON-STRICT" => &mut tally.non_strict,
            "INFORMATIONAL" => &mut tally.informational,
            _ => &mut tally.ok,
        } += 1;
    }
    tallies
}

/// Names the cases that are not simply passed.
fn remarks(verdicts: &Verdicts) -> String {
    let mut remarks: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for (id, verdict) in verdicts.iter() {
        let told = (verdict.behavior.as_str(), verdict.close.as_str());
        if told != ("OK", "OK") {
            remarks.entry(told).or_default().push(id);
        }
    }
    let lines = remarks
        .into_iter()
        .map(|((behavior, close), ids)| format!("- {behavior}, closed {close}: {}\n", ids.join(", ")));
    format!("\nNot OK in every respect:\n\n{}", lines.collect::<String>())
}

fn group(id: &str) -> u32 {
    id.split('.').next().and_then(|group| group.parse().ok()).expect("a number")
}

const fn title(group: u32) -> &'static str {
    match group {
        1 => "framing",
        2 => "pings and pongs",
        3 => "reserved bits",
        4 => "opcodes",
        5 => "fragmentation",
        6 => "UTF-8",
        7 => "closing",
        9 => "limits and performance",
        10 => "automatic fragmentation",
        12 => "compression of different payloads",
        13 => "compression with different parameters",
        _ => "others",
    }
}
