//! A child process whose output is read line by line.

use std::{
    io::{BufRead as _, BufReader, Read, Write as _},
    process::{Child, ChildStdin, Command, Stdio},
    sync::{
        Arc, Mutex,
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    thread,
    time::Duration,
};

use super::patience::PATIENCE;

/// A child process. Dropped, it is killed by its own id and reaped; a failing test shows what it said.
#[derive(Debug)]
pub(crate) struct Process {
    name: String,
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<String>,
    transcript: Arc<Mutex<String>>,
}

impl Process {
    /// Starts `command`.
    ///
    /// # Panics
    /// It cannot be started.
    pub(crate) fn start(name: &str, command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {name} ({command:?}): {error}"));
        let transcript = Arc::new(Mutex::new(String::new()));
        let (heard, lines) = channel();
        read_lines(child.stdout.take().expect("piped"), Some(heard), Arc::clone(&transcript));
        read_lines(child.stderr.take().expect("piped"), None, Arc::clone(&transcript));
        let stdin = child.stdin.take().expect("piped");
        Self { name: name.to_owned(), child, stdin, lines, transcript }
    }

    /// Writes a line to its standard input.
    ///
    /// # Panics
    /// It has ended.
    pub(crate) fn tell(&mut self, line: &str) {
        let written = writeln!(self.stdin, "{line}").and_then(|()| self.stdin.flush());
        if let Err(error) = written {
            panic!("{} takes no commands any more: {error}", self.name);
        }
    }

    /// Waits for the next line of its standard output.
    ///
    /// # Panics
    /// It says nothing for too long, or has ended.
    pub(crate) fn line(&mut self, waiting_for: &str) -> String {
        let line = self.line_within(PATIENCE, waiting_for);
        line.unwrap_or_else(|| panic!("{} did not tell of {waiting_for}", self.name))
    }

    /// Waits a while for the next line of its standard output; `None` when it says nothing.
    ///
    /// # Panics
    /// It has ended.
    pub(crate) fn line_within(&mut self, patience: Duration, waiting_for: &str) -> Option<String> {
        match self.lines.recv_timeout(patience) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                panic!("{} ended; it should have told of {waiting_for}", self.name)
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // An error means that it has ended already.
        drop(self.child.kill());
        drop(self.child.wait());
        if thread::panicking() {
            let transcript = self.transcript.lock().map_or_else(|e| e.into_inner().clone(), |t| t.clone());
            eprintln!("--- what {} said ---\n{transcript}--- end ---", self.name);
        }
    }
}

fn read_lines(
    from: impl Read + Send + 'static,
    heard: Option<Sender<String>>,
    transcript: Arc<Mutex<String>>,
) {
    thread::spawn(move || {
        for line in BufReader::new(from).lines() {
            let Ok(line) = line else { return };
            if let Ok(mut transcript) = transcript.lock() {
                transcript.extend(line.chars().take(MAX_SHOWN));
                transcript.push('\n');
            }
            // The test may have lost interest; the transcript has not.
            if let Some(heard) = &heard {
                drop(heard.send(line));
            }
        }
    });
}

/// Characters of a line that the transcript keeps; lines with payloads are long.
const MAX_SHOWN: usize = 300;
