//! Running the `iolite` binary as its users do.

#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "the helpers of a test fail it by panicking and wait for real processes; not every test uses all"
)]

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};

/// What a finished command left.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Finished {
    /// Parses every line of standard output as JSON.
    pub(crate) fn json_lines(&self) -> Vec<serde_json::Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
    }
}

/// Runs `iolite` to its end.
pub(crate) fn iolite(arguments: &[&str]) -> Finished {
    iolite_with_input(arguments, b"")
}

/// Runs `iolite` to its end with something on standard input.
pub(crate) fn iolite_with_input(arguments: &[&str], input: &[u8]) -> Finished {
    let mut child = start(arguments);
    feed(child.stdin.take().unwrap(), input.to_vec());
    let id = child.id();
    let (tell, done) = channel();
    thread::spawn(move || tell.send(child.wait_with_output()));
    let Ok(output) = done.recv_timeout(LONGEST) else {
        signal("-KILL", id);
        panic!("iolite {arguments:?} did not end within {LONGEST:?}");
    };
    let Output { status, stdout, stderr } = output.unwrap();
    Finished {
        code: status.code(),
        stdout: String::from_utf8(stdout).unwrap(),
        stderr: String::from_utf8(stderr).unwrap(),
    }
}

/// An `iolite` that goes on until it is told to end. Dropped, it is killed.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    lines: Receiver<String>,
    seen: Vec<String>,
}

impl Running {
    /// Starts it.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let mut child = start(arguments);
        let lines = lines_of(child.stdout.take().unwrap());
        Self { child, lines, seen: Vec::new() }
    }

    /// Waits for a JSON line with this event.
    pub(crate) fn event(&mut self, name: &str) -> serde_json::Value {
        let end = Instant::now() + LONGEST;
        while let Ok(line) = self.lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
            let event: serde_json::Value = serde_json::from_str(&line).expect(&line);
            self.seen.push(line);
            if event["event"] == name {
                return event;
            }
        }
        panic!("no event {name:?} came, only {:?}", self.seen);
    }

    /// Waits for a line.
    pub(crate) fn line(&self) -> String {
        self.lines.recv_timeout(LONGEST).expect("no line came")
    }

    /// Waits until it listens and returns where.
    pub(crate) fn address(&mut self) -> String {
        self.event("listening")["address"].as_str().unwrap().to_owned()
    }

    /// Presses Ctrl-C and returns the exit code.
    pub(crate) fn interrupt(mut self) -> Option<i32> {
        signal("-INT", self.child.id());
        let end = Instant::now() + LONGEST;
        while Instant::now() < end {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            thread::sleep(Duration::from_millis(20));
        }
        panic!("still running {LONGEST:?} after Ctrl-C");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn start(arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_iolite"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn feed(mut stdin: ChildStdin, input: Vec<u8>) {
    // The child may end without having read everything.
    thread::spawn(move || stdin.write_all(&input));
}

fn lines_of(stdout: ChildStdout) -> Receiver<String> {
    let (tell, lines) = channel();
    thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if tell.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

fn signal(name: &str, process: u32) {
    Command::new("kill").args([name, &process.to_string()]).status().unwrap();
}

const LONGEST: Duration = Duration::from_secs(60);
