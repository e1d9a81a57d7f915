//! Starting and stopping nodes, and what they are like.

use super::{Wire, instance::Instance};
use crate::call::{Answer, Failure, Params};
use proto_rns::{
    crypto::sha256,
    iface::{AccessConfig, Framing, Ifac, InterfaceConfig, LocalAddress, Medium, Mode, Target},
    node::NodeConfig,
};
use serde_json::{Value, json};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};

pub(super) fn answer(wire: &mut Wire, command: &str, params: Params<'_>) -> Option<Answer> {
    Some(match command {
        "start_tcp_server" => start_server(wire, params),
        "start_tcp_client" => start_client(wire, params),
        "start_local_client" => start_local_client(wire, params),
        "start_pipe_peer" => start_pipe(wire, params, false),
        "start_pipe_tcp_relay" => start_pipe(wire, params, true),
        "stop" => stop(wire, params),
        "tx_bytes" => wire.instance(params).map(|instance| sent_bytes(instance)),
        "transport_enabled" | "instance_posture" => wire.instance(params).map(|instance| posture(instance)),
        "interface_hw_mtu" => wire.instance(params).map(|instance| hardware_mtu(instance)),
        "interface_bitrate" => wire.instance(params).map(|instance| bitrate(instance)),
        "ifac_compute" => wire.instance(params).and_then(|instance| access_code(instance, params)),
        "ifac_signature" => wire.instance(params).and_then(|instance| access_signature(instance)),
        _ => return None,
    })
}

fn start_server(wire: &mut Wire, params: Params<'_>) -> Answer {
    let port = match params.some_number("bind_port")?.unwrap_or(0) {
        0 => free_port()?,
        port => port,
    };
    let medium = Medium::TcpServer { bind: here(port), framing: Framing::Hdlc, backbone: false };
    let mut interfaces = vec![interface("Wire TCP Server", medium, params)?];
    let shared = if params.flag("share_instance", false) {
        if params.some_text("share_instance_type") != Some("tcp") {
            return Err(Failure::new(
                "NotImplementedError: the suite's programs find shared instances by TCP",
            ));
        }
        Some(free_port()?)
    } else {
        None
    };
    if let Some(shared) = shared {
        let medium = Medium::LocalServer { at: LocalAddress::Tcp(here(shared)) };
        interfaces.push(InterfaceConfig::new("Shared", medium));
    }
    let config = NodeConfig {
        transport: params.flag("enable_transport", !params.is_null("enable_transport")),
        respond_to_probes: params.flag("respond_to_probes", false),
        implicit_proofs: params.flag("use_implicit_proof", true),
        ..NodeConfig::default()
    };
    let transport = config.transport;
    let mut result = keep(wire, Instance::start(config, interfaces)?);
    if let Some(result) = result.as_object_mut() {
        result.insert("port".into(), port.into());
        result.insert("transport_enabled".into(), transport.into());
        if let Some(shared) = shared {
            result.insert("share_instance_type".into(), "tcp".into());
            result.insert("shared_instance_port".into(), shared.into());
        }
    }
    Ok(result)
}

fn start_client(wire: &mut Wire, params: Params<'_>) -> Answer {
    let target =
        Target::Address(SocketAddr::new(params.text("target_host")?.parse()?, params.number("target_port")?));
    let medium = Medium::TcpClient { target, framing: Framing::Hdlc, backbone: false };
    let config = NodeConfig { transport: true, ..NodeConfig::default() };
    Ok(keep(wire, Instance::start(config, vec![interface("Wire TCP Client", medium, params)?])?))
}

fn start_local_client(wire: &mut Wire, params: Params<'_>) -> Answer {
    let at = LocalAddress::Tcp(here(params.number("shared_instance_port")?));
    let interface = InterfaceConfig::new("Shared", Medium::LocalClient { at });
    Ok(keep(wire, Instance::start(NodeConfig::default(), vec![interface])?))
}

/// The suite joins two nodes by two pipes of the host.
fn start_pipe(wire: &mut Wire, params: Params<'_>, relays: bool) -> Answer {
    let (read, write) = (params.text("read_fifo")?, params.text("write_fifo")?);
    let command = format!("sh -c 'cat \"{read}\" & exec cat > \"{write}\"'");
    let mut interfaces = vec![interface("Wire Pipe", Medium::Pipe { command }, params)?];
    let port = if relays { Some(free_port()?) } else { None };
    if let Some(port) = port {
        let medium = Medium::TcpServer { bind: here(port), framing: Framing::Hdlc, backbone: false };
        interfaces.push(interface("Wire Pipe TCP", medium, params)?);
    }
    let config = NodeConfig { transport: params.flag("enable_transport", relays), ..NodeConfig::default() };
    let mut result = keep(wire, Instance::start(config, interfaces)?);
    if let Some((result, port)) = result.as_object_mut().zip(port) {
        result.insert("port".into(), port.into());
    }
    Ok(result)
}

fn stop(wire: &mut Wire, params: Params<'_>) -> Answer {
    Ok(json!({"stopped": wire.instances.remove(params.text("handle")?).is_some()}))
}

fn keep(wire: &mut Wire, instance: Instance) -> Value {
    wire.started += 1;
    let handle = format!("wire{}", wire.started);
    let identity = instance.read(|node, _| node.transport_id().to_string());
    wire.instances.insert(handle.clone(), instance);
    json!({"handle": handle, "identity_hash": identity})
}

fn interface(name: &str, medium: Medium, params: Params<'_>) -> Result<InterfaceConfig, Failure> {
    let mut config = InterfaceConfig::new(name, medium);
    if let Some(mode) = params.some_text("mode").filter(|mode| !mode.is_empty()) {
        config.mode = mode_named(mode)?;
    }
    config.fixed_mtu = params.some_number("fixed_mtu")?;
    config.bitrate = params.some_number("bitrate")?.unwrap_or(config.bitrate);
    let network_name = params.some_text("network_name").filter(|name| !name.is_empty()).map(Into::into);
    let passphrase = params.some_text("passphrase").filter(|secret| !secret.is_empty()).map(Into::into);
    if network_name.is_some() || passphrase.is_some() {
        let size = params.some_number::<usize>("ifac_size")?.map(|bits| bits / 8);
        config.access = Some(AccessConfig { network_name, passphrase, size });
    }
    Ok(config)
}

fn mode_named(name: &str) -> Result<Mode, Failure> {
    Ok(match name.to_lowercase().as_str() {
        "full" => Mode::Full,
        "access_point" | "accesspoint" | "ap" => Mode::AccessPoint,
        "point_to_point" | "pointtopoint" | "ptp" => Mode::PointToPoint,
        "roaming" => Mode::Roaming,
        "boundary" => Mode::Boundary,
        "gateway" | "gw" => Mode::Gateway,
        other => return Err(Failure::new(format!("ValueError: Unknown interface mode: {other}"))),
    })
}

fn sent_bytes(instance: &Instance) -> Value {
    let sent = instance
        .read(|node, _| node.interfaces().map(|(_, interface)| interface.counters().sent_bytes).sum::<u64>());
    json!({"tx_bytes": sent})
}

fn posture(instance: &Instance) -> Value {
    instance.read(|node, _| {
        let config = node.config();
        let is = |wanted: fn(&Medium) -> bool| {
            node.interfaces().any(|(_, interface)| wanted(&interface.config().medium))
        };
        json!({
            "transport_enabled": config.transport,
            "respond_to_probes": config.respond_to_probes,
            "should_use_implicit_proof": config.implicit_proofs,
            "link_mtu_discovery": config.link_mtu_discovery,
            "is_shared_instance": is(|medium| matches!(medium, Medium::LocalServer { .. })),
            "is_connected_to_shared_instance": is(|medium| matches!(medium, Medium::LocalClient { .. })),
        })
    })
}

fn bitrate(instance: &Instance) -> Value {
    let id = instance.interfaces.first().copied();
    let bitrate = instance.read(|node, _| Some(node.interface(id?)?.properties().bitrate));
    json!({"bitrate": bitrate, "minimum_bitrate": proto_rns::iface::MINIMUM_BITRATE})
}

fn hardware_mtu(instance: &Instance) -> Value {
    let id = instance.interfaces.first().copied();
    instance.read(|node, _| {
        let interface = id.and_then(|id| node.interface(id));
        let fixed = interface.is_some_and(|interface| interface.config().fixed_mtu.is_some());
        json!({
            "hw_mtu": interface.and_then(|interface| interface.properties().hardware_mtu),
            "link_mtu_discovery": node.config().link_mtu_discovery,
            "reticulum_mtu": proto_rns::transport::BASE_MTU,
            "autoconfigure_mtu": !fixed,
            "fixed_mtu": fixed,
        })
    })
}

fn access_code(instance: &Instance, params: Params<'_>) -> Answer {
    let data = params.bytes("packet_data")?;
    let size = params.some_number("ifac_size")?;
    with_access(instance, |access| {
        let signature = access.sign(&data);
        let size = size.unwrap_or_else(|| access.size());
        json!({
            "ifac_key": hex::encode(access.key()),
            "ifac_size": size,
            "signature": hex::encode(signature),
            "ifac": hex::encode(signature.get(64 - size..).unwrap_or(&signature)),
        })
    })
}

fn access_signature(instance: &Instance) -> Answer {
    with_access(instance, |access| {
        json!({
            "ifac_signature": hex::encode(access.sign(&sha256(&[access.key()]))),
            "ifac_key": hex::encode(access.key()),
            "ifac_size": access.size(),
            "default_ifac_size": 16,
        })
    })
}

fn with_access(instance: &Instance, look: impl FnOnce(&Ifac) -> Value) -> Answer {
    let id = instance.interfaces.first().copied();
    let found = instance.read(|node, _| Some(look(node.interface(id?)?.access()?)));
    found.ok_or_else(|| Failure::new("RuntimeError: No IFAC-configured interface on this handle."))
}

/// Finds a port that nobody uses. Others may take it meanwhile; the suite takes that risk, too.
fn free_port() -> Result<u16, Failure> {
    Ok(TcpListener::bind(here(0))?.local_addr()?.port())
}

fn here(port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, port))
}
