//! What a configuration is for our node.

use proto_rns::{
    iface::{self, AccessConfig, Framing, InterfaceConfig, LocalAddress, Medium, Target},
    link::LinkConfig,
    node::{Node, NodeConfig},
};

use super::sharing::Sharing;
use crate::reticulum::{AccessCode, Config, Interface, InterfaceKind, InterfaceStatus};

/// The settings of a node and of its interfaces.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) node: NodeConfig,
    pub(super) interfaces: Vec<InterfaceConfig>,
}

impl Settings {
    /// Reads a configuration as the reference does: the first program of a shared instance serves the others, which
    /// have no other interface and forward nothing.
    ///
    /// # Panics
    /// It has something that this does not know.
    pub(super) fn of(config: &Config) -> Self {
        let mut node = NodeConfig {
            transport: config.transport,
            respond_to_probes: config.answers_probes,
            links: LinkConfig::default(),
            ..NodeConfig::default()
        };
        for (key, value) in &config.options {
            match (key.as_str(), value.as_str()) {
                ("use_implicit_proof", "no") => node.implicit_proofs = false,
                ("link_mtu_discovery", "no") => node.link_mtu_discovery = false,
                other => panic!("what is {other:?}?"),
            }
        }
        let own = || config.interfaces.iter().map(interface);
        let interfaces = match config.shared.as_ref().map(Sharing::of) {
            None => own().collect(),
            Some(Sharing::Server(at)) => std::iter::once(local_server(at)).chain(own()).collect(),
            Some(Sharing::Client(at)) => {
                node.transport = false;
                vec![InterfaceConfig::new("shared instance", Medium::LocalClient { at })]
            }
        };
        Self { node, interfaces }
    }
}

/// Returns what is known of the interfaces that a node was configured with.
pub(super) fn interfaces(node: &Node) -> Vec<InterfaceStatus> {
    let configured = node.interfaces().filter(|(_, interface)| interface.parent().is_none());
    let statuses = configured.map(|(id, interface)| {
        let accepted = || node.interfaces().filter(|(_, other)| other.parent() == Some(id));
        let counters = || accepted().map(|(_, other)| other).chain([interface]).map(|it| it.counters());
        InterfaceStatus {
            name: interface.properties().name.clone(),
            is_up: interface.properties().online,
            clients: is_server(interface).then(|| accepted().count().try_into().expect("not so many")),
            received: counters().map(|it| it.received_bytes).sum(),
            sent: counters().map(|it| it.sent_bytes).sum(),
        }
    });
    statuses.collect()
}

/// Says whether all its servers listen.
pub(super) fn listens(node: &Node) -> bool {
    let mut servers = node.interfaces().filter(|(_, interface)| is_server(interface));
    servers.all(|(_, server)| server.properties().online)
}

fn is_server(interface: &iface::Interface) -> bool {
    let listens = matches!(interface.config().medium, Medium::TcpServer { .. } | Medium::LocalServer { .. });
    listens && interface.parent().is_none()
}

fn local_server(at: LocalAddress) -> InterfaceConfig {
    InterfaceConfig::new("shared instance", Medium::LocalServer { at })
}

fn interface(wanted: &Interface) -> InterfaceConfig {
    let mut config = InterfaceConfig::new(wanted.name.clone(), medium(&wanted.kind));
    config.access = wanted.access.as_ref().map(access);
    for (key, value) in &wanted.options {
        match (key.as_str(), value.as_str()) {
            ("ingress_control", "no") => {
                (config.announce_ingress, config.path_request_ingress) = (None, None)
            }
            other => panic!("what is {other:?}?"),
        }
    }
    config
}

fn medium(kind: &InterfaceKind) -> Medium {
    let framing = Framing::Hdlc;
    let client =
        |target: &_, backbone| Medium::TcpClient { target: Target::Address(*target), framing, backbone };
    let server = |listen: &_, backbone| Medium::TcpServer { bind: *listen, framing, backbone };
    match kind {
        InterfaceKind::Udp { listen, forward } => Medium::Udp { bind: *listen, forward: Some(*forward) },
        InterfaceKind::TcpServer { listen } => server(listen, false),
        InterfaceKind::TcpClient { target } => client(target, false),
        InterfaceKind::BackboneServer { listen } => server(listen, true),
        InterfaceKind::BackboneClient { target } => client(target, true),
        InterfaceKind::Pipe { command } => Medium::Pipe { command: command.clone() },
    }
}

fn access(code: &AccessCode) -> AccessConfig {
    AccessConfig {
        network_name: code.network_name.clone(),
        passphrase: code.passphrase.clone(),
        size: code.size_bits.map(|bits| usize::from(bits / 8)),
    }
}
