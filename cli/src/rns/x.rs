//! `iolite rns x`.

use clap::Args;
use std::path::PathBuf;

use crate::{failure::Failure, interrupt::Interrupt};

/// Runs commands on another node, as `rnx` does.
#[derive(Debug, Args)]
pub(crate) struct X {
    /// The directory with the config file.
    #[arg(long, value_name = "DIR")]
    pub(crate) config: Option<PathBuf>,
}

/// Runs until the work is done or the user ends it.
pub(crate) async fn run(options: X, interrupt: Interrupt) -> Result<(), Failure> {
    let _ = (options, interrupt);
    Err(Failure::usage("this command is not there yet"))
}
