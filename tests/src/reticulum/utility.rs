//! The command-line programs of the reference, and ours of the same kind.

use serde_json::Value;
use std::{
    ffi::OsStr,
    io::Read,
    path::Path,
    process::{Child, Command, Stdio},
    thread::{self, JoinHandle},
    time::Duration,
};

use super::installed;
use crate::peers::{
    patience::{PATIENCE, now, pause},
    process::Process,
};

/// Who made a command-line program. Both take the same arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Maker {
    /// PyPI `rns`.
    Reference,
    /// This workspace: `iolite rns`.
    Iolite,
}

/// A kind of command-line program, named as the reference's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Utility {
    /// `rnstatus`: the state of an instance's interfaces.
    Status,
    /// `rnpath`: an instance's paths.
    Path,
    /// `rnprobe`: whether a destination proves packets.
    Probe,
    /// `rncp`: files.
    Copy,
    /// `rnx`: commands.
    Execute,
    /// `rnid`: identities.
    Identity,
}

/// What a program said before it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Its exit code, if it was not killed.
    pub code: Option<i32>,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

/// A program that runs until it is dropped, such as a listener.
#[derive(Debug)]
pub struct RunningUtility {
    process: Process,
}

impl Utility {
    /// Runs it on the configuration in `folder` to its end.
    ///
    /// # Panics
    /// It cannot be had, or does not end in time.
    pub fn run(self, folder: &Path, args: &[&str]) -> Output {
        self.run_by(Maker::Reference, folder, args)
    }

    /// Runs the program of `maker` on the configuration in `folder` to its end.
    ///
    /// # Panics
    /// It cannot be had, or does not end in time.
    pub fn run_by(self, maker: Maker, folder: &Path, args: &[&str]) -> Output {
        let mut command = self.command(maker, folder, args);
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
        let stdout = read_all(child.stdout.take().expect("piped"));
        let stderr = read_all(child.stderr.take().expect("piped"));
        let code = wait(&mut child);
        let [stdout, stderr] = [stdout, stderr].map(|reader| reader.join().expect("a reader"));
        let output = Output { code: code.flatten(), stdout, stderr };
        assert!(code.is_some(), "{command:?} did not end; it said {output:#?}");
        output
    }

    /// Runs it, and reads its output as JSON.
    ///
    /// # Panics
    /// It fails, or says something else.
    pub fn run_json(self, folder: &Path, args: &[&str]) -> Value {
        let output = self.run(folder, args);
        serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error} in {output:#?}"))
    }

    /// Starts it.
    ///
    /// # Panics
    /// It cannot be had.
    pub fn start(self, folder: &Path, args: &[&str]) -> RunningUtility {
        self.start_by(Maker::Reference, folder, args)
    }

    /// Starts the program of `maker`.
    ///
    /// # Panics
    /// It cannot be had.
    pub fn start_by(self, maker: Maker, folder: &Path, args: &[&str]) -> RunningUtility {
        let mut command = self.command(maker, folder, args);
        RunningUtility { process: Process::start(self.program(), &mut command) }
    }

    /// Returns what it is called.
    pub const fn program(self) -> &'static str {
        match self {
            Self::Status => "rnstatus",
            Self::Path => "rnpath",
            Self::Probe => "rnprobe",
            Self::Copy => "rncp",
            Self::Execute => "rnx",
            Self::Identity => "rnid",
        }
    }

    /// Returns what the program of ours is called.
    const fn subcommand(self) -> &'static str {
        match self {
            Self::Status => "status",
            Self::Path => "path",
            Self::Probe => "probe",
            Self::Copy => "cp",
            Self::Execute => "x",
            Self::Identity => "id",
        }
    }

    fn command(self, maker: Maker, folder: &Path, args: &[&str]) -> Command {
        let mut command = match maker {
            Maker::Reference => installed::tool(self.program()),
            Maker::Iolite => {
                let mut command = installed::iolite();
                command.args(["rns", self.subcommand()]);
                command
            }
        };
        command.arg("--config").arg(folder).args(args.iter().map(OsStr::new));
        // Otherwise it would read, and leave, files in the user's home.
        command.env("HOME", folder).env("PYTHONUNBUFFERED", "1").current_dir(folder);
        command
    }
}

impl Output {
    /// Checks that the program succeeded.
    ///
    /// # Panics
    /// It did not.
    pub fn succeeded(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:#?}");
        self
    }
}

impl RunningUtility {
    /// Waits for a line with `text` in it, and returns that.
    ///
    /// # Panics
    /// None comes, or the program ends.
    pub fn says(&mut self, text: &str) -> String {
        loop {
            let line = self.process.line(text);
            if line.contains(text) {
                return line;
            }
        }
    }
}

/// Waits for the end of a program, which is killed when it takes too long.
fn wait(child: &mut Child) -> Option<Option<i32>> {
    let deadline = now() + PATIENCE;
    while now() < deadline {
        if let Some(status) = child.try_wait().expect("a child") {
            return Some(status.code());
        }
        pause(Duration::from_millis(10));
    }
    // An error means that it has ended after all.
    drop(child.kill());
    drop(child.wait());
    None
}

fn read_all(mut from: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read before an error is worth showing.
        drop(from.read_to_end(&mut bytes));
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
