//! Finding the way to one destination.

use proto_rns::{DestinationHash, node::Node, wire::msgpack::Value};
use rns_host::rpc::RpcRequest;
use serde_json::json;

use super::Path;
use crate::{
    failure::Failure,
    output::{
        self,
        progress::Progress,
        style::{self, paint},
    },
    rns::{ask::SharedInstanceCalls, attach, call, shown},
};

/// Asks the network for a path and shows it.
pub(super) async fn find(options: &Path, destination: DestinationHash) -> Result<(), Failure> {
    let progress = if options.json { Progress::hidden() } else { Progress::live("joining the network") };
    let node = attach::attach(options.config.as_deref()).await?;
    progress.describe(format!("path to <{destination}> requested"));
    let found = call::find_path(&node, destination, options.wait).await;
    progress.finish();
    found?;
    let (hops, own) = node.with_node(|node, _| {
        (node.router().hops_to(destination).unwrap_or(0), Way::of_node(node, destination))
    });
    // Behind a shared instance every path begins there; where it goes on, only that knows.
    let way = Way::of_shared_instance(options, destination).await.unwrap_or(own);
    node.shutdown().await;
    if options.json {
        return output::json(&json!({
            "destination": destination.to_string(),
            "hops": hops,
            "via": way.next_hop,
            "interface": way.interface,
        }));
    }
    output::line(format_args!(
        "{}, destination <{destination}> is {} away via <{}> on {}",
        paint(style::GOOD, "Path found"),
        shown::hops(hops.into()),
        way.next_hop,
        way.interface
    ))
}

/// Where a path begins.
struct Way {
    next_hop: String,
    interface: String,
}

impl Way {
    fn of_node(node: &Node, destination: DestinationHash) -> Self {
        let path = node.router().path(destination);
        let interface = path.as_ref().and_then(|path| node.interface(path.interface));
        let next_hop = path.and_then(|path| path.next_hop).map(|hop| hop.to_string());
        Self {
            next_hop: next_hop.unwrap_or_else(|| destination.to_string()),
            interface: interface.map_or_else(|| "?".into(), |it| it.properties().name.clone()),
        }
    }

    async fn of_shared_instance(options: &Path, destination: DestinationHash) -> Option<Self> {
        let calls = SharedInstanceCalls::find(options.config.as_deref()).ok()?;
        let Ok(Value::Bytes(next_hop)) = calls.ask(&RpcRequest::NextHop(destination)).await else {
            return None;
        };
        let Ok(Value::Text(interface)) = calls.ask(&RpcRequest::NextHopInterface(destination)).await else {
            return None;
        };
        Some(Self { next_hop: shown::hex(&next_hop), interface })
    }
}
