//! `iolite rns x`: commands on other nodes, compatible with `rnx` both ways (spec 1.20).
//!
//! A command is a request on a link, its result the response. Commands run without a shell.

mod execute;
mod listen;
mod process;
mod protocol;
mod show;

use clap::Args;
use proto_rns::{DestinationHash, IdentityHash};
use std::{path::PathBuf, time::Duration};

use super::{
    attach::directory,
    own_identity::{own_identity, print_identity},
    values::hash,
};
use crate::{args::values, failure::Failure, interrupt::Interrupt, output::progress::Progress};

/// Runs commands on another node, as rnx does: COMMAND on DESTINATION, or with -l those that others send. Commands run
/// without a shell; write `sh -c '...'` where one is needed.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct X {
    /// The other node: the hash that its listener prints.
    #[arg(value_parser = hash::<DestinationHash>, required_unless_present_any = ["listen", "print_identity"], conflicts_with = "listen")]
    destination: Option<DestinationHash>,

    /// The command and its arguments, as one text.
    #[arg(required_unless_present_any = ["listen", "print_identity", "interactive"], conflicts_with = "listen")]
    command: Option<String>,

    /// The directory with the config file.
    #[arg(long, value_name = "DIR")]
    config: Option<PathBuf>,

    /// Run the commands that others send.
    #[arg(short, long)]
    listen: bool,

    /// Read commands from standard input, one a line, until `exit`.
    #[arg(short = 'x', long, conflicts_with = "listen")]
    interactive: bool,

    /// Print the own identity and the listener's hash.
    #[arg(short, long)]
    print_identity: bool,

    /// The file with the own identity [default: storage/identities/rnx beside the config file].
    #[arg(short, value_name = "FILE")]
    identity: Option<PathBuf>,

    /// Do not announce the listener at its start.
    #[arg(short = 'b', long)]
    no_announce: bool,

    /// Allow this identity, beside those in ~/.rnx/allowed_identities; may be repeated.
    #[arg(short, value_name = "HASH", value_parser = hash::<IdentityHash>)]
    allowed: Vec<IdentityHash>,

    /// Serve everybody. Whoever reaches the listener then has all that its user has.
    #[arg(short, long)]
    noauth: bool,

    /// Do not say who calls.
    #[arg(short = 'N', long)]
    noid: bool,

    /// Print also what running the command took.
    #[arg(short, long)]
    detailed: bool,

    /// End with the exit code of the command.
    #[arg(short)]
    mirror: bool,

    /// How long to wait for a path and a link, and how long the command may run.
    #[arg(short = 'w', value_name = "TIME", value_parser = values::time, default_value = "15s")]
    wait: Duration,

    /// How long the result may take to arrive once the command has ended [default: as long as it moves].
    #[arg(short = 'W', value_name = "TIME", value_parser = values::time)]
    result_wait: Option<Duration>,

    /// What the command reads on its standard input.
    #[arg(long, value_name = "TEXT")]
    stdin: Option<String>,

    /// The most bytes of standard output to return.
    #[arg(long, value_name = "BYTES")]
    stdout: Option<u64>,

    /// The most bytes of standard error to return.
    #[arg(long, value_name = "BYTES")]
    stderr: Option<u64>,

    /// Print the result as one JSON object; a listener prints one an event.
    #[arg(long, conflicts_with_all = ["interactive", "detailed"])]
    json: bool,
}

/// Runs until the work is done or the user ends it.
///
/// # Errors
/// The other node is not reached, does not let this one run commands, or cannot run this one.
pub(crate) async fn run(options: X, interrupt: Interrupt) -> Result<(), Failure> {
    let config_dir = directory(options.config.as_deref());
    let identity = own_identity(&config_dir, options.identity.as_deref(), protocol::UTILITY)?;
    if options.print_identity {
        let listener = protocol::name().of(identity.hash());
        return print_identity(&identity.hash(), &listener, options.json);
    }
    match options.destination {
        Some(destination) => interrupt.or(execute::run(&options, destination, &identity)).await,
        None => listen::run(&options, identity, interrupt).await,
    }
}

impl X {
    /// Shows how it goes, where somebody wants to see it.
    fn progress(&self, text: &str) -> Progress {
        if self.json { Progress::hidden() } else { Progress::live(text) }
    }
}

const EXAMPLES: &str = "\
Examples:
  iolite rns x -l -a 9fb6d773498fb3feda407ed8ef2c3229
  iolite rns x 7d36f39dbe4dbe6179150519d8877525 'uname -a'
  iolite rns x 7d36f39dbe4dbe6179150519d8877525 'sort -n' --stdin '3 1 2' -d -m
  iolite rns x 7d36f39dbe4dbe6179150519d8877525 -x";
