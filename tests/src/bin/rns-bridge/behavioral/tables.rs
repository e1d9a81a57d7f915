//! What the node's tables hold.

use super::{
    instance::{Instance, destination},
    interfaces::interface_hash,
};
use crate::call::{Answer, Params};
use proto_rns::{
    LinkHash,
    iface::InterfaceId,
    transport::{PassingLink, ProofWay},
};
use serde_json::{Value, json};

pub(super) fn answer(instance: &mut Instance, command: &str, params: Params<'_>) -> Option<Answer> {
    instance.mock.settle();
    Some(match command {
        "read_path_table" => path(instance, params),
        "read_announce_table" => announce(instance, params),
        "read_announce_rate" => rate(instance, params),
        "read_reverse_table" => reverse(instance, params),
        "read_link_table" => links(instance, params),
        "read_tunnels" => Ok(tunnels(instance)),
        _ => return None,
    })
}

fn path(instance: &Instance, params: Params<'_>) -> Answer {
    let router = instance.mock.node.router();
    let destination = destination(params, "dest")?;
    let Some(path) = router.path(destination) else { return Ok(json!({"found": false})) };
    let blobs = router.path_random_hashes(destination);
    let next_hop = path.next_hop.map_or_else(|| destination.to_string(), |next_hop| next_hop.to_string());
    Ok(json!({
        "found": true,
        "hops": path.hops,
        "next_hop": next_hop,
        "timestamp": instance.mock.epoch(path.refreshed),
        "expires": instance.mock.epoch(path.expires),
        "random_blobs": blobs.iter().map(|blob| hex::encode(blob.as_bytes())).collect::<Vec<_>>(),
        "receiving_interface": instance.name_of(path.interface),
        "receiving_interface_hash": interface_hash(instance, path.interface),
        "packet_hash": path.packet.to_string(),
    }))
}

fn announce(instance: &Instance, params: Params<'_>) -> Answer {
    let router = instance.mock.node.router();
    let destination = destination(params, "dest")?;
    let Some(waiting) = router.waiting_announce(destination) else { return Ok(json!({"found": false})) };
    let from = router.path(destination).and_then(|path| path.next_hop);
    Ok(json!({
        "found": true,
        "retries": waiting.sent,
        "hops": waiting.hops,
        "retransmit_timeout": instance.mock.epoch(waiting.due),
        "local_rebroadcasts": waiting.heard,
        "block_rebroadcasts": waiting.response_to.is_some(),
        "received_from": from.map_or_else(|| destination.to_string(), |from| from.to_string()),
        "attached_interface": waiting.response_to.and_then(|id| instance.name_of(id)),
        "packet_hash": waiting.packet.to_string(),
    }))
}

fn rate(instance: &Instance, params: Params<'_>) -> Answer {
    let destination = destination(params, "dest")?;
    let rates = instance.mock.node.router().rate_table();
    let Some(rate) = rates.into_iter().find(|rate| rate.destination == destination) else {
        return Ok(json!({"found": false}));
    };
    Ok(json!({
        "found": true,
        "last": instance.mock.epoch(rate.last),
        "rate_violations": rate.violations,
        "blocked_until": instance.mock.epoch(rate.blocked_until),
        "timestamps": rate.timestamps.iter().map(|at| instance.mock.epoch(*at)).collect::<Vec<_>>(),
    }))
}

fn reverse(instance: &Instance, params: Params<'_>) -> Answer {
    let mut ways = instance.mock.node.router().proof_ways();
    if params.get("dest").is_some() {
        let packet = destination(params, "dest")?;
        return Ok(one(ways.find(|way| way.packet == packet).map(|way| described_way(instance, &way))));
    }
    Ok(json!({"entries": ways.map(|way| described_way(instance, &way)).collect::<Vec<_>>()}))
}

fn described_way(instance: &Instance, way: &ProofWay) -> Value {
    json!({
        "key": way.packet.to_string(),
        "received_if": instance.name_of(way.received),
        "outbound_if": instance.name_of(way.outbound),
        "received_if_hash": interface_hash(instance, way.received),
        "outbound_if_hash": interface_hash(instance, way.outbound),
        "received_if_name": config_name(instance, way.received),
        "outbound_if_name": config_name(instance, way.outbound),
        "timestamp": instance.mock.epoch(way.since),
    })
}

fn links(instance: &Instance, params: Params<'_>) -> Answer {
    let mut links = instance.mock.node.router().passing_links();
    if params.get("link_id").is_some() {
        let link = LinkHash::new(params.array("link_id")?);
        return Ok(one(links.find(|known| known.link == link).map(|link| described_link(instance, &link))));
    }
    Ok(json!({"entries": links.map(|link| described_link(instance, &link)).collect::<Vec<_>>()}))
}

fn described_link(instance: &Instance, link: &PassingLink) -> Value {
    let next_hop = instance.mock.node.router().path(link.destination).and_then(|path| path.next_hop);
    json!({
        "link_id": link.link.to_string(),
        "timestamp": instance.mock.epoch(link.refreshed),
        "next_hop_transport_id": next_hop.map_or_else(|| link.destination.to_string(), |id| id.to_string()),
        "next_hop_if": instance.name_of(link.outbound),
        "next_hop_if_hash": interface_hash(instance, link.outbound),
        "remaining_hops": link.remaining_hops,
        "received_if": instance.name_of(link.received),
        "received_if_hash": interface_hash(instance, link.received),
        "hops": link.taken_hops,
        "destination_hash": link.destination.to_string(),
        "validated": link.validated,
    })
}

fn tunnels(instance: &Instance) -> Value {
    let tunnels = instance.mock.node.router().tunnels().map(|tunnel| {
        json!({
            "tunnel_id": tunnel.tunnel.to_string(),
            "interface_id": tunnel.interface.and_then(|id| instance.name_of(id)),
            "interface_hash": tunnel.interface.and_then(|id| interface_hash(instance, id)),
            "expires": tunnel.expires.map(|at| instance.mock.epoch(at)),
            "num_paths": tunnel.paths,
        })
    });
    json!({"tunnels": tunnels.collect::<Vec<_>>()})
}

fn config_name(instance: &Instance, id: InterfaceId) -> Option<&str> {
    instance.mock.node.interface(id).map(|interface| interface.config().name.as_str())
}

/// Marks an entry as found.
fn one(entry: Option<Value>) -> Value {
    match entry {
        Some(mut entry) => {
            if let Some(entry) = entry.as_object_mut() {
                entry.insert("found".into(), true.into());
            }
            entry
        }
        None => json!({"found": false}),
    }
}
