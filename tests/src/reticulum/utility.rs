//! The command-line programs of the reference, and ours of the same kind.

use serde_json::Value;
use std::{ffi::OsStr, path::Path, process::Command};

use super::installed;
use crate::peers::{Output, patience::PATIENCE, process::Process};

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
        Output::of(&mut command, PATIENCE)
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
