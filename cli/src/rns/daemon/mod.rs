//! `iolite rns daemon`: a node that the programs of this host share, and the networks around it use.
//!
//! - [`settings`]: the config file, and what is wrong with it.
//! - [`start`]: the node and its interfaces.
//! - [`instance`]: the running daemon, as its parts see it.
//! - [`rpc`] and [`answers`]: what programs of this host ask.
//! - [`management`]: what others ask from elsewhere.
//! - [`blackholes`]: lists of refused identities that others publish.
//! - [`watch`]: what changes, and how fast it flows.
//! - [`keep`]: what is written to the disk.
//! - [`log`]: what is told.

mod answers;
mod blackholes;
mod instance;
mod interface_stats;
mod interfaces;
mod keep;
mod log;
mod management;
mod rpc;
mod settings;
mod start;
mod watch;

use clap::{ArgAction, Args};
use rns_host::config::DEFAULT_CONFIG;
use serde_json::json;
use std::{path::PathBuf, sync::Arc};

use crate::{failure::Failure, interrupt::Interrupt, output};
use instance::Instance;
use log::{Level, Log, Sink};
use settings::Settings;

/// Runs a Reticulum node as rnsd does: it opens the interfaces of the config file, routes for others if that is
/// wanted, and lets the programs of this host use the network through it. On the first start it writes a config file.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Daemon {
    /// The directory with the config file [default: the first of /etc/reticulum, ~/.config/reticulum and ~/.reticulum
    /// that has one].
    #[arg(long, value_name = "DIR")]
    config: Option<PathBuf>,

    /// Tell more; twice, even more.
    #[arg(short, long, action = ArgAction::Count)]
    verbose: u8,

    /// Tell less; twice, even less.
    #[arg(short, long, action = ArgAction::Count)]
    quiet: u8,

    /// Write what is told to the file logfile beside the config file.
    #[arg(short, long)]
    service: bool,

    /// Print the config file of a new node, and do nothing else.
    #[arg(long)]
    exampleconfig: bool,

    /// Print one JSON object a line.
    #[arg(long, conflicts_with = "service")]
    json: bool,
}

/// Runs until Ctrl-C.
pub(crate) async fn run(options: Daemon, interrupt: Interrupt) -> Result<(), Failure> {
    if options.exampleconfig {
        return output::line(DEFAULT_CONFIG.trim_end());
    }
    let settings = Settings::load(options.config.as_deref())?;
    let log = Arc::new(Log::new(sink(&options, &settings)?, level(&options, &settings), &settings.config));
    settings.tell(&log);
    let instance = start::start(settings, Arc::clone(&log)).await?;
    let ended = serve(&instance, &interrupt).await;
    log.settle();
    keep::save(&instance);
    instance.node().shutdown().await;
    log.tell_event(Level::Notice, "Stopped", json!({ "event": "stopped" }));
    ended
}

/// Does what a daemon does, until the user ends it.
async fn serve(instance: &Arc<Instance>, interrupt: &Interrupt) -> Result<(), Failure> {
    let services = management::Services::offer(instance)?;
    let calls = rpc::listen(instance)?;
    instance.announce_start(&services);
    tokio::select! {
        () = rpc::serve(instance, calls) => {}
        () = services.serve(instance) => {}
        () = blackholes::update(instance) => {}
        () = watch::watch(instance) => {}
        () = keep::save_regularly(instance) => {}
        () = interrupt.wait() => {}
    }
    Ok(())
}

fn sink(options: &Daemon, settings: &Settings) -> Result<Sink, Failure> {
    match (options.json, options.service) {
        (true, _) => Ok(Sink::Json),
        (_, true) => Sink::file(&settings.directory.join("logfile")),
        (false, false) => Ok(Sink::terminal()),
    }
}

fn level(options: &Daemon, settings: &Settings) -> u8 {
    settings.config.logging.level.saturating_add(options.verbose).saturating_sub(options.quiet)
}

const EXAMPLES: &str = "\
Examples:
  iolite rns daemon
  iolite rns daemon --config /etc/reticulum --service
  iolite rns daemon --exampleconfig";
