//! Becoming part of the network: by the shared instance of this host, or else by the interfaces of the config file.

use proto_rns::iface::{InterfaceConfig, LocalAddress, Medium};
use rns_host::config::{
    CONFIG_FILE, ConfiguredInterface, Diagnostic, HostConfig, Severity, SharedInstance, SystemNetwork,
    config_dir, read_config,
};
use runtime_tokio::rns::RnsNode;
use std::{
    env, fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{
    failure::Failure,
    output::{
        self,
        style::{self, paint},
    },
};

/// Finds the directory with the config file.
pub(crate) fn directory(chosen: Option<&Path>) -> PathBuf {
    chosen.map_or_else(|| config_dir(env::home_dir().as_deref()), Path::to_path_buf)
}

/// Starts a node that is a client of the shared instance where there is one, and has the config's interfaces
/// otherwise. Waits a moment for the first interface that connects to somebody.
///
/// # Errors
/// The config file cannot be read, has no interface that works, or the node does not start.
pub(crate) async fn attach(chosen: Option<&Path>) -> Result<RnsNode, Failure> {
    let config_dir = directory(chosen);
    let (config, mistakes) = read(&config_dir)?;
    let shared = serving(&config.shared);
    let interfaces = match shared {
        Some(at) => vec![InterfaceConfig::new("shared instance", Medium::LocalClient { at })],
        None => {
            tell_mistakes(&config_dir, &mistakes);
            own_interfaces(&config_dir, config.interfaces)?
        }
    };
    let started = RnsNode::builder().spawn();
    let node = started.map_err(|error| Failure::network(format_args!("the node does not start: {error}")))?;
    let mut connecting = Vec::new();
    for interface in interfaces {
        let name = interface.name.clone();
        let listens = matches!(interface.medium, Medium::TcpServer { .. });
        let id = node.add_interface(interface).map_err(|error| {
            Failure::file(format_args!("the interface \"{name}\" does not start: {error}"))
        })?;
        if !listens {
            connecting.push(id);
        }
    }
    if !connecting.is_empty() {
        let (tell, mut up) = tokio::sync::mpsc::channel(1);
        for id in connecting {
            let (node, tell) = (node.clone(), tell.clone());
            tokio::spawn(async move {
                let came_up = tokio::time::timeout(FIRST_INTERFACE, node.interface_up(id)).await;
                if came_up.is_ok() {
                    let _ = tell.try_send(());
                }
            });
        }
        drop(tell);
        // A network that comes later is as good; the commands have patience of their own.
        up.recv().await;
    }
    Ok(node)
}

/// Reads the config file, and returns what is wrong with it.
///
/// # Errors
/// The file is there and cannot be read.
pub(crate) fn read(config_dir: &Path) -> Result<(HostConfig, Vec<Diagnostic>), Failure> {
    let path = config_dir.join(CONFIG_FILE);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => {
            return Err(Failure::file(format_args!("cannot read {}: {error}", path.display())));
        }
    };
    Ok(read_config(&text, &SystemNetwork))
}

/// Tells what is wrong with the config file, where that may be why something does not work.
pub(crate) fn tell_mistakes(config_dir: &Path, mistakes: &[Diagnostic]) {
    let path = config_dir.join(CONFIG_FILE);
    for mistake in mistakes.iter().filter(|mistake| mistake.severity() == Severity::Error) {
        output::note(format_args!("{} {}: {mistake}", paint(style::ODD, "warning:"), path.display()));
    }
}

fn own_interfaces(
    config_dir: &Path,
    configured: Vec<ConfiguredInterface>,
) -> Result<Vec<InterfaceConfig>, Failure> {
    let interfaces: Vec<InterfaceConfig> = configured
        .into_iter()
        .filter(|interface| interface.enabled)
        .map(|interface| interface.config)
        .collect();
    if interfaces.is_empty() {
        return Err(Failure::network(format_args!(
            "no shared instance runs on this host, and {} has no interface that is enabled",
            config_dir.join(CONFIG_FILE).display()
        ))
        .advise("start `iolite rns daemon` or rnsd, or name another directory with --config"));
    }
    Ok(interfaces)
}

/// Returns where the shared instance is, if the config wants one and somebody serves it.
pub(crate) fn serving(shared: &SharedInstance) -> Option<LocalAddress> {
    let address = shared.enabled.then(|| shared.address())?;
    answers(&address).then_some(address)
}

fn answers(address: &LocalAddress) -> bool {
    match address {
        LocalAddress::Tcp(address) => std::net::TcpStream::connect_timeout(address, LOCAL_ANSWER).is_ok(),
        LocalAddress::Unix(name) => answers_unix(name),
    }
}

#[cfg(target_os = "linux")]
fn answers_unix(name: &str) -> bool {
    use std::os::{
        linux::net::SocketAddrExt as _,
        unix::net::{SocketAddr, UnixStream},
    };
    let address = match name.strip_prefix('\0') {
        Some(name) => SocketAddr::from_abstract_name(name),
        None => SocketAddr::from_pathname(name),
    };
    address.and_then(|address| UnixStream::connect_addr(&address)).is_ok()
}

#[cfg(all(unix, not(target_os = "linux")))]
fn answers_unix(name: &str) -> bool {
    std::os::unix::net::UnixStream::connect(name).is_ok()
}

#[cfg(not(unix))]
fn answers_unix(_: &str) -> bool {
    false
}

const FIRST_INTERFACE: Duration = Duration::from_secs(5);
const LOCAL_ANSWER: Duration = Duration::from_millis(500);
