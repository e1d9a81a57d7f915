//! The processes of a trial.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::interrupt;

/// Why a trial measured nothing.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    pub(crate) why: String,
    /// Whether the peer hung, so that another try would only hang again.
    pub(crate) stalled: bool,
}

/// A child process whose output is gathered; it is ended when dropped.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    lines: Receiver<String>,
    errors: Option<JoinHandle<String>>,
}

impl Process {
    /// Starts a command.
    pub(crate) fn start(mut command: Command) -> Result<Self, Failure> {
        let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = spawned
            .map_err(|error| Failure { why: format!("cannot be started: {error}"), stalled: false })?;
        let (sender, lines) = mpsc::channel();
        if let Some(stdout) = child.stdout.take() {
            thread::spawn(move || {
                // Ends with the process, or when nobody listens any more.
                BufReader::new(stdout).lines().map_while(Result::ok).all(|line| sender.send(line).is_ok())
            });
        }
        let errors = child.stderr.take().map(|mut stderr| {
            thread::spawn(move || {
                let mut text = Vec::new();
                // What was read until an error is all there is to show.
                let _ = stderr.read_to_end(&mut text);
                String::from_utf8_lossy(&text).into_owned()
            })
        });
        Ok(Self { child, lines, errors })
    }

    /// Its number.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Ends its input.
    pub(crate) fn end_input(&mut self) {
        drop(self.child.stdin.take());
    }

    /// The next line of output; `None` at its end, at the deadline or when the benchmark is interrupted.
    pub(crate) fn next_line(&mut self, deadline: Instant) -> Option<String> {
        loop {
            let patience = deadline.saturating_duration_since(Instant::now()).min(INTERRUPT_CHECK);
            match self.lines.recv_timeout(patience) {
                Ok(line) => return Some(line),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) if interrupt::check().is_err() => return None,
                Err(RecvTimeoutError::Timeout) if Instant::now() >= deadline => return None,
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Whether the process is gone or about to go: its output is closed.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().is_ok_and(|status| status.is_some())
    }

    /// Ends the process and says what went wrong with it.
    pub(crate) fn failure(&mut self, role: &str, patience: Duration) -> Failure {
        // A process whose output just ended is given the time to exit by itself.
        let stalled = !(0..20).any(|_| {
            let ended = self.has_ended();
            if !ended {
                thread::sleep(Duration::from_millis(5));
            }
            ended
        });
        self.end();
        let errors = self.errors.take().and_then(|errors| errors.join().ok()).unwrap_or_default();
        let why = if stalled {
            format!("{role} stalled: nothing within {} s", patience.as_secs())
        } else {
            format!("{role}: {}", last_words(&errors))
        };
        Failure { why, stalled }
    }

    fn end(&mut self) {
        // Both fail only for a process that has already ended and been waited for.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

/// The line of a program's error output that says most.
fn last_words(errors: &str) -> &str {
    let mut lines = errors.lines().filter(|line| !line.trim().is_empty() && !line.starts_with("note:"));
    lines.next_back().unwrap_or("ended without a word").trim()
}

const INTERRUPT_CHECK: Duration = Duration::from_millis(100);

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Process {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Process::start(command).unwrap()
    }

    #[test]
    fn a_process_that_fails_is_quoted_with_its_last_line_of_error() {
        let mut process = shell("echo started; echo first >&2; echo 'the reason' >&2; exit 1");
        let deadline = Instant::now() + Duration::from_secs(5);
        assert_eq!(process.next_line(deadline).as_deref(), Some("started"));
        assert_eq!(process.next_line(deadline), None);
        let failure = process.failure("client", Duration::from_secs(5));
        assert_eq!((failure.why.as_str(), failure.stalled), ("client: the reason", false));
    }

    #[test]
    fn a_process_that_says_nothing_is_ended_and_reported_as_stalled() {
        let mut process = shell("exec sleep 60");
        assert_eq!(process.next_line(Instant::now() + Duration::from_millis(50)), None);
        let failure = process.failure("server", Duration::from_secs(7));
        assert_eq!(failure.why, "server stalled: nothing within 7 s");
        assert!(failure.stalled && process.has_ended());
    }
}
