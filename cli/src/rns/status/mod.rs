//! `iolite rns status`: the interfaces of a running node.

mod report;
mod sort;

use clap::Args;
use proto_rns::{IdentityHash, wire::msgpack::Value};
use rns_host::rpc::RpcRequest;
use serde_json::json;
use std::{path::PathBuf, time::Duration};

use super::{ask::SharedInstanceCalls, remote::Remote, shown, values};
use crate::{args::values::time, failure::Failure, interrupt::Interrupt, output};
use report::Report;
use sort::SortKey;

/// Shows the interfaces of the shared instance of this host, or of a transport node elsewhere, as rnstatus does.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Status {
    /// Only interfaces with this in their name.
    #[arg(value_name = "FILTER")]
    filter: Option<String>,

    /// The directory with the config file.
    #[arg(long, value_name = "DIR")]
    config: Option<PathBuf>,

    /// Show connections of programs and of listeners, too.
    #[arg(short, long)]
    all: bool,

    /// Show how many announces wait, and their limits.
    #[arg(short = 'A', long)]
    announce_stats: bool,

    /// Show how many links pass.
    #[arg(short, long)]
    link_stats: bool,

    /// Show what all interfaces carried together.
    #[arg(short, long)]
    totals: bool,

    /// Sort by rate, traffic, rx, tx, rxs, txs, held, pvs, ivs or txdrp.
    #[arg(short, long, value_name = "KEY")]
    sort: Option<SortKey>,

    /// Sort the other way round.
    #[arg(short, long)]
    reverse: bool,

    /// Print one JSON object.
    #[arg(short, long)]
    json: bool,

    /// Show the transport node with this identity, by its remote management.
    #[arg(short = 'R', value_name = "HASH", value_parser = values::hash::<IdentityHash>)]
    remote: Option<IdentityHash>,

    /// The file of the identity to manage a node elsewhere with.
    #[arg(short = 'i', value_name = "FILE")]
    identity: Option<PathBuf>,

    /// How long to wait for a node elsewhere.
    #[arg(short = 'w', value_name = "TIME", value_parser = time, default_value = "15s")]
    wait: Duration,

    /// Start an interface of the config file.
    #[arg(long, value_name = "NAME", group = "change")]
    attach: Option<String>,

    /// Stop an interface.
    #[arg(long, value_name = "NAME", group = "change")]
    detach: Option<String>,

    /// Stop an interface and start it with what the config file says now.
    #[arg(long, value_name = "NAME", group = "change")]
    reload: Option<String>,

    /// Show it again and again.
    #[arg(short, long)]
    monitor: bool,

    /// How often.
    #[arg(short = 'I', long, value_name = "TIME", value_parser = time, default_value = "1s")]
    monitor_interval: Duration,
}

/// Shows the state once, or until Ctrl-C.
pub(crate) async fn run(options: Status, interrupt: Interrupt) -> Result<(), Failure> {
    if let Some((request, name, done)) = change(&options) {
        let calls = SharedInstanceCalls::find(options.config.as_deref())?;
        let reply = interrupt.or(calls.ask(&request)).await?;
        return tell_change(&reply, name, done, options.json);
    }
    loop {
        let (stats, links) = interrupt.or(fetch(&options)).await?;
        if options.json {
            output::json(&shown::json(&stats))?;
        } else {
            if options.monitor {
                output::line("\u{1b}[H\u{1b}[2J")?;
            }
            output::line(Report::new(&options, &stats, links))?;
        }
        if !options.monitor {
            return Ok(());
        }
        interrupt
            .or(async {
                tokio::time::sleep(options.monitor_interval).await;
                Ok(())
            })
            .await?;
    }
}

/// Returns the state of the interfaces, and the number of links where that is wanted.
async fn fetch(options: &Status) -> Result<(Value, Option<Value>), Failure> {
    if let Some(transport) = options.remote {
        let remote = Remote { config: options.config.clone(), transport, patience: options.wait };
        let wanted = Value::Array(vec![Value::Bool(options.link_stats)]);
        let reply = remote.manage(options.identity.as_deref(), "/status", &wanted).await?;
        let Value::Array(mut parts) = reply else {
            return Err(Failure::network("the answer of the other node is no status"));
        };
        let links = (parts.len() > 1).then(|| parts.swap_remove(1));
        let stats = parts.into_iter().next().unwrap_or(Value::Nil);
        return Ok((stats, links));
    }
    let calls = SharedInstanceCalls::find(options.config.as_deref())?;
    let stats = calls.ask(&RpcRequest::InterfaceStats).await?;
    let links = match options.link_stats {
        true => Some(calls.ask(&RpcRequest::LinkCount).await?),
        false => None,
    };
    Ok((stats, links))
}

/// Returns what is to be changed, at which interface, and how that is told.
fn change(options: &Status) -> Option<(RpcRequest, &str, &'static str)> {
    match (&options.attach, &options.detach, &options.reload) {
        (Some(name), _, _) => Some((RpcRequest::AttachInterface(name.clone()), name, "started")),
        (_, Some(name), _) => Some((RpcRequest::DetachInterface(name.clone()), name, "stopped")),
        (_, _, Some(name)) => Some((RpcRequest::ReloadInterface(name.clone()), name, "started anew")),
        (None, None, None) => None,
    }
}

fn tell_change(reply: &Value, name: &str, done: &str, json: bool) -> Result<(), Failure> {
    let reply = if let Value::Bool(done) = reply { Some(*done) } else { None };
    match reply {
        Some(true) if json => output::json(&json!({ "interface": name, "done": done })),
        Some(true) => output::line(format_args!("the interface \"{name}\" is {done}")),
        Some(false) => Err(Failure::check(format_args!(
            "the interface \"{name}\" is not {done}: it runs already, or does not start"
        ))
        .advise("the log of the daemon tells more")),
        None => Err(Failure::check(format_args!(
            "the interface \"{name}\" is not {done}: there is none, or the config file says enable_interface_management = no"
        ))),
    }
}

const EXAMPLES: &str = "\
Examples:
  iolite rns status
  iolite rns status -a TCP
  iolite rns status -R 8f13a7968543d3c53d3034b83f8e0caa -i me --json";
