//! The bodies of the fuzz targets: each takes any bytes and panics where a promise is broken.
//!
//! They are here rather than in the targets so that they compile, and replay their seeds, without a fuzzer.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a broken promise is reported by panicking"
)]

pub mod conn;
pub mod raknet;
pub mod rns;

use netsim::capture::Capture;

/// A body and the name of its target and of its folder of seeds.
pub type Target = (&'static str, fn(&[u8]));

/// The folder in which each target has a folder of seeds.
pub const SEEDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/seeds");

/// All targets.
pub const TARGETS: [Target; 17] = [
    ("raknet_offline", raknet::offline),
    ("raknet_datagram", raknet::datagram),
    ("raknet_ack", raknet::ack),
    ("raknet_connected", raknet::connected),
    ("raknet_motd", raknet::motd),
    ("raknet_endpoint", raknet::endpoint),
    ("raknet_pair", raknet::pair),
    ("rns_packet", rns::packet),
    ("rns_deframe", rns::deframe),
    ("rns_msgpack", rns::msgpack),
    ("rns_node", rns::node),
    ("rns_resource", rns::resource),
    ("conn_http_client", conn::http_client),
    ("conn_http_server", conn::http_server),
    ("conn_websocket", conn::websocket),
    ("conn_url", conn::url),
    ("capture", capture),
];

/// Reads a capture file: no byte may make that panic or go on for ever.
pub fn capture(data: &[u8]) {
    let Ok(capture) = Capture::open(data) else { return };
    for frame in capture {
        let Ok(frame) = frame else { break };
        let _ = frame.udp();
    }
}
