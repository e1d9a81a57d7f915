//! One run of one peer in one cell: a fresh server and a fresh client.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use bench_peer::{Load, Report, Usage, announced};

use crate::launch::{Placement, Side};
use crate::process::{Failure, Process};

/// What is needed to run a trial.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Trial<'a> {
    pub(crate) program: &'a Path,
    pub(crate) mode: Option<&'a str>,
    pub(crate) load: &'a Load,
    pub(crate) namespace: Option<&'a str>,
    pub(crate) placement: Placement,
}

/// What a successful trial measured.
#[derive(Debug, Clone)]
pub(crate) struct Measurement {
    pub(crate) client: Report,
    pub(crate) server: Usage,
}

impl Trial<'_> {
    /// Runs the trial; both processes have ended when it returns.
    pub(crate) fn run(&self) -> Result<Measurement, Failure> {
        let mut server = self.start(Side::Server, "127.0.0.1:0")?;
        let deadline = Instant::now() + START_TIME;
        let address = loop {
            let line = server.next_line(deadline).ok_or_else(|| server.failure("server", START_TIME))?;
            if let Some(address) = announced(&line) {
                break address;
            }
        };
        let mut client = self.start(Side::Client, &address.to_string())?;
        let patience = SET_UP_TIME + self.load.time_limit;
        let deadline = Instant::now() + patience;
        while let Some(line) = client.next_line(deadline) {
            let Ok(report) = Report::parse(&line) else { continue };
            // Read while the server is alive: a zombie has no memory to tell about.
            let usage = Usage::of_process(server.id());
            return match usage {
                Some(server) if report.echoes > 0 => Ok(Measurement { client: report, server }),
                Some(_) => Err(Failure { why: "no echo came back".to_owned(), stalled: true }),
                None => Err(server.failure("server", patience)),
            };
        }
        if server.has_ended() {
            return Err(server.failure("server", patience));
        }
        Err(client.failure("client", patience))
    }

    fn start(&self, side: Side, address: &str) -> Result<Process, Failure> {
        let mut command = self.placement.command(side, self.namespace, self.program);
        match side {
            Side::Client => command.args(["client", "--connect", address]),
            Side::Server => command.args(["server", "--listen", address]),
        };
        if let Some(mode) = self.mode {
            command.args(["--mode", mode]);
        }
        append_load(&mut command, self.load);
        Process::start(command)
    }
}

fn append_load(command: &mut Command, load: &Load) {
    let mut option = |name: &str, value: u128| {
        command.arg(name).arg(value.to_string());
    };
    option("--size", load.size as u128);
    option("--conns", load.connections.into());
    option("--inflight", load.window.into());
    option("--count", load.count.into());
    option("--warmup", load.warmup.into());
    option("--time-limit-ms", load.time_limit.as_millis());
    if load.latency {
        command.arg("--load-latency");
    }
}

const START_TIME: Duration = Duration::from_secs(10);
/// For connecting and warming up.
const SET_UP_TIME: Duration = Duration::from_secs(30);
