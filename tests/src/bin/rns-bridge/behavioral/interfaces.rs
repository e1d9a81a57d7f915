//! Interfaces, what arrives on them and what leaves by them.

use super::instance::{Instance, InterfaceDefaults, mode};
use crate::{
    call::{Answer, Failure, Params},
    mock::mock_interface,
};
use proto_rns::{
    crypto::sha256,
    iface::{AccessConfig, InterfaceConfig, InterfaceId},
    transport::DropReason,
    wire::{Packet, TunnelSynthesis},
};
use serde_json::json;

pub(super) fn answer(instance: &mut Instance, command: &str, params: Params<'_>) -> Option<Answer> {
    Some(match command {
        "attach_mock_interface" => attach(instance, params),
        "detach_interface" => detach(instance, params),
        "inject" => inject(instance, params),
        "drain_tx" => drain(instance, params),
        "ifac_mask" => mask(instance, params),
        "inbound_remembered" => is_remembered(instance, params),
        "packet_filter" => filter(instance, params),
        "synthesize_tunnel" => synthesize_tunnel(instance, params),
        _ => return None,
    })
}

fn attach(instance: &mut Instance, params: Params<'_>) -> Answer {
    let id = if params.flag("local_client", false) {
        let client = instance.mock.attach_local_client()?;
        client.ok_or_else(|| Failure::new("ValueError: the program was not accepted"))?
    } else {
        let mut config = mock_interface(params.text("name")?);
        config.mode = mode(params.some_text("mode").unwrap_or("FULL"));
        InterfaceDefaults::read(params, instance.interface_defaults)?.apply(&mut config);
        config.access = access(params)?;
        instance.mock.attach(config)?
    };
    let name = format!("iface{}", id.0);
    instance.interfaces.insert(name.clone(), id);
    let access = instance.mock.node.interface(id).and_then(|interface| interface.access());
    Ok(json!({
        "iface_id": name,
        "interface_hash": interface_hash(instance, id),
        "ifac_size": access.map_or(0, |access| access.size()),
    }))
}

fn access(params: Params<'_>) -> Result<Option<AccessConfig>, Failure> {
    let network_name = params.some_text("ifac_netname").map(Into::into);
    let passphrase = params.some_text("ifac_netkey").map(Into::into);
    let size = params.some_number("ifac_size")?;
    let has_secret = network_name.is_some() || passphrase.is_some();
    Ok(has_secret.then_some(AccessConfig { network_name, passphrase, size }))
}

/// Returns the hash of an interface's full name.
pub(super) fn interface_hash(instance: &Instance, id: InterfaceId) -> Option<String> {
    let interface = instance.mock.node.interface(id)?;
    Some(hex::encode(sha256(&[interface.properties().name.as_bytes()])))
}

fn detach(instance: &mut Instance, params: Params<'_>) -> Answer {
    let id = instance.interface(params, "iface_id")?;
    Ok(json!({"detached": instance.mock.detach(id)}))
}

fn inject(instance: &mut Instance, params: Params<'_>) -> Answer {
    let id = instance.interface(params, "iface_id")?;
    instance.mock.inject(id, &params.bytes("raw")?);
    Ok(json!({}))
}

fn drain(instance: &mut Instance, params: Params<'_>) -> Answer {
    let id = instance.interface(params, "iface_id")?;
    let mut frames = instance.mock.sent(id);
    if let Some(connection) = instance.connections.get(&id) {
        frames.extend(instance.mock.sent(*connection));
    }
    Ok(json!({"packets": frames.into_iter().map(hex::encode).collect::<Vec<_>>()}))
}

fn mask(instance: &Instance, params: Params<'_>) -> Answer {
    let id = instance.interface(params, "iface_id")?;
    let access = instance.mock.node.interface(id).and_then(|interface| interface.access());
    let access = access.ok_or_else(|| Failure::new("ValueError: the interface has no access code"))?;
    let mut frame = Vec::new();
    access.seal(&[&params.bytes("raw")?], &mut frame);
    Ok(json!({"masked": hex::encode(frame)}))
}

fn is_remembered(instance: &mut Instance, params: Params<'_>) -> Answer {
    let id = instance.interface(params, "iface_id")?;
    let frame = params.bytes("raw")?;
    let access = instance.mock.node.interface(id).and_then(|interface| interface.access());
    let mut opened = frame.clone();
    let packet = match access {
        Some(access) => access.open(&mut opened).unwrap_or_default(),
        None => &mut opened,
    };
    let hash = Packet::parse(packet).ok().map(|packet| packet.hash());
    let has_seen = |instance: &Instance| hash.is_some_and(|hash| instance.mock.node.router().has_seen(&hash));
    let before = has_seen(instance);
    instance.mock.inject(id, &frame);
    let after = has_seen(instance);
    Ok(json!({
        "hashlist_before": u8::from(before),
        "hashlist_after": u8::from(after),
        "hashlist_grew": after && !before,
        "unpackable": hash.is_some(),
        "packet_hash": hash.map(|hash| hash.to_string()),
        "in_hashlist": after,
    }))
}

/// Has a packet arrive and looks whether it was dropped at first sight.
fn filter(instance: &mut Instance, params: Params<'_>) -> Answer {
    const AT_FIRST_SIGHT: [DropReason; 4] = [
        DropReason::OtherTransport,
        DropReason::Duplicate,
        DropReason::TooManyHops,
        DropReason::UnannounceableDestination,
    ];
    let frame = params.bytes("raw")?;
    let hash = Packet::parse(&frame)?.hash();
    let id = match instance.interfaces.values().next() {
        Some(id) => *id,
        None => {
            let id = instance.mock.attach(mock_interface("filter"))?;
            instance.interfaces.insert("filter".into(), id);
            id
        }
    };
    let dropped = |instance: &Instance| {
        AT_FIRST_SIGHT.map(|reason| instance.mock.node.router().stats().dropped(reason)).iter().sum::<u64>()
    };
    let before = dropped(instance);
    instance.mock.inject(id, &frame);
    let accepted = dropped(instance) == before;
    let remembered = accepted && params.flag("remember", true);
    Ok(json!({"accepted": accepted, "packet_hash": hash.to_string(), "remembered": remembered}))
}

/// Has a connection come up beside the interface: that is when tunnels are asked for.
fn synthesize_tunnel(instance: &mut Instance, params: Params<'_>) -> Answer {
    let name = params.text("iface_id")?;
    let id = instance.interface(params, "iface_id")?;
    let connection =
        instance.mock.attach(InterfaceConfig { name: name.into(), ..crate::mock::mock_connection() })?;
    let frames = instance.mock.sent(connection);
    let frame = frames.first().ok_or_else(|| Failure::new("ValueError: no tunnel was asked for"))?;
    let synthesis = TunnelSynthesis::parse(Packet::parse(frame)?.data)?;
    instance.mock.put_back(connection, &frames);
    instance.connections.insert(id, connection);
    Ok(json!({"iface_id": name, "tunnel_id": synthesis.tunnel().to_string()}))
}
