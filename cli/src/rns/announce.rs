//! `iolite rns announce`: making a destination known.

use clap::Args;
use host_crypto::provider;
use proto_rns::{
    dest::{DestinationName, LocalDestination},
    identity::Identity,
};
use rns_host::store::read_identity_file;
use serde_json::json;
use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use super::attach;
use crate::{
    args::values::{Hex, hex},
    failure::Failure,
    interrupt::Interrupt,
    output,
};

/// Announces a destination of an identity, so that others find the way to it. Nobody answers there unless a program
/// with the same identity runs.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Announce {
    /// The full name of the destination, such as example.service.
    #[arg(value_name = "NAME")]
    name: String,

    /// The file of the identity.
    #[arg(short, long, value_name = "FILE")]
    identity: PathBuf,

    /// What the announce tells everybody, as text.
    #[arg(short, long, value_name = "TEXT")]
    app_data: Option<String>,

    /// The same, in hexadecimal digits.
    #[arg(long, value_name = "DIGITS", value_parser = hex, conflicts_with = "app_data")]
    app_data_hex: Option<Hex>,

    /// The directory with the config file.
    #[arg(long, value_name = "DIR")]
    config: Option<PathBuf>,

    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Announces once.
pub(crate) async fn run(options: Announce, interrupt: Interrupt) -> Result<(), Failure> {
    let loaded = read_identity_file(&options.identity, &*provider()).map_err(|error| {
        Failure::file(format_args!("the identity in {}: {error}", options.identity.display()))
    })?;
    let app_data =
        options.app_data.map(String::into_bytes).or_else(|| options.app_data_hex.map(|Hex(bytes)| bytes));
    let announced = announce(
        options.config.as_deref(),
        &options.name,
        loaded.identity,
        app_data.unwrap_or_default(),
        options.json,
    );
    interrupt.or(announced).await
}

/// Announces the destination that an identity has under a name, and says so.
///
/// # Errors
/// The name is none, the data are too long, or there is no network.
pub(crate) async fn announce(
    config: Option<&Path>,
    name: &str,
    identity: Identity,
    app_data: Vec<u8>,
    json: bool,
) -> Result<(), Failure> {
    let parsed = DestinationName::parse(name)
        .map_err(|error| Failure::usage(format_args!("{name:?} is no destination's name: {error}")))?;
    let owner = identity.hash();
    let mut destination = LocalDestination::single(parsed, identity);
    destination.app_data = app_data;
    let node = attach::attach(config).await?;
    let destination = node.register(destination).map_err(Failure::network)?;
    destination
        .announce(None)
        .map_err(|error| Failure::usage(format_args!("{name} is not announced: {error}")))?;
    // The announce leaves while the node still runs.
    tokio::time::sleep(DEPARTURE).await;
    let hash = destination.hash();
    node.shutdown().await;
    if json {
        return output::json(&json!({
            "name": name,
            "destination": hash.to_string(),
            "identity": owner.to_string(),
        }));
    }
    output::line(format_args!("Announced {name} destination <{hash}> for identity <{owner}>"))
}

const DEPARTURE: Duration = Duration::from_millis(500);

const EXAMPLES: &str = "\
Examples:
  iolite rns announce example.service -i me
  iolite rns announce example.service -i me --app-data 'a library'";
