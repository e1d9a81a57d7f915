//! How listeners and streams are set up.

use proto_raknet::{Config, ConnectOptions};
use std::net::SocketAddr;

use super::hooks::Hooks;
use crate::{DriverConfig, UdpOptions};

/// How a listener is set up.
#[derive(Clone, Debug)]
pub struct ListenOptions {
    /// The protocol's configuration. Its limits on connections are divided among the shards.
    pub endpoint: Config,
    /// Sockets that share the address (`SO_REUSEPORT`), each with a machine and a driver of its own, so that the work
    /// spreads over as many cores. The kernel keeps each peer with one of them. Between 1 and 256.
    pub shards: usize,
    /// The sockets' options. With several shards `reuse_port` is set anyway.
    pub udp: UdpOptions,
    /// The drivers' numbers.
    pub driver: DriverConfig,
    /// What looks at the datagrams. [`RaknetListener::set_hooks`](super::RaknetListener::set_hooks) changes it.
    pub hooks: Hooks,
}

impl Default for ListenOptions {
    fn default() -> Self {
        Self {
            endpoint: Config::default(),
            shards: 1,
            udp: UdpOptions::default(),
            driver: DriverConfig::default(),
            hooks: Hooks::default(),
        }
    }
}

/// How an outgoing connection is set up.
#[derive(Clone, Debug)]
pub struct ClientOptions {
    /// The protocol's configuration.
    pub endpoint: Config,
    /// The attempt: protocol version, password, MTUs, overall timeout.
    pub connect: ConnectOptions,
    /// The local address; by default any port of the server's address family.
    pub bind: Option<SocketAddr>,
    /// The socket's options.
    pub udp: UdpOptions,
    /// The driver's numbers.
    pub driver: DriverConfig,
    /// What looks at the datagrams.
    pub hooks: Hooks,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            endpoint: Config::client(),
            connect: ConnectOptions::default(),
            bind: None,
            udp: UdpOptions::default(),
            driver: DriverConfig::default(),
            hooks: Hooks::default(),
        }
    }
}
