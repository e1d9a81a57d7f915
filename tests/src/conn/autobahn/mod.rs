//! Autobahn's test suite for WebSocket, against both of our roles.
//!
//! ```text
//! client: our testee --ws--> wstest -m fuzzingserver      one connection for each case
//! server: our Echo   <--ws-- wstest -m fuzzingclient
//! ```
//!
//! It needs Python 2.7. Where there is none, nothing is run, which is said on standard error even if the tests' output
//! is captured; `ws_cases` in `proto-conn` has a table of cases of our own, which needs nothing.

mod report;
mod selection;
mod testee;
mod verdict;

pub use report::report;
pub use selection::Selection;
pub use verdict::{Verdict, Verdicts};

use serde_json::json;
use std::{
    fmt,
    io::{self, Write as _},
    path::Path,
    process::Command,
    time::Duration,
};

use super::{Echo, installed, ports};
use crate::peers::{Output, Scratch, process::Process};

/// Which side of ours is tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// [`Connection`](runtime_blocking::conn::Connection).
    Client,
    /// [`Server`](runtime_blocking::conn::Server).
    Server,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Client => "client",
            Self::Server => "server",
        })
    }
}

/// Has one of our roles pass cases, and returns what Autobahn thinks of each; `None` where it cannot run.
///
/// # Panics
/// It does not run to the end.
pub fn run(role: Role, selection: Selection) -> Option<Verdicts> {
    if installed::is_skipped("autobahn") {
        return None;
    }
    let Some(command) = installed::autobahn() else {
        say_that_there_is_none(role);
        return None;
    };
    let folder = Scratch::new();
    match role {
        Role::Client => try_client(command, selection, folder.path()),
        Role::Server => try_server(command, selection, folder.path()),
    }
    let verdicts = Verdicts::read(&folder.path().join("index.json"));
    let (judged, expected) = (verdicts.len(), selection.len());
    assert_eq!(judged, expected, "cases that were judged, and cases that were selected");
    Some(verdicts)
}

fn try_client(mut command: Command, selection: Selection, folder: &Path) {
    let url = format!("ws://127.0.0.1:{}", ports::free());
    let mut spec = selection.spec(folder);
    spec["url"] = json!(url);
    wstest(&mut command, "fuzzingserver", folder, &spec);
    let _suite = Process::start("wstest", &mut command);
    let port = url.rsplit(':').next().and_then(|port| port.parse().ok()).expect("the port is its end");
    ports::until_served(port);
    testee::run_all(&url);
}

fn try_server(mut command: Command, selection: Selection, folder: &Path) {
    let echo = Echo::start(None);
    let mut spec = selection.spec(folder);
    let url = format!("ws://127.0.0.1:{}", echo.port());
    spec["servers"] = json!([{"agent": AGENT, "url": url}]);
    wstest(&mut command, "fuzzingclient", folder, &spec);
    Output::of(&mut command, LONGEST_RUN).succeeded();
}

fn wstest(command: &mut Command, mode: &str, folder: &Path, spec: &serde_json::Value) {
    let path = folder.join("spec.json");
    std::fs::write(&path, spec.to_string()).expect("a writable folder");
    // Without its web server, whose port would be a fixed one.
    command.args(["-m", mode, "-u", "0", "-s"]).arg(path).current_dir(folder);
}

/// Tests capture what is printed, but not what is written.
fn say_that_there_is_none(role: Role) {
    let line = format!(
        "\nNOT RUN: Autobahn's cases for our WebSocket {role}, because there is no Python 2.7 \
         (pyenv install 2.7.18); only the table of our own in proto-conn/tests/ws_cases.rs is tested.\n"
    );
    // There is nobody else to tell.
    drop(io::stderr().write_all(line.as_bytes()));
}

/// What we are called in reports.
const AGENT: &str = "iolite";

/// All cases, on a slow machine that is busy.
const LONGEST_RUN: Duration = Duration::from_secs(1_800);
