//! Announces.

use super::{destination_name, identity};
use crate::{
    call::{Answer, Failure, Params},
    mock::{MockNode, mock_interface},
    tools::{Workbench, wall},
};
use proto_core::UnixTime;
use proto_rns::{
    dest::{LocalDestination, Ratchets},
    node::NodeConfig,
    wire::{Announce, Packet, PacketType},
};
use serde_json::json;
use std::time::Duration;

pub(super) fn answer(bench: &mut Workbench, command: &str, params: Params<'_>) -> Option<Answer> {
    Some(match command {
        "announce_build" => build(bench, params),
        "announce_validate" => validate(bench, params),
        _ => return None,
    })
}

/// Has a node announce a destination, at a time of the suite's choice.
fn build(bench: &Workbench, params: Params<'_>) -> Answer {
    let identity = identity(bench, params, "private_key")?;
    let mut destination = LocalDestination::single(destination_name(params)?, identity);
    if params.flag("enable_ratchets", false) {
        destination.ratchets = Some(Ratchets::new());
    }
    let emitted =
        params.seconds("emission_ts").map(|seconds| UnixTime::new(Duration::from_secs_f64(seconds)));
    let mut node = MockNode::new(NodeConfig::default(), None, emitted.unwrap_or_else(wall))?;
    let interface = node.attach(mock_interface("mock"))?;
    let now = node.now();
    let hash = node.node.register(now, destination)?;
    node.node.announce(now, hash, params.some_bytes("app_data")?.as_deref())?;
    let frame = node.sent(interface).pop().ok_or_else(|| Failure::new("ValueError: no announce was sent"))?;
    let packet = Packet::parse(&frame)?;
    let announce = Announce::parse(&packet)?;
    Ok(json!({
        "raw": hex::encode(&frame),
        "destination_hash": hash.to_string(),
        "announce_data": hex::encode(packet.data),
        "public_key": hex::encode(announce.identity.to_bytes()),
        "name_hash": announce.name.to_string(),
        "random_hash": hex::encode(announce.random.as_bytes()),
        "ratchet": announce.ratchet.map(hex::encode).unwrap_or_default(),
        "signature": hex::encode(announce.signature),
        "app_data": hex::encode(announce.app_data),
        "has_ratchet": announce.ratchet.is_some(),
    }))
}

fn validate(bench: &Workbench, params: Params<'_>) -> Answer {
    let frame = params.bytes("raw")?;
    let Ok(packet) = Packet::parse(&frame) else {
        return Ok(json!({"valid": false, "error": "unpack_failed"}));
    };
    if packet.packet_type != PacketType::Announce {
        return Ok(json!({"valid": false, "error": "not_an_announce"}));
    }
    let announce = Announce::parse(&packet);
    let valid = announce.is_ok_and(|announce| announce.verify(&*bench.crypto, packet.destination));
    let mut result = json!({
        "valid": valid,
        "destination_hash": packet.destination.to_string(),
        "has_ratchet": packet.context_flag,
    });
    let ratchet = announce.ok().and_then(|announce| announce.ratchet);
    if let Some((result, ratchet)) = result.as_object_mut().zip(ratchet) {
        result.insert("ratchet".into(), hex::encode(ratchet).into());
    }
    Ok(result)
}
