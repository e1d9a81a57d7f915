//! `iolite rns cp`.

use clap::Args;
use std::path::PathBuf;

use crate::{failure::Failure, interrupt::Interrupt};

/// Copies files between two nodes, as `rncp` does.
#[derive(Debug, Args)]
pub(crate) struct Cp {
    /// The directory with the config file.
    #[arg(long, value_name = "DIR")]
    pub(crate) config: Option<PathBuf>,
}

/// Runs until the work is done or the user ends it.
pub(crate) async fn run(options: Cp, interrupt: Interrupt) -> Result<(), Failure> {
    let _ = (options, interrupt);
    Err(Failure::usage("this command is not there yet"))
}
