//! One run of one contender in one cell, in fresh processes.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bench_peer::announced;
use bench_peer::conn::{Command, Cost, Report, Role};

use super::cell::{Cell, Pace};
use super::identity::Identity;
use super::parts::Parts;
use super::peer::{Echo, LEAN, Peer, Program};
use crate::launch::{Placement, Side};
use crate::process::{Failure, Process};

/// What is needed to run a trial.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Trial<'a> {
    pub(crate) cell: &'a Cell,
    pub(crate) peer: &'a Peer,
    pub(crate) pace: &'a Pace,
    pub(crate) parts: &'a Parts,
    pub(crate) identity: &'a Identity,
    pub(crate) placement: Placement,
}

/// What a successful trial measured.
#[derive(Debug, Clone)]
pub(crate) struct Measurement {
    pub(crate) report: Report,
    /// Bytes of a message.
    pub(crate) size: usize,
    /// The mean cost of an answer in microseconds: of those that were measured where the peer runs in the client's process,
    /// of all where it has its own; none where nobody counts.
    pub(crate) server_cost: Option<f64>,
}

impl Measurement {
    /// The mean round trip without what the answer cost, in microseconds.
    pub(crate) fn net_latency(&self) -> Option<f64> {
        Some(self.report.mean - self.server_cost?)
    }
}

impl Trial<'_> {
    /// Runs the trial; all processes have ended when it returns.
    pub(crate) fn run(&self) -> Result<Measurement, Failure> {
        let mut lean = match self.peer.echo {
            Echo::Within => None,
            Echo::Lean => Some(self.start(Program::Built(LEAN), Role::Server, None)?),
        };
        let address =
            lean.as_mut().map(|(process, patience)| wait_for_address(process, *patience)).transpose()?;
        let (mut client, patience) = self.start(self.peer.program, Role::Client, address)?;
        let Some(line) = client.next_line(Instant::now() + patience) else {
            return Err(client.failure("client", patience));
        };
        let report: Report =
            serde_json::from_str(&line).map_err(|error| failed(format!("client: {error}")))?;
        if report.exchanges == 0 {
            return Err(failed("no echo came back".to_owned()));
        }
        let server_cost = match lean {
            None => report.server_cost,
            Some((mut process, patience)) => last_cost(&mut process, patience)?.mean(),
        };
        Ok(Measurement { report, size: self.cell.size, server_cost })
    }

    /// Starts a process; also says how long a line from it may take.
    fn start(
        &self,
        program: Program,
        role: Role,
        peer: Option<SocketAddr>,
    ) -> Result<(Process, Duration), Failure> {
        let (path, script) = self.parts.program(program)?;
        let side = if role == Role::Client { Side::Client } else { Side::Server };
        let mut process = self.placement.command(side, None, &path);
        process.args(script).args(self.command(role, peer).to_args());
        Ok((Process::start(process)?, SET_UP_TIME + self.pace.warmup + self.pace.time))
    }

    fn command(&self, role: Role, peer: Option<SocketAddr>) -> Command {
        let Cell { scheme, size, .. } = *self.cell;
        Command {
            role,
            scheme,
            size,
            mode: if role == Role::Client { self.peer.mode.to_owned() } else { String::new() },
            peer,
            identity: scheme.is_secure().then(|| self.identity.folder().to_owned()),
            warmup: self.pace.warmup,
            time: self.pace.time,
            piece: self.peer.piece,
        }
    }
}

fn wait_for_address(process: &mut Process, patience: Duration) -> Result<SocketAddr, Failure> {
    let deadline = Instant::now() + patience;
    loop {
        let line = process.next_line(deadline).ok_or_else(|| process.failure("lean peer", patience))?;
        if let Some(address) = announced(&line) {
            return Ok(address);
        }
    }
}

fn last_cost(process: &mut Process, patience: Duration) -> Result<Cost, Failure> {
    process.end_input();
    let line = process.next_line(Instant::now() + patience);
    let line = line.ok_or_else(|| process.failure("lean peer", patience))?;
    serde_json::from_str(&line).map_err(|error| failed(format!("lean peer: {error}")))
}

fn failed(why: String) -> Failure {
    Failure { why, stalled: false }
}

/// For starting an interpreter, connecting, and the last exchange.
const SET_UP_TIME: Duration = Duration::from_secs(10);
