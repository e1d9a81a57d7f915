//! The configuration of Iolite's RakNet in the benchmarks.

use bench_peer::Load;
use proto_raknet::{Config, Congestion, ConnectOptions, IncomingConfig, SessionConfig};

/// What client and server are configured with.
///
/// rust-raknet and KCP (as it is set here) have no congestion control: what limits them is the window of the application,
/// whatever is lost. Iolite is given the same instead of its default, CUBIC; and the MTU of rust-raknet, 1,428 bytes for
/// one connection, 1,400 for many. All else is as by default.
pub(crate) fn config(load: &Load, side: Side) -> Config {
    Config {
        max_mtu: mtu(load),
        incoming: IncomingConfig {
            max_connections: if side == Side::Server { 4_096 } else { 0 },
            // All connections come from one address, as they never do outside a benchmark.
            offline_messages_per_ip: None,
            ..IncomingConfig::default()
        },
        session: SessionConfig {
            congestion: Congestion::Fixed(usize::MAX),
            pacing: false,
            ..SessionConfig::default()
        },
        ..Config::default()
    }
}

/// How the client opens a session.
pub(crate) fn connect_options(load: &Load) -> ConnectOptions {
    ConnectOptions { mtu_candidates: vec![mtu(load)], ..ConnectOptions::default() }
}

/// Who is configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Client,
    Server,
}

fn mtu(load: &Load) -> u16 {
    if load.connections == 1 { 1_428 } else { 1_400 }
}
