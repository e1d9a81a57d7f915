//! The `iolite` command: tries out, measures and looks into the protocols of Iolite.
//!
//! - [`args`]: what the command line says.
//! - [`commands`]: one module a command.
//! - [`raknet`]: what several RakNet commands share.
//! - [`rns`]: the commands of Reticulum.
//! - `conn`: the commands of connections over HTTP, WebSocket and UDP, on Linux.
//! - [`output`]: lines, tables, colours, progress, JSON.
//! - [`failure`]: why a command ends early, and with which exit code.

#![forbid(unsafe_code)]
#![allow(clippy::disallowed_methods, reason = "a command measures real time and owns no replayable state")]

mod args;
mod commands;
#[cfg(target_os = "linux")]
mod conn;
mod failure;
mod interrupt;
mod output;
mod raknet;
mod rns;

use clap::Parser as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = args::Arguments::parse();
    output::choose_colours(arguments.color);
    match commands::run_to_end(arguments.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
