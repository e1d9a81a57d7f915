//! `iolite rns path`: the ways to destinations.

mod blackhole;
mod request;
mod tables;

use clap::{ArgGroup, Args};
use proto_rns::{DestinationHash, IdentityHash, wire::msgpack::Value};
use rns_host::rpc::RpcRequest;
use serde_json::json;
use std::{path::PathBuf, time::Duration};

use super::{ask::SharedInstanceCalls, remote::Remote, values};
use crate::{args::values::time, failure::Failure, interrupt::Interrupt, output};

/// Finds the way to a destination, and looks after the paths, rates and refused identities of the shared instance of
/// this host or of a transport node elsewhere, as rnpath does.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, group = ArgGroup::new("what").multiple(false))]
pub(crate) struct Path {
    /// The destination, or with -x, -B, -U and -p the transport node or identity.
    #[arg(value_name = "HASH", value_parser = values::hash::<DestinationHash>)]
    hash: Option<DestinationHash>,

    /// With -p, only identities whose hash or reason has this in it.
    #[arg(value_name = "LIST_FILTER", requires = "blackholed_list")]
    list_filter: Option<String>,

    /// The directory with the config file.
    #[arg(long, value_name = "DIR")]
    config: Option<PathBuf>,

    /// Show all known paths.
    #[arg(short, long, group = "what")]
    table: bool,

    /// Of the paths, only those of at most so many hops.
    #[arg(short, long = "max", value_name = "HOPS")]
    max_hops: Option<u8>,

    /// Show how often destinations announce.
    #[arg(short, long, group = "what")]
    rates: bool,

    /// Forget the path to the destination.
    #[arg(short, long, group = "what", requires = "hash")]
    drop: bool,

    /// Forget the announces that wait to be passed on.
    #[arg(short = 'D', long, group = "what")]
    drop_announces: bool,

    /// Forget all paths over a transport node.
    #[arg(short = 'x', long, group = "what", requires = "hash")]
    drop_via: bool,

    /// How long to wait for a path.
    #[arg(short = 'w', value_name = "TIME", value_parser = time, default_value = "15s")]
    wait: Duration,

    /// Show the transport node with this identity, by its remote management.
    #[arg(short = 'R', value_name = "HASH", value_parser = values::hash::<IdentityHash>)]
    remote: Option<IdentityHash>,

    /// The file of the identity to manage a node elsewhere with.
    #[arg(short = 'i', value_name = "FILE")]
    identity: Option<PathBuf>,

    /// How long to wait for a node elsewhere.
    #[arg(short = 'W', value_name = "TIME", value_parser = time, default_value = "15s")]
    remote_wait: Duration,

    /// Show the refused identities.
    #[arg(short, long, group = "what")]
    blackholed: bool,

    /// Refuse an identity: its announces, paths and links.
    #[arg(short = 'B', long, group = "what", requires = "hash")]
    blackhole: bool,

    /// Accept an identity again.
    #[arg(short = 'U', long, group = "what", requires = "hash")]
    unblackhole: bool,

    /// For how many hours it is refused; unless given, for ever.
    #[arg(long, value_name = "HOURS", requires = "blackhole")]
    duration: Option<f64>,

    /// Why it is refused, for people.
    #[arg(long, value_name = "TEXT", requires = "blackhole")]
    reason: Option<String>,

    /// Show the list of refused identities that a transport node publishes.
    #[arg(short = 'p', long, group = "what", requires = "hash")]
    blackholed_list: bool,

    /// Print one JSON value.
    #[arg(short, long)]
    json: bool,
}

/// Does what the options say; without any, finds the way to the destination.
pub(crate) async fn run(options: Path, interrupt: Interrupt) -> Result<(), Failure> {
    interrupt.or(run_to_end(&options)).await
}

async fn run_to_end(options: &Path) -> Result<(), Failure> {
    if options.table || options.rates {
        return tables::show(options).await;
    }
    if options.blackholed || options.blackholed_list {
        return blackhole::show(options).await;
    }
    if options.remote.is_some() {
        return Err(Failure::usage("only tables can be had from a node elsewhere")
            .advise("add -t for its paths or -r for its rates"));
    }
    if options.drop_announces {
        ask(options, RpcRequest::DropAnnounceQueues).await?;
        return tell(options, true, "Dropped the announce queues of all interfaces", "");
    }
    let Some(hash) = options.hash else {
        return Err(Failure::usage("there is no destination to find a path to")
            .advise("write its hash, or see `iolite rns path --help`"));
    };
    let identity = IdentityHash::new(*hash.as_bytes());
    if options.blackhole || options.unblackhole {
        return blackhole::change(options, identity).await;
    }
    if options.drop {
        let dropped = ask(options, RpcRequest::DropPath(hash)).await? == Value::Bool(true);
        let refused = format!("there is no path to <{hash}>");
        return tell(options, dropped, format!("Dropped path to <{hash}>"), refused);
    }
    if options.drop_via {
        let dropped = ask(options, RpcRequest::DropAllVia(identity)).await?;
        let Value::Unsigned(count @ 1..) = dropped else {
            return Err(Failure::check(format_args!("no path leads over <{identity}>")));
        };
        return tell(options, true, format!("Dropped {count} paths via <{identity}>"), "");
    }
    request::find(options, hash).await
}

async fn ask(options: &Path, request: RpcRequest) -> Result<Value, Failure> {
    SharedInstanceCalls::find(options.config.as_deref())?.ask(&request).await
}

/// Fetches a table from the shared instance, or from the node elsewhere that the options name.
async fn fetch(options: &Path, local: RpcRequest, wanted: Vec<Value>) -> Result<Value, Failure> {
    match options.remote {
        Some(transport) => {
            let remote = remote(options, transport);
            remote.manage(options.identity.as_deref(), "/path", &Value::Array(wanted)).await
        }
        None => ask(options, local).await,
    }
}

fn remote(options: &Path, transport: IdentityHash) -> Remote {
    Remote { config: options.config.clone(), transport, patience: options.remote_wait }
}

/// Tells that something is done, or fails because it could not be.
fn tell(
    options: &Path,
    done: bool,
    what: impl Into<String>,
    refused: impl Into<String>,
) -> Result<(), Failure> {
    if !done {
        return Err(Failure::check(refused.into()));
    }
    let what = what.into();
    if options.json { output::json(&json!({ "done": what })) } else { output::line(what) }
}

const EXAMPLES: &str = "\
Examples:
  iolite rns path 246ecc9650d53321eadccd3075f408ab
  iolite rns path -t -m 2
  iolite rns path -B 8f13a7968543d3c53d3034b83f8e0caa --reason spam --duration 24
  iolite rns path -R 8f13a7968543d3c53d3034b83f8e0caa -i me -t";
