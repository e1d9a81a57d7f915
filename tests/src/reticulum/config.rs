//! The configuration of a node, in the format of the reference.

use std::{
    fmt::Write as _,
    fs,
    net::SocketAddr,
    path::Path,
    process,
    sync::atomic::{AtomicU32, Ordering},
};

/// What a node is to be, as its `config` file says it.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// Whether it forwards for others.
    pub transport: bool,
    /// The instance that it shares with, or takes from, other programs of this machine.
    pub shared: Option<SharedInstance>,
    /// Whether it answers probes.
    pub answers_probes: bool,
    /// Its interfaces.
    pub interfaces: Vec<Interface>,
    /// Further lines of the section `[reticulum]`.
    pub options: Vec<(String, String)>,
}

impl Config {
    /// A node of its own with these interfaces.
    pub fn new(interfaces: impl IntoIterator<Item = Interface>) -> Self {
        Self { interfaces: interfaces.into_iter().collect(), ..Self::default() }
    }

    /// Makes it forward for others.
    #[must_use]
    pub fn with_transport(self) -> Self {
        Self { transport: true, ..self }
    }

    /// Makes it share an instance with other programs.
    #[must_use]
    pub fn with_shared(self, shared: SharedInstance) -> Self {
        Self { shared: Some(shared), ..self }
    }

    /// Makes it answer probes.
    #[must_use]
    pub fn with_probes(self) -> Self {
        Self { answers_probes: true, ..self }
    }

    /// Adds a line to the section `[reticulum]`.
    #[must_use]
    pub fn with_option(mut self, key: &str, value: &str) -> Self {
        self.options.push((key.to_owned(), value.to_owned()));
        self
    }

    /// Writes the file `config` into `folder`.
    ///
    /// # Panics
    /// The file cannot be written.
    pub fn write(&self, folder: &Path) {
        fs::write(folder.join("config"), self.to_text()).expect("a writable folder");
    }

    /// Returns the text of the file.
    pub fn to_text(&self) -> String {
        let mut text = String::from("[reticulum]\n");
        line(&mut text, "enable_transport", yes(self.transport));
        line(&mut text, "share_instance", yes(self.shared.is_some()));
        line(&mut text, "respond_to_probes", yes(self.answers_probes));
        if let Some(shared) = &self.shared {
            shared.write(&mut text);
        }
        for (key, value) in &self.options {
            line(&mut text, key, value);
        }
        text.push_str("\n[logging]\n");
        line(&mut text, "loglevel", "4");
        text.push_str("\n[interfaces]\n");
        for interface in &self.interfaces {
            interface.write(&mut text);
        }
        text
    }
}

/// An instance that programs of this machine share: the first one serves the others.
#[derive(Clone, Debug)]
pub struct SharedInstance {
    /// Its name, by which programs find it.
    pub name: String,
    /// The sockets it uses.
    pub sockets: LocalSockets,
    /// The key of its control socket, in hexadecimal digits, if it is not that of the transport identity.
    pub rpc_key: Option<String>,
}

/// The sockets of a shared instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalSockets {
    /// Abstract Unix sockets named after the instance.
    Unix,
    /// TCP ports of this machine.
    Tcp {
        /// For packets.
        data: u16,
        /// For control.
        control: u16,
    },
}

impl SharedInstance {
    /// An instance that no other test has, on Unix sockets.
    pub fn fresh() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self {
            name: format!("iolite-{}-{number}", process::id()),
            sockets: LocalSockets::Unix,
            rpc_key: Some("5a".repeat(32)),
        }
    }

    /// Puts it on TCP ports.
    #[must_use]
    pub fn on_tcp(self, data: u16, control: u16) -> Self {
        Self { sockets: LocalSockets::Tcp { data, control }, ..self }
    }

    fn write(&self, text: &mut String) {
        line(text, "instance_name", &self.name);
        match self.sockets {
            LocalSockets::Unix => line(text, "shared_instance_type", "unix"),
            LocalSockets::Tcp { data, control } => {
                line(text, "shared_instance_type", "tcp");
                line(text, "shared_instance_port", &data.to_string());
                line(text, "instance_control_port", &control.to_string());
            }
        }
        if let Some(key) = &self.rpc_key {
            line(text, "rpc_key", key);
        }
    }
}

/// An interface.
#[derive(Clone, Debug)]
pub struct Interface {
    /// Its name, unique in the file.
    pub name: String,
    /// What it is.
    pub kind: InterfaceKind,
    /// What others must know to take part.
    pub access: Option<AccessCode>,
    /// Further lines of its section, such as `mode` or `bitrate`.
    pub options: Vec<(String, String)>,
}

/// What an interface is.
#[derive(Clone, Debug)]
pub enum InterfaceKind {
    /// Datagrams from one address to another.
    Udp {
        /// Where it listens.
        listen: SocketAddr,
        /// Where it sends to.
        forward: SocketAddr,
    },
    /// A TCP server.
    TcpServer {
        /// Where it listens.
        listen: SocketAddr,
    },
    /// A TCP client.
    TcpClient {
        /// Where it connects to.
        target: SocketAddr,
    },
    /// A Backbone listener.
    BackboneServer {
        /// Where it listens.
        listen: SocketAddr,
    },
    /// A Backbone client.
    BackboneClient {
        /// Where it connects to.
        target: SocketAddr,
    },
    /// The standard input and output of a program.
    Pipe {
        /// The program and its arguments.
        command: String,
    },
}

/// What the members of a closed network have in common.
#[derive(Clone, Debug, Default)]
pub struct AccessCode {
    /// The network's name.
    pub network_name: Option<String>,
    /// Its passphrase.
    pub passphrase: Option<String>,
    /// The length of the code on each packet, where it is not the default one.
    pub size_bits: Option<u16>,
}

impl Interface {
    /// An open interface.
    pub fn new(name: &str, kind: InterfaceKind) -> Self {
        Self { name: name.to_owned(), kind, access: None, options: Vec::new() }
    }

    /// Closes it to those who do not know `access`.
    #[must_use]
    pub fn with_access(self, access: AccessCode) -> Self {
        Self { access: Some(access), ..self }
    }

    /// Adds a line to its section.
    #[must_use]
    pub fn with_option(mut self, key: &str, value: &str) -> Self {
        self.options.push((key.to_owned(), value.to_owned()));
        self
    }

    fn write(&self, text: &mut String) {
        // Nothing is wrong with writing to a string.
        let _ = writeln!(text, "\n[[{}]]", self.name);
        line(text, "enabled", "yes");
        self.kind.write(text);
        if let Some(access) = &self.access {
            access.write(text);
        }
        for (key, value) in &self.options {
            line(text, key, value);
        }
    }
}

impl InterfaceKind {
    fn write(&self, text: &mut String) {
        match self {
            Self::Udp { listen, forward } => {
                line(text, "type", "UDPInterface");
                address(text, "listen", listen);
                address(text, "forward", forward);
            }
            Self::TcpServer { listen } => {
                line(text, "type", "TCPServerInterface");
                address(text, "listen", listen);
            }
            Self::TcpClient { target } => {
                line(text, "type", "TCPClientInterface");
                line(text, "target_host", &target.ip().to_string());
                line(text, "target_port", &target.port().to_string());
            }
            Self::BackboneServer { listen } => {
                line(text, "type", "BackboneInterface");
                line(text, "listen_on", &listen.ip().to_string());
                line(text, "port", &listen.port().to_string());
            }
            Self::BackboneClient { target } => {
                line(text, "type", "BackboneInterface");
                line(text, "remote", &target.ip().to_string());
                line(text, "target_port", &target.port().to_string());
            }
            Self::Pipe { command } => {
                line(text, "type", "PipeInterface");
                line(text, "command", command);
            }
        }
    }
}

impl AccessCode {
    fn write(&self, text: &mut String) {
        let size = self.size_bits.map(|bits| bits.to_string());
        let lines =
            [("network_name", &self.network_name), ("passphrase", &self.passphrase), ("ifac_size", &size)];
        for (key, value) in lines {
            if let Some(value) = value {
                line(text, key, value);
            }
        }
    }
}

fn line(text: &mut String, key: &str, value: &str) {
    // Nothing is wrong with writing to a string.
    let _ = writeln!(text, "{key} = {value}");
}

fn address(text: &mut String, what: &str, address: &SocketAddr) {
    line(text, &format!("{what}_ip"), &address.ip().to_string());
    line(text, &format!("{what}_port"), &address.port().to_string());
}

const fn yes(wanted: bool) -> &'static str {
    if wanted { "yes" } else { "no" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_has_a_section_for_each_interface() {
        let listen = "127.0.0.1:4242".parse().unwrap();
        let access = AccessCode { passphrase: Some("secret".into()), ..AccessCode::default() };
        let server = Interface::new("server", InterfaceKind::TcpServer { listen }).with_access(access);
        let text = Config::new([server]).with_transport().to_text();
        assert!(text.contains("enable_transport = yes\nshare_instance = no\n"), "{text}");
        let section = "\n[[server]]\nenabled = yes\ntype = TCPServerInterface\nlisten_ip = 127.0.0.1\nlisten_port = 4242\npassphrase = secret\n";
        assert!(text.ends_with(section), "{text}");
    }

    #[test]
    fn no_two_shared_instances_have_one_name() {
        assert_ne!(SharedInstance::fresh().name, SharedInstance::fresh().name);
    }
}
