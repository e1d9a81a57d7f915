//! What an interface speaks over: the keys of each kind of interface.

use super::{
    diagnostic::{INTERFACE_TYPES, Problem},
    nearest::nearest,
    network::Network,
    reader::SectionReader,
};
use proto_rns::iface::{Framing, Medium, Target};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// The kinds that the reference has and this program has not.
const UNSUPPORTED: [&str; 7] = [
    "AutoInterface",
    "RNodeInterface",
    "RNodeMultiInterface",
    "KISSInterface",
    "AX25KISSInterface",
    "I2PInterface",
    "WeaveInterface",
];

/// Says whether the kind is one whose keys are known here.
pub(super) fn check_type(reader: &mut SectionReader<'_>, kind: &str) -> bool {
    if INTERFACE_TYPES.contains(&kind) {
        return true;
    }
    let value = kind.to_owned();
    if UNSUPPORTED.contains(&kind) {
        reader.reject("type", Problem::UnsupportedType { value });
    } else {
        let nearest = nearest(kind, INTERFACE_TYPES.into_iter().chain(UNSUPPORTED));
        reader.reject("type", Problem::UnknownType { value, nearest });
    }
    false
}

/// Reads what belongs to the kind. `None` where something is wrong, which is then reported.
pub(super) fn read_medium(
    reader: &mut SectionReader<'_>,
    kind: &str,
    network: &dyn Network,
) -> Option<Medium> {
    match kind {
        "TCPClientInterface" => {
            let framing = read_framing(reader);
            reader.no_effect(&["i2p_tunneled", "connect_timeout"]);
            let host = reader.needed_text("target_host", "where to connect");
            Some(Medium::TcpClient { target: read_target(reader, host)?, framing, backbone: false })
        }
        "BackboneClientInterface" => read_backbone_client(reader),
        "BackboneInterface" if reader.has("remote") || reader.has("target_host") => {
            read_backbone_client(reader)
        }
        "BackboneInterface" => {
            let bind = read_bind(reader, network);
            Some(Medium::TcpServer { bind: bind?, framing: Framing::Hdlc, backbone: true })
        }
        "TCPServerInterface" => {
            let framing = read_framing(reader);
            reader.no_effect(&["i2p_tunneled"]);
            Some(Medium::TcpServer { bind: read_bind(reader, network)?, framing, backbone: false })
        }
        "UDPInterface" => read_udp(reader, network),
        "PipeInterface" => {
            reader.no_effect(&["respawn_delay"]);
            let command = reader.needed_text("command", "which program to run")?;
            Some(Medium::Pipe { command })
        }
        "SerialInterface" => read_serial(reader),
        _ => None,
    }
}

fn read_framing(reader: &mut SectionReader<'_>) -> Framing {
    if reader.flag("kiss_framing").unwrap_or(false) { Framing::Kiss } else { Framing::Hdlc }
}

fn read_backbone_client(reader: &mut SectionReader<'_>) -> Option<Medium> {
    reader.no_effect(&["connect_timeout", "prefer_ipv6"]);
    let key = reader.spelling("target_host", "remote");
    let host = reader.needed_text(key, "where to connect");
    Some(Medium::TcpClient { target: read_target(reader, host)?, framing: Framing::Hdlc, backbone: true })
}

/// Takes `host` together with the port. Names stay names, so that they are resolved again for each connection.
fn read_target(reader: &mut SectionReader<'_>, host: Option<String>) -> Option<Target> {
    let key = reader.spelling("target_port", "port");
    let port = needed_port(reader, key, "where to connect");
    let (host, port) = (host?, port?);
    Some(match host.parse() {
        Ok(ip) => Target::Address(SocketAddr::new(ip, port)),
        Err(_) => Target::Name { host, port },
    })
}

/// Reads where to listen: an address or name, or a device.
fn read_bind(reader: &mut SectionReader<'_>, network: &dyn Network) -> Option<SocketAddr> {
    let prefer_ipv6 = reader.flag("prefer_ipv6").unwrap_or(false);
    let key = reader.spelling("listen_port", "port");
    let port = needed_port(reader, key, "on which port to listen");
    let key = reader.spelling("listen_ip", "listen_on");
    let address = match reader.text("device") {
        Some(device) => {
            let addresses = network.device(&device).into_iter().map(|device| device.address);
            let found = preferred(addresses, prefer_ipv6);
            if found.is_none() {
                reader.reject("device", Problem::UnknownDevice { device });
            }
            found
        }
        None => reader
            .needed_text(key, "on which address to listen")
            .and_then(|host| resolve(reader, key, host, prefer_ipv6, network)),
    };
    // Without a device the other key has no say, but it exists.
    reader.has("listen_ip");
    Some(SocketAddr::new(address?, port?))
}

fn read_udp(reader: &mut SectionReader<'_>, network: &dyn Network) -> Option<Medium> {
    let port = reader.number("port", 1..=u16::MAX);
    let listen_port = reader.number("listen_port", 1..=u16::MAX).or(port);
    let forward_port = reader.number("forward_port", 1..=u16::MAX).or(port);
    let device = reader.text("device");
    let broadcast = device.and_then(|device| {
        let found = network.device(&device).into_iter().find_map(|device| device.broadcast);
        if found.is_none() {
            reader.reject("device", Problem::UnknownDevice { device });
        }
        found
    });
    let mut address = |key| match reader.text(key) {
        Some(host) => resolve(reader, key, host, false, network),
        None => broadcast,
    };
    let (listen, forward) = (address("listen_ip"), address("forward_ip"));
    if listen.is_none() && !reader.has("listen_ip") && !reader.has("device") {
        reader.missing("listen_ip", "on which address to listen");
    }
    if listen_port.is_none() && !reader.has("listen_port") && !reader.has("port") {
        reader.missing("listen_port", "on which port to listen");
    }
    let forward = forward.map(|ip| {
        if forward_port.is_none() && !reader.has("forward_port") && !reader.has("port") {
            reader.missing("forward_port", "to which port to send");
        }
        forward_port.map(|port| SocketAddr::new(ip, port))
    });
    Some(Medium::Udp { bind: SocketAddr::new(listen?, listen_port?), forward: forward.flatten() })
}

fn read_serial(reader: &mut SectionReader<'_>) -> Option<Medium> {
    let device = reader.needed_text("port", "which serial port to open");
    let baud = reader.number("speed", 1..=u32::MAX);
    let baud = if reader.has("speed") { baud } else { Some(9_600) };
    reader.choice("databits", &[("8", ())]);
    reader.choice("parity", &[("none", ()), ("n", ())]);
    reader.choice("stopbits", &[("1", ())]);
    Some(Medium::Serial { device: device?, baud: baud? })
}

fn needed_port(reader: &mut SectionReader<'_>, key: &'static str, purpose: &'static str) -> Option<u16> {
    if !reader.has(key) {
        reader.missing(key, purpose);
    }
    reader.number(key, 1..=u16::MAX)
}

fn resolve(
    reader: &mut SectionReader<'_>,
    key: &'static str,
    host: String,
    prefer_ipv6: bool,
    network: &dyn Network,
) -> Option<IpAddr> {
    if let Ok(address) = host.parse() {
        return Some(address);
    }
    // The reference's word for every host of the network.
    if host.eq_ignore_ascii_case("<broadcast>") {
        return Some(Ipv4Addr::BROADCAST.into());
    }
    let found = preferred(network.resolve(&host), prefer_ipv6);
    if found.is_none() {
        reader.reject(key, Problem::UnknownHost { host });
    }
    found
}

/// Returns the first address of the preferred kind, or the first of all.
fn preferred(addresses: impl IntoIterator<Item = IpAddr>, ipv6: bool) -> Option<IpAddr> {
    let mut first = None;
    for address in addresses {
        if address.is_ipv6() == ipv6 {
            return Some(address);
        }
        first = first.or(Some(address));
    }
    first
}
