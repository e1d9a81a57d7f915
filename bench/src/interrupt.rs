//! Ctrl-C ends a run in order: processes are ended and namespaces removed on the way out.

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, ensure};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C, a hang-up and a request to terminate only set a flag.
pub(crate) fn install() -> anyhow::Result<()> {
    ctrlc::set_handler(|| INTERRUPTED.store(true, Ordering::Relaxed)).context("cannot watch for Ctrl-C")
}

/// Fails once the run was interrupted.
pub(crate) fn check() -> anyhow::Result<()> {
    ensure!(!INTERRUPTED.load(Ordering::Relaxed), "interrupted; finished cells are kept");
    Ok(())
}
