//! The reference's packages, from the same place as all foreign peers.

use std::process::Command;

use crate::peers::{Implementation, install};

/// Says, and prints, whether the tests with the reference are to be left out (`IOLITE_SKIP_PEERS`).
pub fn is_skipped() -> bool {
    REFERENCE.is_skipped()
}

/// Returns the command that runs a script of `tests/peers/python`.
pub(super) fn script(name: &str) -> Command {
    REFERENCE.had(install::python_script(name))
}

/// Returns the command that runs one of the reference's own programs.
pub(super) fn tool(name: &str) -> Command {
    REFERENCE.had(install::python_tool(name))
}

/// Returns the command that runs our binary.
pub(super) fn iolite() -> Command {
    Command::new(install::workspace_binary("cli", "iolite").unwrap_or_else(|error| panic!("{error}")))
}

const REFERENCE: Implementation = Implementation::PythonReticulum;
