//! `iolite rns cp`: files to and from other nodes, compatible with `rncp` both ways (spec 1.20).
//!
//! The sender identifies itself and offers the file as a resource that carries its name. To fetch, a node asks for the
//! file, and it comes back as such a resource.

mod arrival;
mod copied;
mod departure;
mod fetch;
mod intake;
mod listen;
mod protocol;
mod send;

use clap::Args;
use proto_rns::{DestinationHash, IdentityHash, identity::Identity, link::LinkConfig};
use runtime_tokio::rns::{Link, RnsNode};
use std::{path::PathBuf, time::Duration};

use super::{
    attach::{attach, directory},
    call,
    own_identity::{own_identity, print_identity},
    values::{hash, interval},
};
use crate::{args::values, failure::Failure, interrupt::Interrupt, output::progress::Progress};

/// Copies files between two nodes, as rncp does: sends FILE to DESTINATION, fetches FILE from it with -f, or waits for
/// others with -l. A file is there under its name only once it has arrived whole.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Cp {
    /// The file to send, or with -f the path on the other node.
    #[arg(required_unless_present_any = ["listen", "print_identity"], conflicts_with = "listen")]
    file: Option<String>,

    /// The other node: the hash that its listener prints.
    #[arg(value_parser = hash::<DestinationHash>, required_unless_present_any = ["listen", "print_identity"], conflicts_with = "listen")]
    destination: Option<DestinationHash>,

    /// The directory with the config file.
    #[arg(long, value_name = "DIR")]
    config: Option<PathBuf>,

    /// Wait for files, and for requests to fetch some.
    #[arg(short, long)]
    listen: bool,

    /// Fetch FILE from the other node instead of sending it.
    #[arg(short, long, conflicts_with = "listen")]
    fetch: bool,

    /// Let the nodes that may send files fetch some, too.
    #[arg(short = 'F', long, requires = "listen")]
    allow_fetch: bool,

    /// The only directory that files may be fetched from.
    #[arg(short, long, value_name = "DIR", requires = "allow_fetch")]
    jail: Option<PathBuf>,

    /// Where to save what arrives [default: the current directory].
    #[arg(short, long, value_name = "DIR")]
    save: Option<PathBuf>,

    /// Replace files of the same name instead of choosing another one.
    #[arg(short = 'O', long)]
    overwrite: bool,

    /// Allow this identity, beside those in ~/.rncp/allowed_identities; may be repeated.
    #[arg(short, value_name = "HASH", value_parser = hash::<IdentityHash>)]
    allowed: Vec<IdentityHash>,

    /// Serve everybody.
    #[arg(short, long)]
    no_auth: bool,

    /// Announce the listener at its start and every so many seconds; 0 announces it once.
    #[arg(short = 'b', value_name = "SECONDS", value_parser = interval)]
    announce: Option<Duration>,

    /// Print the own identity and the listener's hash.
    #[arg(short, long)]
    print_identity: bool,

    /// The file with the own identity [default: storage/identities/rncp beside the config file].
    #[arg(short, value_name = "FILE")]
    identity: Option<PathBuf>,

    /// How long to wait for a path, a link, and an answer.
    #[arg(short, value_name = "TIME", value_parser = values::time, default_value = "15s")]
    wait: Duration,

    /// Do not compress.
    #[arg(short = 'C', long)]
    no_compress: bool,

    /// Do not show the progress.
    #[arg(short = 'S', long)]
    silent: bool,

    /// Print the result as JSON; a listener prints one object an event.
    #[arg(long)]
    json: bool,
}

/// Runs until the work is done or the user ends it.
///
/// # Errors
/// A file cannot be read or saved, or the other node is not reached, refuses, or goes away.
pub(crate) async fn run(options: Cp, interrupt: Interrupt) -> Result<(), Failure> {
    let config_dir = directory(options.config.as_deref());
    let identity = own_identity(&config_dir, options.identity.as_deref(), protocol::UTILITY)?;
    if options.print_identity {
        let listener = protocol::name().of(identity.hash());
        return print_identity(&identity.hash(), &listener, options.json);
    }
    match (&options.file, options.destination) {
        (Some(file), Some(destination)) if options.fetch => {
            interrupt.or(fetch::run(&options, file, destination, &identity)).await
        }
        (Some(file), Some(destination)) => {
            interrupt.or(send::run(&options, file, destination, &identity)).await
        }
        (None, _) | (_, None) => listen::run(&options, identity, interrupt).await,
    }
}

impl Cp {
    /// Shows how it goes, where somebody wants to see it.
    fn progress(&self, text: &str) -> Progress {
        if self.json || self.silent { Progress::hidden() } else { Progress::live(text) }
    }

    /// Calls the other node, and says who calls.
    async fn call(
        &self,
        destination: DestinationHash,
        identity: &Identity,
        config: &LinkConfig,
        progress: &Progress,
    ) -> Result<(RnsNode, Link), Failure> {
        let node = attach(self.config.as_deref()).await?;
        let link = call::open_link(&node, destination, config, self.wait, progress).await?;
        call::identify(&link, identity)?;
        Ok((node, link))
    }

    /// Returns where to save what arrives.
    fn folder(&self) -> Result<PathBuf, Failure> {
        let folder = self.save.clone().unwrap_or_else(|| PathBuf::from("."));
        if folder.is_dir() {
            return Ok(folder);
        }
        Err(Failure::file(format_args!("{} is no directory", folder.display()))
            .advise("create it, or choose another with -s"))
    }
}

const EXAMPLES: &str = "\
Examples:
  iolite rns cp -l -n -s inbox                            take files from everybody
  iolite rns cp -l -a 9fb6d773498fb3feda407ed8ef2c3229 -F -j public
  iolite rns cp photo.jpg 7d36f39dbe4dbe6179150519d8877525
  iolite rns cp -f notes.txt 7d36f39dbe4dbe6179150519d8877525";
