//! Our daemon, `iolite rns daemon`, as a running program.

use std::path::Path;

use super::{Config, Scratch, installed};
use crate::peers::process::Process;

/// A running daemon. Dropped, it is killed; a failing test shows what it said.
#[derive(Debug)]
pub struct Daemon {
    _process: Process,
    folder: Scratch,
}

impl Daemon {
    /// Starts a daemon, and waits until it serves.
    ///
    /// # Panics
    /// It cannot be had or does not start.
    pub fn start(config: &Config) -> Self {
        let folder = Scratch::new();
        config.write(folder.path());
        let mut command = installed::iolite();
        command.args(["rns", "daemon", "--json", "--config"]).arg(folder.path()).env("HOME", folder.path());
        let mut process = Process::start("iolite", &mut command);
        while !process.line("the start of the daemon").contains("\"started\"") {}
        Self { _process: process, folder }
    }

    /// Returns the folder with its configuration and its storage.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}
