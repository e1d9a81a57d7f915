//! A piece of the demo.

use std::{pin::Pin, time::Duration};

use crate::{failure::Failure, output::progress::Progress};

/// One thing that is shown and checked.
#[derive(Debug)]
pub(super) struct Section {
    /// Whose feature it is.
    pub(super) protocol: &'static str,
    /// What it shows.
    pub(super) name: &'static str,
    /// Shows it; a failure says what was not right.
    pub(super) run: fn(Stage) -> Run,
}

/// A section under way.
pub(super) type Run = Pin<Box<dyn Future<Output = Result<Outcome, Failure>> + Send>>;

/// What a section has to work with.
#[derive(Debug)]
pub(super) struct Stage {
    /// Less data.
    pub(super) quick: bool,
    /// Where it shows how far it is.
    pub(super) progress: Progress,
}

/// What a section found when all was right.
#[derive(Clone, Debug, Default)]
pub(super) struct Outcome {
    /// In words.
    pub(super) found: String,
    /// Messages that arrived and were compared.
    pub(super) messages: u64,
    /// Bytes of them.
    pub(super) bytes: u64,
    /// How long they were under way, without setting up and taking down.
    pub(super) transfer: Duration,
}

impl Stage {
    /// Returns `count`, or a tenth of it where less data is wanted.
    pub(super) fn amount(&self, count: u32) -> u32 {
        if self.quick { (count / 10).max(1) } else { count }
    }
}

/// Fails unless `holds`.
pub(super) fn check(holds: bool, what: impl FnOnce() -> String) -> Result<(), Failure> {
    if holds { Ok(()) } else { Err(Failure::check(what())) }
}
