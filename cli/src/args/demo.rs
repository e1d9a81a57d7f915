//! `iolite demo`.

use clap::Args;

/// Runs every feature between real sockets on the loopback interface, checks the contents of everything that
/// arrives, and ends with a summary. The exit code is 0 only if all is right.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Demo {
    /// Do the same with less data.
    #[arg(long)]
    pub(crate) quick: bool,

    /// Print the results as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}
