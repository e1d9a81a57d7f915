//! One run of one peer in one cell, in fresh processes.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bench_peer::Usage;
use bench_peer::rns::{Command, Ready, Report, Role, Tally};

use super::cell::{Cell, DRIVER, Pace};
use super::peer::{Peer, Program};
use crate::compile::Workshop;
use crate::launch::{Placement, Side};
use crate::process::{Failure, Process};
use crate::python::Python;

/// What is needed to run a trial.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Trial<'a> {
    pub(crate) cell: &'a Cell,
    pub(crate) peer: &'a Peer,
    pub(crate) pace: &'a Pace,
    pub(crate) workshop: &'a Workshop,
    pub(crate) python: Option<&'a Python>,
    pub(crate) placement: Placement,
}

/// What a successful trial measured: everything that was begun was settled, and was seen at the other end.
#[derive(Debug, Clone)]
pub(crate) struct Measurement {
    pub(crate) report: Report,
    /// What each of the two roles took.
    pub(crate) usage: [Usage; 2],
}

impl Trial<'_> {
    /// Runs the trial; all processes have ended when it returns.
    pub(crate) fn run(&self) -> Result<Measurement, Failure> {
        let [near, far] = if self.cell.is_relayed() {
            [Role::Driver, Role::Relay]
        } else {
            [Role::Initiator, Role::Responder]
        };
        let [near_name, far_name] = self.cell.roles();
        let anywhere = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut other = self.start(Side::Server, self.command(far, anywhere, String::new(), 0))?;
        let deadline = Instant::now() + START_TIME;
        let ready = loop {
            let line = other.next_line(deadline).ok_or_else(|| other.failure(far_name, START_TIME))?;
            if let Some(ready) = Ready::parse(&line) {
                break ready;
            }
        };
        let command = self.command(near, ready.address, ready.destination, other.id());
        let mut first = self.start(Side::Client, command)?;
        let patience = SET_UP_TIME + self.pace.warmup + self.pace.time;
        let Some(line) = first.next_line(Instant::now() + patience) else {
            let (culprit, name) =
                if other.has_ended() { (&mut other, far_name) } else { (&mut first, near_name) };
            return Err(culprit.failure(name, patience));
        };
        let report: Report =
            serde_json::from_str(&line).map_err(|error| failed(format!("{near_name}: {error}")))?;
        if report.settled != report.begun || report.operations == 0 {
            let (settled, begun) = (report.settled.count, report.begun.count);
            return Err(failed(format!("{settled} of {begun} operations were settled")));
        }
        if far == Role::Responder {
            check_testimony(&mut other, &report.settled)?;
        }
        match (report.own, report.partner) {
            (Some(own), Some(partner)) => Ok(Measurement { report, usage: [own, partner] }),
            _ => Err(failed("no usage of the processes in /proc".to_owned())),
        }
    }

    fn command(&self, role: Role, address: SocketAddr, destination: String, partner: u32) -> Command {
        let (warmup, time) = (self.pace.warmup, self.pace.time);
        Command { role, address, work: self.cell.work.clone(), destination, partner, warmup, time }
    }

    fn start(&self, side: Side, command: Command) -> Result<Process, Failure> {
        let program = if side == Side::Client { self.peer.initiator } else { self.peer.responder };
        let (path, script) = match command.role {
            Role::Driver => (self.workshop.path(DRIVER), None),
            Role::Initiator | Role::Responder | Role::Relay => self.program(program),
        };
        let mut process = self.placement.command(side, None, &path);
        process.args(script).args(command.to_args());
        if program == Program::Prns {
            process.env("PRNS_CRYPTO_POOL", "0");
        }
        Process::start(process)
    }

    /// The executable of a program, and the script that it is to interpret.
    fn program(&self, program: Program) -> (PathBuf, Option<&Path>) {
        match (program.binary(), self.python) {
            (Some(binary), _) => (self.workshop.path(binary), None),
            (None, Some(python)) => (python.interpreter().to_owned(), Some(python.script())),
            (None, None) => (PathBuf::from("python3"), None),
        }
    }
}

/// Asks a responder what it received, and compares.
fn check_testimony(responder: &mut Process, settled: &Tally) -> Result<(), Failure> {
    responder.end_input();
    let line = responder.next_line(Instant::now() + START_TIME);
    let line = line.ok_or_else(|| responder.failure("responder", START_TIME))?;
    let seen: Tally = serde_json::from_str(&line).map_err(|error| failed(format!("responder: {error}")))?;
    if seen == *settled {
        return Ok(());
    }
    Err(failed(format!("{} operations were settled, but the responder saw {}", settled.count, seen.count)))
}

fn failed(why: String) -> Failure {
    Failure { why, stalled: false }
}

const START_TIME: Duration = Duration::from_secs(20);
/// For finding each other and connecting, and for the last operations.
const SET_UP_TIME: Duration = Duration::from_secs(40);
