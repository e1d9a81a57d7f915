//! How a peer's process is started: in which network, on which processor, at which priority.

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

/// The side of a trial, which decides on the processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Client,
    Server,
}

/// Where processes run and how they are scheduled.
///
/// All of it is done by small programs that end in `exec`, so the process started is the peer itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placement {
    pinned: bool,
    realtime: bool,
}

impl Placement {
    /// Finds out what this machine and user allow, if pinning is `wanted`.
    pub(crate) fn probe(wanted: bool) -> Self {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        Self {
            pinned: wanted && processors >= 2 && succeeds(&["taskset", "-c", "1", "true"]),
            realtime: wanted && succeeds(&["chrt", "-f", PRIORITY, "true"]),
        }
    }

    /// A sentence about how processes are placed.
    pub(crate) fn describe(self) -> &'static str {
        match (self.pinned, self.realtime) {
            (true, true) => "client on CPU 0, server on CPU 1, both under SCHED_FIFO",
            (true, false) => "client on CPU 0, server on CPU 1, ordinary priority",
            (false, true) => "not pinned, both under SCHED_FIFO",
            (false, false) => "not pinned, ordinary priority",
        }
    }

    /// The command that runs `program` in the given namespace, if any.
    pub(crate) fn command(self, side: Side, namespace: Option<&str>, program: &Path) -> Command {
        let mut words: Vec<&str> = Vec::new();
        if let Some(namespace) = namespace {
            words.extend(["ip", "netns", "exec", namespace]);
        }
        if self.pinned {
            words.extend(["taskset", "-c", if side == Side::Client { "0" } else { "1" }]);
        }
        if self.realtime {
            words.extend(["chrt", "-f", PRIORITY]);
        }
        match words.split_first() {
            Some((first, rest)) => {
                let mut command = Command::new(first);
                command.args(rest).arg(program);
                command
            }
            None => Command::new(program),
        }
    }
}

/// Whether a command can be run and succeeds.
pub(crate) fn succeeds(words: &[&str]) -> bool {
    let Some((program, args)) = words.split_first() else { return false };
    let status = Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

const PRIORITY: &str = "50";
