//! `iolite rns`: a Reticulum daemon and the utilities around it.

mod access;
mod announce;
mod announcer;
mod ask;
mod attach;
mod call;
mod cp;
mod daemon;
mod fields;
mod id;
pub(crate) mod keys;
mod local_socket;
mod own_identity;
mod path;
mod probe;
mod remote;
mod shown;
mod status;
mod values;
mod x;

use clap::Subcommand;

use crate::{failure::Failure, interrupt::Interrupt};

/// The commands of Reticulum.
#[derive(Debug, Subcommand)]
pub(crate) enum Rns {
    /// Run the node of this host, as rnsd does.
    Daemon(daemon::Daemon),
    /// Show the interfaces of a running node, as rnstatus does.
    Status(status::Status),
    /// Find the way to a destination and look after paths, as rnpath does.
    Path(path::Path),
    /// Measure how far a destination is, as rnprobe does.
    Probe(probe::Probe),
    /// Make identities, sign and encrypt with them, as rnid does.
    Id(id::Id),
    /// Announce a destination of an identity.
    Announce(announce::Announce),
    /// Copy files between two nodes, as rncp does.
    Cp(cp::Cp),
    /// Run commands on another node, as rnx does.
    X(x::X),
}

/// Runs one of them.
pub(crate) async fn run(command: Rns, interrupt: Interrupt) -> Result<(), Failure> {
    match command {
        Rns::Daemon(options) => daemon::run(options, interrupt).await,
        Rns::Status(options) => status::run(options, interrupt).await,
        Rns::Path(options) => path::run(options, interrupt).await,
        Rns::Probe(options) => probe::run(options, interrupt).await,
        Rns::Id(options) => id::run(options, interrupt).await,
        Rns::Announce(options) => announce::run(options, interrupt).await,
        Rns::Cp(options) => cp::run(options, interrupt).await,
        Rns::X(options) => x::run(options, interrupt).await,
    }
}
