//! What interfaces are like.

use crate::{
    call::{Answer, Failure, Params},
    mock::MockNode,
    tools::{Workbench, wall},
};
use proto_rns::{
    iface::{
        AccessConfig, Framing, InterfaceConfig, InterfaceProperties, LocalAddress, Medium, Target,
        mtu_for_bitrate,
    },
    node::NodeConfig,
};
use serde_json::{Map, json};
use std::net::{Ipv4Addr, SocketAddr};

pub(super) fn answer(_bench: &mut Workbench, command: &str, params: Params<'_>) -> Option<Answer> {
    Some(match command {
        "interface_hw_mtu" => hardware_mtu(params),
        "interface_optimise_mtu" => mtu_of_bitrate(params),
        "interface_default_ifac_size" => default_access_sizes(),
        _ => return None,
    })
}

/// The longest frames of media whose length is fixed; others follow their bitrate.
fn hardware_mtu(params: Params<'_>) -> Answer {
    let medium = medium(params.text("type")?)?;
    Ok(json!({"hw_mtu": with_interface(InterfaceConfig::new("any", medium), |of| of.hardware_mtu)?}))
}

fn mtu_of_bitrate(params: Params<'_>) -> Answer {
    let adapts = params.flag("autoconfigure", true);
    let mtu = mtu_for_bitrate(params.number("bitrate")?).filter(|_| adapts);
    Ok(json!({"hw_mtu": mtu, "unchanged": !adapts}))
}

fn default_access_sizes() -> Answer {
    let mut sizes = Map::new();
    for name in
        ["SerialInterface", "PipeInterface", "TCPServerInterface", "TCPClientInterface", "UDPInterface"]
    {
        let access = AccessConfig { network_name: Some("any".into()), passphrase: None, size: None };
        let config = InterfaceConfig { access: Some(access), ..InterfaceConfig::new("any", medium(name)?) };
        let mut node = MockNode::new(NodeConfig::default(), None, wall())?;
        let now = node.now();
        let id = node.node.add_interface(now, config)?;
        let size =
            node.node.interface(id).and_then(|interface| interface.access()).map(|access| access.size());
        sizes.insert(name.into(), json!(size));
    }
    Ok(json!({"default_ifac_size": sizes, "ifac_min_size": 1}))
}

fn with_interface<T>(
    config: InterfaceConfig,
    look: impl FnOnce(&InterfaceProperties) -> T,
) -> Result<T, Failure> {
    let mut node = MockNode::new(NodeConfig::default(), None, wall())?;
    let now = node.now();
    let id = node.node.add_interface(now, config)?;
    let interface = node.node.interface(id).ok_or_else(|| Failure::new("ValueError: no interface"))?;
    Ok(look(interface.properties()))
}

/// Returns the medium of a kind of interface that the reference names so.
fn medium(name: &str) -> Result<Medium, Failure> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 9));
    let target = Target::Address(address);
    Ok(match name {
        "UDPInterface" => Medium::Udp { bind: address, forward: None },
        "TCPInterface" | "TCPClientInterface" => {
            Medium::TcpClient { target, framing: Framing::Hdlc, backbone: false }
        }
        "TCPServerInterface" => Medium::TcpServer { bind: address, framing: Framing::Hdlc, backbone: false },
        "BackboneInterface" => Medium::TcpServer { bind: address, framing: Framing::Hdlc, backbone: true },
        "LocalInterface" => Medium::LocalClient { at: LocalAddress::Tcp(address) },
        "PipeInterface" => Medium::Pipe { command: "cat".into() },
        "SerialInterface" => Medium::Serial { device: "/dev/null".into(), baud: 9_600 },
        other => return Err(Failure::new(format!("ValueError: there are no interfaces of type {other}"))),
    })
}
