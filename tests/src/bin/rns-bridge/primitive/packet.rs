//! Packets.

use crate::{
    call::{Answer, Failure, Params, exactly},
    mock::MockNode,
    tools::{Workbench, wall},
};
use proto_rns::{
    DestinationHash, IdentityHash,
    crypto::draw,
    dest::{DestinationName, GroupKey},
    identity::Identity,
    node::NodeConfig,
    wire::{Context, DestinationType, Packet, PacketType, TransportType},
};
use serde_json::{Value, json};

pub(super) fn answer(bench: &mut Workbench, command: &str, params: Params<'_>) -> Option<Answer> {
    Some(match command {
        "packet_build" => build(bench, params),
        "packet_unpack" => unpack(params),
        "packet_hash" => hash(params),
        "packet_build_raw_header2" => build_long(bench, params),
        _ => return None,
    })
}

fn build(bench: &mut Workbench, params: Params<'_>) -> Answer {
    let packet_type = packet_type(params.some_number("packet_type")?.unwrap_or(0))?;
    let context = Context::from(params.some_number::<u8>("context")?.unwrap_or(0));
    let data = params.some_bytes("data")?.unwrap_or_default();
    let (destination_type, destination, data) = match params.some_text("dest_type").unwrap_or("plain") {
        "plain" => (DestinationType::Plain, plain(&data)?, data),
        "single" => {
            let identity = Identity::generate(&*bench.crypto, &mut bench.entropy);
            let data = if is_sealed(packet_type, context) {
                let sealed = identity.public().encrypt(&*bench.crypto, &mut bench.entropy, None, &data);
                sealed.ok_or_else(|| Failure::new("ValueError: the key is of low order"))?
            } else {
                data
            };
            (DestinationType::Single, name()?.of(identity.hash()), data)
        }
        "group" => {
            let key = GroupKey::generate(&mut bench.env());
            let sealed =
                if is_sealed(packet_type, context) { key.encrypt(&mut bench.env(), &data) } else { data };
            (DestinationType::Group, name()?.of_nobody(), sealed)
        }
        other => return Err(Failure::new(format!("ValueError: unsupported dest_type: {other}"))),
    };
    let packet = Packet {
        context_flag: params.flag("context_flag", false),
        transport_type: match params.some_number("transport_type")?.unwrap_or(0) {
            0 => TransportType::Broadcast,
            _ => TransportType::Transport,
        },
        hops: params.some_number("hops")?.unwrap_or(0),
        transport_id: transport_id(params, packet_type)?,
        ..Packet::new(packet_type, destination_type, destination, context, &data)
    };
    Ok(described(&packet.to_vec(), &packet))
}

/// Returns the address of a plain destination, once a node has agreed to send the data there.
fn plain(data: &[u8]) -> Result<DestinationHash, Failure> {
    let destination = name()?.of_nobody();
    let mut node = MockNode::new(NodeConfig::default(), None, wall())?;
    let now = node.now();
    node.node.send_plain(now, destination, data)?;
    Ok(destination)
}

fn unpack(params: Params<'_>) -> Answer {
    let frame = params.bytes("raw")?;
    let Ok(packet) = Packet::parse(&frame) else { return Ok(json!({"unpacked": false})) };
    let mut result = described(&frame, &packet);
    if let Some(result) = result.as_object_mut() {
        result.insert("unpacked".into(), true.into());
    }
    Ok(result)
}

fn hash(params: Params<'_>) -> Answer {
    Ok(json!({"hash": Packet::parse(&params.bytes("raw")?)?.hash().to_string()}))
}

/// Packets with a transport id are announces when they are made; others get theirs on the way.
fn build_long(bench: &mut Workbench, params: Params<'_>) -> Answer {
    let packet_type = packet_type(params.some_number("packet_type")?.unwrap_or(1))?;
    let data = params.some_bytes("data")?.unwrap_or_else(|| vec![0]);
    let Some(transport) = params.some_array("transport_id")? else {
        return Ok(json!({
            "error": "Packet with header type 2 must have a transport ID", "error_type": "OSError",
        }));
    };
    if packet_type != PacketType::Announce {
        return Ok(json!({"error": "only announces are made with a transport id", "error_type": "OSError"}));
    }
    let packet = Packet {
        transport_id: Some(IdentityHash::new(transport)),
        ..Packet::new(
            packet_type,
            DestinationType::Single,
            DestinationHash::new(draw(&mut bench.entropy)),
            Context::None,
            &data,
        )
    };
    let frame = packet.to_vec();
    Ok(json!({"raw": hex::encode(&frame), "raw_len": frame.len()}))
}

fn transport_id(params: Params<'_>, packet_type: PacketType) -> Result<Option<IdentityHash>, Failure> {
    let long = match params.get("header_type").map(|value| (value.as_u64(), value.as_str())) {
        None | Some((Some(1), _) | (_, Some("1" | "HEADER_1"))) => return Ok(None),
        Some((Some(2), _) | (_, Some("2" | "HEADER_2"))) => packet_type == PacketType::Announce,
        Some(_) => false,
    };
    if !long {
        return Err(Failure::new("ValueError: only announces are made with a transport id"));
    }
    Ok(Some(IdentityHash::new(exactly("transport_id", &params.bytes("transport_id")?)?)))
}

fn described(frame: &[u8], packet: &Packet<'_>) -> Value {
    json!({
        "raw": hex::encode(frame),
        "flags": frame.first(),
        "hops": packet.hops,
        "header_type": u8::from(packet.transport_id.is_some()),
        "context_flag": u8::from(packet.context_flag),
        "transport_type": packet.transport_type as u8,
        "destination_type": packet.destination_type as u8,
        "packet_type": packet.packet_type as u8,
        "destination_hash": packet.destination.to_string(),
        "transport_id": packet.transport_id.map(|id| id.to_string()),
        "context": packet.context.to_byte(),
        "data": hex::encode(packet.data),
        "hash": packet.hash().to_string(),
    })
}

fn packet_type(number: u8) -> Result<PacketType, Failure> {
    match number {
        0 => Ok(PacketType::Data),
        1 => Ok(PacketType::Announce),
        2 => Ok(PacketType::LinkRequest),
        3 => Ok(PacketType::Proof),
        other => Err(Failure::new(format!("ValueError: there is no packet type {other}"))),
    }
}

/// Says whether a packet's data are for its destination's eyes only.
fn is_sealed(packet_type: PacketType, context: Context) -> bool {
    packet_type == PacketType::Data
        && !matches!(context, Context::Resource | Context::KeepAlive | Context::CacheRequest)
}

/// Returns the name of the destinations that packets are made for.
fn name() -> Result<DestinationName, Failure> {
    Ok(DestinationName::new("conformance", &["packet"])?)
}
