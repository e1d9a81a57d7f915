//! Peers written in Python, in virtual environments of their own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

use crate::compile::{Workshop, workspace};

/// A script of `bench/python` and what it needs from PyPI.
#[derive(Debug)]
pub(crate) struct Sources {
    /// What the environment is called.
    pub(crate) environment: &'static str,
    pub(crate) requirements: &'static str,
    pub(crate) script: &'static str,
}

/// A script, ready to be run.
#[derive(Debug)]
pub(crate) struct Python {
    interpreter: PathBuf,
    script: PathBuf,
}

impl Sources {
    /// Installs what the requirements ask for, unless that was done before.
    pub(crate) fn install(&self, workshop: &Workshop) -> anyhow::Result<Python> {
        let sources = workspace().join("bench/python");
        let requirements = sources.join(self.requirements);
        let folder = workshop.peers_folder().join(self.environment);
        let interpreter = folder.join("bin/python");
        let (stamp, pins) = (folder.join("stamp"), read(&requirements)?);
        if fs::read_to_string(&stamp).ok().as_ref() != Some(&pins) {
            println!("installing {} into {}", pins.trim().replace('\n', ", "), folder.display());
            run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
            let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"];
            run(Command::new(&interpreter).args(pip).arg(&requirements))?;
            fs::write(&stamp, &pins).with_context(|| format!("cannot write {}", stamp.display()))?;
        }
        Ok(Python { interpreter, script: sources.join(self.script) })
    }
}

impl Python {
    pub(crate) fn interpreter(&self) -> &Path {
        &self.interpreter
    }

    pub(crate) fn script(&self) -> &Path {
        &self.script
    }
}

fn read(path: &Path) -> anyhow::Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

fn run(command: &mut Command) -> anyhow::Result<()> {
    let output = command.output().with_context(|| format!("cannot run {command:?}"))?;
    ensure!(
        output.status.success(),
        "{command:?} failed: {}\n  Remedy: install Python 3.9 or later with venv and pip (Debian: python3-venv)\n  Or \
         measure without Python, see --peers",
        String::from_utf8_lossy(&output.stderr).trim(),
    );
    Ok(())
}
