//! The node and its interfaces.

use proto_rns::{
    identity::Identity,
    iface::{InterfaceConfig, LocalAddress, Medium},
    node::stored_identity,
    storage::{Storage as _, StoredItem},
};
use rns_host::{
    config::{ConfiguredInterface, SharedInstance, SharedInstanceType},
    store::DirectoryStore,
};
use runtime_tokio::rns::RnsNode;
use std::{
    io,
    net::{SocketAddr, TcpListener, UdpSocket},
    path::Path,
    sync::Arc,
};

use super::{
    instance::Instance,
    keep,
    log::{Level, Log},
    settings::Settings,
};
use crate::{
    failure::Failure,
    rns::{attach, keys},
};

/// Starts the node with all interfaces that can be.
///
/// # Errors
/// Another shared instance is there, or the node's settings are out of their range.
pub(super) async fn start(settings: Settings, log: Arc<Log>) -> Result<Arc<Instance>, Failure> {
    let Settings { directory, config, .. } = settings;
    refuse_second(&config.shared, &directory)?;
    let mut store = DirectoryStore::open(&directory);
    let kept = kept_identity(&mut store)?;
    let mut entropy = keys::entropy()?;
    let mut builder = RnsNode::builder().config(config.node.node_config(&mut entropy));
    // Others find the same transport node again after a restart, but follow no mere user of the network.
    if config.node.transport || config.node.static_transport_identity {
        builder = builder.identity(kept.clone());
    }
    if config.shared.enabled {
        builder = builder.interface(local_server(&config.shared));
    }
    for interface in config.interfaces.iter().filter(|interface| interface.enabled) {
        tell_obstacle(&log, interface);
        builder = builder.interface(interface.config.clone());
    }
    let node = builder
        .spawn_from(&mut store)
        .map_err(|error| Failure::network(format_args!("the node does not start: {error}")))?;
    keep::tell_errors(&mut store, &log);
    Ok(Arc::new(Instance::new(node, directory, config, kept, store, log)))
}

/// Makes sure that nobody else is the shared instance.
fn refuse_second(shared: &SharedInstance, directory: &Path) -> Result<(), Failure> {
    let Some(at) = attach::serving(shared) else { return Ok(()) };
    Err(Failure::network(format_args!(
        "the shared instance {:?} runs already, on {}",
        shared.name,
        shown_address(&at)
    ))
    .advise(format_args!(
        "end the other daemon or use the network through it; a second one needs another instance_name (and ports) in {}",
        directory.join("config").display()
    )))
}

/// Returns the identity of earlier runs. The RPC key follows from it, so that it is kept even by nodes that run with
/// another one each time.
fn kept_identity(store: &mut DirectoryStore) -> Result<Identity, Failure> {
    let crypto = host_crypto::provider();
    if let Some(identity) = stored_identity(&*crypto, store) {
        return Ok(identity);
    }
    let path = store.path(StoredItem::TransportIdentity);
    if path.exists() {
        return Err(Failure::file(format_args!("{} holds no private keys of 64 bytes", path.display()))
            .advise("restore it from a copy, or move it away to become another node"));
    }
    let identity = Identity::generate(&*crypto, &mut keys::entropy()?);
    store.write(StoredItem::TransportIdentity, &*identity.secret_bytes());
    Ok(identity)
}

fn local_server(shared: &SharedInstance) -> InterfaceConfig {
    let name = match shared.kind {
        SharedInstanceType::Unix => format!("rns/{}", shared.name),
        SharedInstanceType::Tcp => shared.port.to_string(),
    };
    let base = InterfaceConfig::new(name, Medium::LocalServer { at: shared.address() });
    InterfaceConfig { bitrate: shared.forced_bitrate.unwrap_or(base.bitrate), ..base }
}

/// Tells why an interface will not work at first. It is tried again, for the obstacle may go away.
fn tell_obstacle(log: &Log, interface: &ConfiguredInterface) {
    let (address, tried) = match &interface.config.medium {
        Medium::TcpServer { bind, .. } => (*bind, TcpListener::bind(bind).map(drop)),
        Medium::Udp { bind, .. } => (*bind, UdpSocket::bind(bind).map(drop)),
        // Nobody knows beforehand whether these will work.
        Medium::TcpClient { .. }
        | Medium::LocalServer { .. }
        | Medium::LocalClient { .. }
        | Medium::Pipe { .. }
        | Medium::Serial { .. }
        | _ => return,
    };
    if let Err(error) = tried {
        log.tell(
            Level::Error,
            format_args!(
                "line {}: the interface \"{}\" cannot listen on {address}: {error}; {}; it is tried again",
                interface.line,
                interface.config.name,
                remedy(&error, address)
            ),
        );
    }
}

#[allow(clippy::wildcard_enum_match_arm, reason = "the operating system has reasons without number")]
fn remedy(error: &io::Error, address: SocketAddr) -> String {
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            format!("end the program that uses port {}, or choose another port", address.port())
        }
        io::ErrorKind::PermissionDenied => "choose a port above 1023".into(),
        io::ErrorKind::AddrNotAvailable => {
            format!("choose an address of this host; {} is none", address.ip())
        }
        _ => "check the address".into(),
    }
}

/// Writes an address of this host as people read it.
pub(super) fn shown_address(address: &LocalAddress) -> String {
    match address {
        LocalAddress::Tcp(address) => format!("TCP {address}"),
        LocalAddress::Unix(name) => match name.strip_prefix('\0') {
            Some(name) => format!("the abstract socket @{name}"),
            None => format!("the socket {name}"),
        },
    }
}
