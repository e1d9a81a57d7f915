//! The state of the interfaces, with the keys that the reference's rnstatus reads.

use proto_rns::{
    crypto::sha256,
    iface::{Interface, InterfaceId, Medium},
    node::Node,
    wire::msgpack::Value,
};

use super::{
    answers::{bytes, map, number},
    instance::Instance,
    watch::{Speeds, Traffic},
};

/// Returns the state of all interfaces and of the node.
pub(super) fn interface_stats(instance: &Instance) -> Value {
    let (uptime, probe) = (instance.uptime().as_secs_f64(), instance.probe());
    let speeds = instance.speeds();
    instance.node().with_node(|node, _| {
        let interfaces = node.interfaces().map(|(id, it)| shown(node, &speeds, id, it)).collect();
        let (carried, speed) = totals(node, &speeds);
        let mut all = vec![
            ("interfaces", Value::Array(interfaces)),
            ("rxb", Value::Unsigned(carried.received)),
            ("txb", Value::Unsigned(carried.sent)),
            ("rxs", Value::Unsigned(speed.received)),
            ("txs", Value::Unsigned(speed.sent)),
        ];
        all.extend(NOT_COUNTED_IN_TOTAL.map(|key| (key, Value::Unsigned(0))));
        all.push(("txq", Value::Nil));
        if node.config().transport {
            all.extend([
                ("transport_id", bytes(node.transport_id().as_bytes())),
                ("network_id", Value::Nil),
                ("transport_uptime", Value::Float(uptime)),
                ("probe_responder", probe.map_or(Value::Nil, |probe| bytes(probe.as_bytes()))),
            ]);
        }
        all.push(("rss", Value::Nil));
        map(all)
    })
}

/// Returns the state of one interface.
fn shown(node: &Node, speeds: &Speeds, id: InterfaceId, interface: &Interface) -> Value {
    let properties = interface.properties();
    let (carried, speed) = (Traffic::of(node, id), speeds.of(id));
    let (held, _) = node.router().waiting_announces(id);
    let mut all = vec![("clients", clients(node, id, interface))];
    if let Some(parent) = interface.parent().and_then(|parent| node.interface(parent)) {
        let name = &parent.properties().name;
        all.push(("parent_interface_name", Value::Text(name.clone())));
        all.push(("parent_interface_hash", bytes(&sha256(&[name.as_bytes()]))));
    }
    all.extend([
        ("bitrate", Value::Unsigned(properties.bitrate)),
        ("rxs", Value::Unsigned(speed.received)),
        ("txs", Value::Unsigned(speed.sent)),
        ("rxb", Value::Unsigned(carried.received)),
        ("txb", Value::Unsigned(carried.sent)),
        ("name", Value::Text(properties.name.clone())),
        ("short_name", Value::Text(short_name(node, interface))),
        ("hash", bytes(&sha256(&[properties.name.as_bytes()]))),
        ("type", kind(interface).into()),
        ("mtu", properties.hardware_mtu.map_or(Value::Nil, number)),
        ("status", Value::Bool(properties.online)),
        ("mode", Value::Unsigned(properties.mode as u64)),
        ("gravity", gravity(properties.gravity.unwrap_or(0))),
        ("held_announces", number(held)),
        ("autoconnect_source", Value::Nil),
        ("announces_to_internal", Value::Nil),
    ]);
    all.extend(access(interface));
    all.extend(announce_rate(interface));
    all.extend(losses(interface));
    all.extend(NOT_COUNTED.map(|key| (key, Value::Unsigned(0))));
    all.extend(["burst_active", "pr_burst_active", "txstalled"].map(|key| (key, Value::Bool(false))));
    all.extend(["burst_count", "pr_burst_count"].map(|key| (key, Value::Nil)));
    map(all)
}

/// A listener says how many connections it has.
fn clients(node: &Node, id: InterfaceId, interface: &Interface) -> Value {
    let is_listener =
        matches!(interface.config().medium, Medium::TcpServer { .. } | Medium::LocalServer { .. });
    if interface.parent().is_some() || !is_listener {
        return Value::Nil;
    }
    number(node.interfaces().filter(|(_, other)| other.parent() == Some(id)).count())
}

fn access(interface: &Interface) -> [(&'static str, Value); 3] {
    let code = interface.access();
    let name = interface.config().access.as_ref().and_then(|access| access.network_name.clone());
    [
        ("ifac_signature", code.map_or(Value::Nil, |code| bytes(&code.sign(&sha256(&[code.key()]))))),
        ("ifac_size", code.map_or(Value::Nil, |code| number(code.size()))),
        ("ifac_netname", name.map_or(Value::Nil, Value::Text)),
    ]
}

fn announce_rate(interface: &Interface) -> [(&'static str, Value); 3] {
    let rate = interface.config().announce_rate;
    let value = |value: Option<u64>| value.map_or(Value::Nil, Value::Unsigned);
    [
        ("announce_rate_target", value(rate.map(|rate| rate.target.as_secs()))),
        ("announce_rate_penalty", value(rate.map(|rate| rate.penalty.as_secs()))),
        ("announce_rate_grace", value(rate.map(|rate| rate.grace.into()))),
    ]
}

fn losses(interface: &Interface) -> [(&'static str, Value); 3] {
    let counters = interface.counters();
    [
        ("txdrp", Value::Unsigned(counters.dropped_full)),
        ("protocol_violations", Value::Unsigned(counters.malformed)),
        ("ifac_violations", Value::Unsigned(counters.access_violations)),
    ]
}

/// Sums up what the networks carried; programs of this host and a listener's connections count once.
fn totals(node: &Node, speeds: &Speeds) -> (Traffic, Traffic) {
    let network = node.interfaces().filter(|(_, interface)| {
        interface.parent().is_none() && !matches!(interface.config().medium, Medium::LocalServer { .. })
    });
    let add = |sum: Traffic, more: Traffic| Traffic {
        received: sum.received.wrapping_add(more.received),
        sent: sum.sent.wrapping_add(more.sent),
    };
    network.fold(Default::default(), |(carried, speed), (id, _)| {
        (add(carried, Traffic::of(node, id)), add(speed, speeds.of(id)))
    })
}

fn short_name(node: &Node, interface: &Interface) -> String {
    let parent = interface.parent().and_then(|parent| node.interface(parent));
    match (parent, &interface.config().medium) {
        (None, Medium::LocalServer { .. }) => "Reticulum".into(),
        (Some(parent), _) => format!("Client on {}", parent.config().name),
        (None, _) => interface.config().name.clone(),
    }
}

/// Returns the kind's name in the reference.
fn kind(interface: &Interface) -> &'static str {
    let is_accepted = interface.parent().is_some();
    match &interface.config().medium {
        Medium::Udp { .. } => "UDPInterface",
        Medium::TcpServer { backbone: false, .. } if !is_accepted => "TCPServerInterface",
        Medium::TcpServer { backbone: false, .. } | Medium::TcpClient { backbone: false, .. } => {
            "TCPClientInterface"
        }
        Medium::TcpServer { backbone: true, .. } if !is_accepted => "BackboneInterface",
        Medium::TcpServer { .. } | Medium::TcpClient { .. } => "BackboneClientInterface",
        Medium::LocalServer { .. } if !is_accepted => "LocalServerInterface",
        Medium::LocalServer { .. } | Medium::LocalClient { .. } => "LocalClientInterface",
        Medium::Pipe { .. } => "PipeInterface",
        Medium::Serial { .. } => "SerialInterface",
        _ => "Interface",
    }
}

fn gravity(gravity: i64) -> Value {
    u64::try_from(gravity).map_or(Value::Negative(gravity), Value::Unsigned)
}

/// What the reference counts for each interface, and this node does not tell apart.
const NOT_COUNTED: [&str; 21] = [
    "arxs",
    "atxs",
    "prxs",
    "ptxs",
    "arxb",
    "atxb",
    "arxc",
    "atxc",
    "prxb",
    "ptxb",
    "prxc",
    "ptxc",
    "txdrb",
    "txbuffered",
    "incoming_announce_frequency",
    "outgoing_announce_frequency",
    "incoming_pr_frequency",
    "outgoing_pr_frequency",
    "burst_activated",
    "pr_burst_activated",
    "packet_filter_hits",
];

/// The same for the whole node.
const NOT_COUNTED_IN_TOTAL: [&str; 29] = [
    "arxb",
    "atxb",
    "arxs",
    "atxs",
    "arxf",
    "atxf",
    "prxb",
    "ptxb",
    "prxs",
    "ptxs",
    "prxf",
    "ptxf",
    "rxpps",
    "txpps",
    "rxqt",
    "rxqd",
    "rxqa",
    "rxqp",
    "rxqil",
    "rxqtd",
    "rxqdd",
    "rxqad",
    "rxqpd",
    "rxqild",
    "tqpressure",
    "dqpressure",
    "aqpressure",
    "pqpressure",
    "ilqpressure",
];
