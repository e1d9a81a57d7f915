//! The programs of a run, as far as they could be had.

use std::path::PathBuf;

use super::peer::{LEAN, Peer, Program};
use crate::compile::{Binary, Workshop};
use crate::cpp;
use crate::process::Failure;
use crate::python::{Python, Sources};

/// What takes part, built or installed.
///
/// What needs more than cargo, a C++ compiler with Boost or Python with pip, may be missing; its contenders then fail with
/// the reason in every table, instead of being left out in silence.
#[derive(Debug)]
pub(crate) struct Parts {
    workshop: Workshop,
    python: Result<Python, String>,
    missing: Vec<(Binary, String)>,
}

impl Parts {
    /// Builds and installs whatever `peers` need.
    pub(crate) fn gather(workshop: Workshop, peers: &[&Peer]) -> anyhow::Result<Self> {
        let mut binaries = vec![LEAN];
        for binary in peers.iter().filter_map(|peer| peer.program.binary()) {
            if !binaries.contains(&binary) {
                binaries.push(binary);
            }
        }
        let (in_cpp, in_rust): (Vec<_>, Vec<_>) =
            binaries.into_iter().partition(|binary| matches!(binary, Binary::Cpp(_)));
        workshop.build(in_rust)?;
        let mut missing = Vec::new();
        for binary in in_cpp {
            if let Err(why) = told("boost::beast", cpp::build(&workshop, binary)) {
                missing.push((binary, why));
            }
        }
        let python = if peers.iter().any(|peer| peer.program == Program::Python) {
            told("Python", PYTHON.install(&workshop))
        } else {
            Err("it was not asked for".to_owned())
        };
        Ok(Self { workshop, python, missing })
    }

    /// The executable of a program, and the script that it is to interpret.
    pub(crate) fn program(&self, program: Program) -> Result<(PathBuf, Option<PathBuf>), Failure> {
        let missing = |why: &String| Failure { why: format!("missing: {why}"), stalled: true };
        match program {
            Program::Built(binary) => match self.missing.iter().find(|(missing, _)| *missing == binary) {
                Some((_, why)) => Err(missing(why)),
                None => Ok((self.workshop.path(binary), None)),
            },
            Program::Python => {
                let python = self.python.as_ref().map_err(missing)?;
                Ok((python.interpreter().to_owned(), Some(python.script().to_owned())))
            }
        }
    }
}

/// Warns of what is missing.
fn told<T>(what: &str, had: anyhow::Result<T>) -> Result<T, String> {
    had.map_err(|error| {
        let why = format!("{error:#}");
        eprintln!("warning: {what} is missing: {why}");
        why
    })
}

const PYTHON: Sources =
    Sources { environment: "bench-conn", requirements: "conn/requirements.txt", script: "conn/contender.py" };
