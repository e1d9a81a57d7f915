//! How a peer's process is started: in which network, on which processor, at which priority.

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use anyhow::ensure;

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
    processors: Processors,
    realtime: bool,
}

/// Which processors the two sides run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Processors {
    /// Those that the scheduler chooses.
    Any,
    /// One for each side.
    Two,
    /// The first one, for both.
    One,
}

impl Placement {
    /// Finds out what this machine and user allow, if a processor for each side is `wanted`.
    pub(crate) fn probe(wanted: bool) -> Self {
        let two = wanted
            && thread::available_parallelism().is_ok_and(|processors| processors.get() >= 2)
            && succeeds(&["taskset", "-c", "1", "true"]);
        Self {
            processors: if two { Processors::Two } else { Processors::Any },
            realtime: wanted && has_realtime(),
        }
    }

    /// Both sides on one processor, if that is `wanted`: no wake-up has to reach another one, which may sleep.
    pub(crate) fn together(wanted: bool) -> anyhow::Result<Self> {
        ensure!(
            !wanted || succeeds(&["taskset", "-c", "0", "true"]),
            "taskset can not pin processes to CPU 0\n  Remedy: apt-get install -y util-linux, or measure without --pin"
        );
        Ok(Self {
            processors: if wanted { Processors::One } else { Processors::Any },
            realtime: wanted && has_realtime(),
        })
    }

    /// A sentence about how processes are placed.
    pub(crate) fn describe(self) -> String {
        let place = match self.processors {
            Processors::Any => "not pinned",
            Processors::Two => "client on CPU 0, server on CPU 1",
            Processors::One => TOGETHER,
        };
        let priority = if self.realtime { "under SCHED_FIFO" } else { "ordinary priority" };
        format!("{place}, {priority}")
    }

    /// The command that runs `program` in the given namespace, if any.
    pub(crate) fn command(self, side: Side, namespace: Option<&str>, program: &Path) -> Command {
        let mut words: Vec<&str> = Vec::new();
        if let Some(namespace) = namespace {
            words.extend(["ip", "netns", "exec", namespace]);
        }
        match (self.processors, side) {
            (Processors::Any, _) => {}
            (Processors::One, _) | (Processors::Two, Side::Client) => words.extend(["taskset", "-c", "0"]),
            (Processors::Two, Side::Server) => words.extend(["taskset", "-c", "1"]),
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

fn has_realtime() -> bool {
    succeeds(&["chrt", "-f", PRIORITY, "true"])
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

/// How the description of [`Placement::together`] begins.
pub(crate) const TOGETHER: &str = "client and server on CPU 0";

const PRIORITY: &str = "50";
