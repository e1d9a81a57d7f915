//! `iolite rns`: a Reticulum daemon and the utilities around it.

mod access;
mod announcer;
mod attach;
mod call;
mod cp;
mod daemon;
mod keys;
mod local_socket;
mod own_identity;
mod shown;
mod values;
mod x;

use clap::Subcommand;

use crate::{failure::Failure, interrupt::Interrupt};

/// The commands of Reticulum.
#[derive(Debug, Subcommand)]
pub(crate) enum Rns {
    /// Run the node of this host, as rnsd does.
    Daemon(daemon::Daemon),
    /// Copy files between two nodes, as rncp does.
    Cp(cp::Cp),
    /// Run commands on another node, as rnx does.
    X(x::X),
}

/// Runs one of them.
pub(crate) async fn run(command: Rns, interrupt: Interrupt) -> Result<(), Failure> {
    match command {
        Rns::Daemon(options) => daemon::run(options, interrupt).await,
        Rns::Cp(options) => cp::run(options, interrupt).await,
        Rns::X(options) => x::run(options, interrupt).await,
    }
}
