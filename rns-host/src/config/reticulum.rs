//! The sections `[reticulum]` and `[logging]`.

use super::{HostConfig, reader::SectionReader};
use crate::rpc::RpcKey;
use proto_rns::{
    IdentityHash,
    crypto::{Entropy, draw},
    iface::{AnnounceRate, BurstControl, LocalAddress},
    node::NodeConfig,
    transport::RouterConfig,
};
use std::{net::SocketAddr, time::Duration};

/// How the node behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeSettings {
    /// Whether it passes on packets, announces and path requests of others.
    pub transport: bool,
    /// Whether it has the identity of its last run. Transport nodes always have.
    pub static_transport_identity: bool,
    /// Whether its proofs leave out the hash of the packet.
    pub implicit_proofs: bool,
    /// Whether its links use more than 500 bytes a packet where the interfaces allow.
    pub link_mtu_discovery: bool,
    /// Whether it proves every packet to `rnstransport.probe`.
    pub respond_to_probes: bool,
    /// Whether packets of its own look as if they came from a few hops farther.
    pub local_hops_delta: bool,
}

/// How programs on one host share a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedInstance {
    /// Whether they do: the first program is the shared instance, the others use it.
    pub enabled: bool,
    /// The name by which several shared instances on one host are told apart.
    pub name: String,
    /// What they speak over.
    pub kind: SharedInstanceType,
    /// The TCP port for packets.
    pub port: u16,
    /// The TCP port for remote procedure calls.
    pub control_port: u16,
    /// The key for remote procedure calls; `None` where it follows from the transport identity.
    pub rpc_key: Option<RpcKey>,
    /// A bitrate that the connections to the shared instance pretend to have.
    pub forced_bitrate: Option<u64>,
}

/// What a shared instance is spoken to over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedInstanceType {
    /// TCP on the loopback address.
    Tcp,
    /// Sockets in Linux's abstract name space.
    Unix,
}

/// Who may look after the node from elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManagementSettings {
    /// Whether anybody may.
    pub enabled: bool,
    /// Who may.
    pub allowed: Vec<IdentityHash>,
    /// Whether programs on this host may start and stop interfaces.
    pub interfaces: bool,
}

/// Whose lists of refused identities are used and published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlackholeSettings {
    /// Whether others may fetch this node's list.
    pub publish: bool,
    /// The transport nodes whose lists are fetched.
    pub sources: Vec<IdentityHash>,
    /// How often they are fetched.
    pub update_interval: Duration,
}

/// What is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogSettings {
    /// From 0, critical only, to 8, everything.
    pub level: u8,
    /// Whether each line has the time.
    pub timestamps: bool,
}

/// What interfaces have that do not say otherwise.
#[derive(Clone, Debug, Default)]
pub(super) struct InterfaceDefaults {
    pub(super) announce_rate: Option<AnnounceRate>,
    pub(super) gravity: Option<i64>,
    pub(super) bursts: BurstSettings,
    pub(super) egress_control: bool,
    pub(super) path_request_egress: Option<f64>,
}

/// The settings that begin with `ic_`, as far as they are there.
#[derive(Clone, Debug, Default)]
pub(super) struct BurstSettings {
    new_time: Option<f64>,
    frequency_new: Option<f64>,
    frequency: Option<f64>,
    path_request_frequency_new: Option<f64>,
    path_request_frequency: Option<f64>,
    hold: Option<f64>,
    penalty: Option<f64>,
    release_interval: Option<f64>,
    max_held: Option<usize>,
}

impl Default for NodeSettings {
    fn default() -> Self {
        Self {
            transport: false,
            static_transport_identity: false,
            implicit_proofs: true,
            link_mtu_discovery: true,
            respond_to_probes: false,
            local_hops_delta: false,
        }
    }
}

impl NodeSettings {
    /// Returns the node's configuration, with the limits that it has by default. Draws one byte where packets of its
    /// own are to look as if they came from farther.
    pub fn node_config(&self, entropy: &mut dyn Entropy) -> NodeConfig {
        let defaults = NodeConfig::default();
        NodeConfig {
            transport: self.transport,
            implicit_proofs: self.implicit_proofs,
            link_mtu_discovery: self.link_mtu_discovery,
            respond_to_probes: self.respond_to_probes,
            router: RouterConfig {
                local_hops_delta: if self.local_hops_delta { 2 + draw::<1>(entropy)[0] % 6 } else { 0 },
                ..defaults.router
            },
            ..defaults
        }
    }
}

impl Default for SharedInstance {
    fn default() -> Self {
        let on_linux = cfg!(any(target_os = "linux", target_os = "android"));
        Self {
            enabled: true,
            name: "default".into(),
            kind: if on_linux { SharedInstanceType::Unix } else { SharedInstanceType::Tcp },
            port: 37_428,
            control_port: 37_429,
            rpc_key: None,
            forced_bitrate: None,
        }
    }
}

impl SharedInstance {
    /// Returns where the shared instance takes packets.
    pub fn address(&self) -> LocalAddress {
        match self.kind {
            SharedInstanceType::Tcp => LocalAddress::Tcp(SocketAddr::from(([127, 0, 0, 1], self.port))),
            SharedInstanceType::Unix => LocalAddress::Unix(format!("\0rns/{}", self.name)),
        }
    }

    /// Returns where the shared instance takes remote procedure calls.
    pub fn rpc_address(&self) -> LocalAddress {
        match self.kind {
            SharedInstanceType::Tcp => {
                LocalAddress::Tcp(SocketAddr::from(([127, 0, 0, 1], self.control_port)))
            }
            SharedInstanceType::Unix => LocalAddress::Unix(format!("\0rns/{}/rpc", self.name)),
        }
    }
}

impl Default for ManagementSettings {
    fn default() -> Self {
        Self { enabled: false, allowed: Vec::new(), interfaces: true }
    }
}

impl Default for BlackholeSettings {
    fn default() -> Self {
        Self { publish: false, sources: Vec::new(), update_interval: Duration::from_secs(60 * 60) }
    }
}

impl Default for LogSettings {
    fn default() -> Self {
        Self { level: 4, timestamps: true }
    }
}

impl BurstSettings {
    pub(super) fn read(reader: &mut SectionReader<'_>) -> Self {
        let frequency = 0.0..=1e6;
        let seconds = 0.0..=1e9;
        Self {
            new_time: reader.number("ic_new_time", seconds.clone()),
            frequency_new: reader.number("ic_burst_freq_new", frequency.clone()),
            frequency: reader.number("ic_burst_freq", frequency.clone()),
            path_request_frequency_new: reader.number("ic_pr_burst_freq_new", frequency.clone()),
            path_request_frequency: reader.number("ic_pr_burst_freq", frequency),
            hold: reader.number("ic_burst_hold", seconds.clone()),
            penalty: reader.number("ic_burst_penalty", seconds.clone()),
            release_interval: reader.number("ic_held_release_interval", seconds),
            max_held: reader.number("ic_max_held_announces", 0..=65_536),
        }
    }

    pub(super) fn announces(&self, defaults: BurstControl) -> BurstControl {
        self.common(BurstControl {
            frequency_new: self.frequency_new.unwrap_or(defaults.frequency_new),
            frequency: self.frequency.unwrap_or(defaults.frequency),
            ..defaults
        })
    }

    pub(super) fn path_requests(&self, defaults: BurstControl) -> BurstControl {
        self.common(BurstControl {
            frequency_new: self.path_request_frequency_new.unwrap_or(defaults.frequency_new),
            frequency: self.path_request_frequency.unwrap_or(defaults.frequency),
            ..defaults
        })
    }

    fn common(&self, defaults: BurstControl) -> BurstControl {
        let time = |seconds: Option<f64>, default| seconds.map_or(default, Duration::from_secs_f64);
        BurstControl {
            new_time: time(self.new_time, defaults.new_time),
            hold: time(self.hold, defaults.hold),
            penalty: time(self.penalty, defaults.penalty),
            release_interval: time(self.release_interval, defaults.release_interval),
            max_held: self.max_held.unwrap_or(defaults.max_held),
            ..defaults
        }
    }
}

/// Reads `[reticulum]` into `config` and returns what interfaces have that do not say otherwise.
pub(super) fn read_reticulum(reader: &mut SectionReader<'_>, config: &mut HostConfig) -> InterfaceDefaults {
    config.node = read_node(reader);
    config.shared = read_shared(reader);
    let defaults = ManagementSettings::default();
    config.management = ManagementSettings {
        enabled: reader.flag("enable_remote_management").unwrap_or(defaults.enabled),
        allowed: reader.list("remote_management_allowed", HASHES),
        interfaces: reader.flag("enable_interface_management").unwrap_or(defaults.interfaces),
    };
    let defaults = BlackholeSettings::default();
    config.blackhole = BlackholeSettings {
        publish: reader.flag("publish_blackhole").unwrap_or(defaults.publish),
        sources: reader.list("blackhole_sources", HASHES),
        update_interval: reader
            .number("blackhole_update_interval", 1_u64..=525_600)
            .map_or(defaults.update_interval, |minutes| Duration::from_secs(60 * minutes)),
    };
    reader.no_effect(&WITHOUT_EFFECT);
    InterfaceDefaults {
        announce_rate: read_announce_rate(reader, config.node.transport),
        gravity: reader.number("default_gravity", i64::MIN..=i64::MAX),
        bursts: BurstSettings::read(reader),
        egress_control: reader.flag("egress_control").unwrap_or(false),
        path_request_egress: reader.number("ec_pr_freq", 0.0..=1e6),
    }
}

/// Reads `[logging]`.
pub(super) fn read_logging(reader: &mut SectionReader<'_>) -> LogSettings {
    let defaults = LogSettings::default();
    LogSettings {
        level: reader.number("loglevel", 0..=8).unwrap_or(defaults.level),
        timestamps: reader.flag("logtimestamps").unwrap_or(defaults.timestamps),
    }
}

fn read_node(reader: &mut SectionReader<'_>) -> NodeSettings {
    let defaults = NodeSettings::default();
    let mut flag = |key, default| reader.flag(key).unwrap_or(default);
    NodeSettings {
        transport: flag("enable_transport", defaults.transport),
        static_transport_identity: flag("static_transport_identity", defaults.static_transport_identity),
        implicit_proofs: flag("use_implicit_proof", defaults.implicit_proofs),
        link_mtu_discovery: flag("link_mtu_discovery", defaults.link_mtu_discovery),
        respond_to_probes: flag("respond_to_probes", defaults.respond_to_probes),
        local_hops_delta: flag("local_hops_delta", defaults.local_hops_delta),
    }
}

fn read_shared(reader: &mut SectionReader<'_>) -> SharedInstance {
    let defaults = SharedInstance::default();
    let kinds = [("tcp", SharedInstanceType::Tcp), ("unix", SharedInstanceType::Unix)];
    SharedInstance {
        enabled: reader.flag("share_instance").unwrap_or(defaults.enabled),
        name: reader.text("instance_name").unwrap_or(defaults.name),
        kind: reader.choice("shared_instance_type", &kinds).unwrap_or(defaults.kind),
        port: reader.number("shared_instance_port", 1..=u16::MAX).unwrap_or(defaults.port),
        control_port: reader.number("instance_control_port", 1..=u16::MAX).unwrap_or(defaults.control_port),
        rpc_key: reader.read("rpc_key", "pairs of hexadecimal digits", |digits| digits.parse().ok()),
        forced_bitrate: reader.number("force_shared_instance_bitrate", 5..=u64::MAX),
    }
}

/// Transport nodes limit announces by default, others do not.
fn read_announce_rate(reader: &mut SectionReader<'_>, transport: bool) -> Option<AnnounceRate> {
    let target = reader.number("default_ar_target", 1_u64..=31_536_000).unwrap_or(60 * 60);
    let penalty = reader.number("default_ar_penalty", 0_u64..=31_536_000).unwrap_or(0);
    let grace = reader.number("default_ar_grace", 0..=1_000_000).unwrap_or(5);
    transport.then_some(AnnounceRate {
        target: Duration::from_secs(target),
        grace,
        penalty: Duration::from_secs(penalty),
    })
}

const HASHES: &str = "a list of hashes of 32 hexadecimal digits each";

/// What the reference acts on and this program does not: discovery of interfaces, and the lengths of queues that are
/// bounded in other ways here.
const WITHOUT_EFFECT: [&str; 14] = [
    "panic_on_interface_error",
    "network_identity",
    "discover_interfaces",
    "required_discovery_value",
    "interface_discovery_sources",
    "autoconnect_discovered_interfaces",
    "autoconnect_unverified_implementations",
    "autoconnect_interface_mode",
    "autoconnect_announces_to_internal",
    "autoconnect_interface_gravity",
    "qlen_in_announce",
    "qlen_in_data",
    "qlen_in_il",
    "qlen_in_pr",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Problem, SystemNetwork, read_config};
    use proto_rns::crypto::SecureEntropy;
    use std::collections::BTreeSet;

    #[test]
    fn every_setting_is_taken() {
        let text = "[reticulum]
            enable_transport = Yes
            static_transport_identity = on
            use_implicit_proof = off
            link_mtu_discovery = 0
            respond_to_probes = true
            local_hops_delta = 1
            share_instance = no
            instance_name = other
            shared_instance_type = tcp
            shared_instance_port = 1000
            instance_control_port = 1_001
            rpc_key = e5c032
            force_shared_instance_bitrate = 300
            enable_remote_management = yes
            remote_management_allowed = 9fb6d773498fb3feda407ed8ef2c3229, 2d882c5586e548d79b5af27bca1776dc
            enable_interface_management = no
            publish_blackhole = yes
            blackhole_sources = 521c87a83afb8f29e4455e77930b973b
            blackhole_update_interval = 90
            [logging]
            loglevel = 7
            logtimestamps = no";
        let (config, diagnostics) = read_config(text, &SystemNetwork);
        assert_eq!(diagnostics, []);
        let expected = NodeSettings {
            transport: true,
            static_transport_identity: true,
            implicit_proofs: false,
            link_mtu_discovery: false,
            respond_to_probes: true,
            local_hops_delta: true,
        };
        assert_eq!(config.node, expected);
        let expected = SharedInstance {
            enabled: false,
            name: "other".into(),
            kind: SharedInstanceType::Tcp,
            port: 1_000,
            control_port: 1_001,
            rpc_key: Some(RpcKey::new(&[0xe5, 0xc0, 0x32])),
            forced_bitrate: Some(300),
        };
        assert_eq!(config.shared, expected);
        assert_eq!((config.management.enabled, config.management.interfaces), (true, false));
        assert_eq!(config.management.allowed.len(), 2);
        assert_eq!((config.blackhole.publish, config.blackhole.sources.len()), (true, 1));
        assert_eq!(config.blackhole.update_interval, Duration::from_secs(90 * 60));
        assert_eq!(config.logging, LogSettings { level: 7, timestamps: false });
    }

    #[test]
    fn a_wrong_setting_has_its_default_and_is_told() {
        let text = "[reticulum]\nenable_transport = maybe\nshared_instance_port = 70000\nrpc_key = zz\n\
            blackhole_sources = 521c87, 521c87a83afb8f29e4455e77930b973b\ninstance_nam = x\n[logging]\nloglevel = 9";
        let (config, diagnostics) = read_config(text, &SystemNetwork);
        assert_eq!((config.node, &config.shared), (NodeSettings::default(), &SharedInstance::default()));
        assert_eq!(config.blackhole.sources.len(), 1);
        let told: Vec<_> = diagnostics.iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "line 2: [reticulum] enable_transport: \"maybe\" is not yes or no; write yes or no",
                "line 3: [reticulum] shared_instance_port: \"70000\" is not a number from 1 to 65535; \
                 write a number from 1 to 65535",
                "line 4: [reticulum] rpc_key: \"zz\" is not pairs of hexadecimal digits; \
                 write pairs of hexadecimal digits",
                "line 5: [reticulum] blackhole_sources: \"521c87\" is not a list of hashes of 32 hexadecimal digits \
                 each; write a list of hashes of 32 hexadecimal digits each",
                "line 6: [reticulum] instance_nam: there is no such key here; did you mean instance_name?",
                "line 8: [logging] loglevel: \"9\" is not a number from 0 to 8; write a number from 0 to 8",
            ]
        );
    }

    #[test]
    fn what_has_no_effect_is_told_unless_it_is_off() {
        let text = "[reticulum]\ndiscover_interfaces = no\nautoconnect_discovered_interfaces = 3\n";
        let (_, diagnostics) = read_config(text, &SystemNetwork);
        assert_eq!(diagnostics.len(), 1);
        assert_eq!((diagnostics[0].line, &diagnostics[0].problem), (3, &Problem::NoEffect));
    }

    #[test]
    fn the_nodes_configuration_has_the_settings() {
        let mut entropy = SecureEntropy::new([1; 32]);
        let far = NodeSettings { transport: true, local_hops_delta: true, ..NodeSettings::default() };
        let mut seen = BTreeSet::new();
        for _ in 0..200 {
            let config = far.node_config(&mut entropy);
            assert!(config.transport && config.validate().is_ok());
            seen.insert(config.router.local_hops_delta);
        }
        assert!(seen.into_iter().eq(2..=7));
        assert_eq!(NodeSettings::default().node_config(&mut entropy).router.local_hops_delta, 0);
    }

    #[test]
    fn the_sockets_of_a_shared_instance_are_the_references() {
        let mut shared = SharedInstance { kind: SharedInstanceType::Unix, ..SharedInstance::default() };
        assert_eq!(shared.address(), LocalAddress::Unix("\0rns/default".into()));
        assert_eq!(shared.rpc_address(), LocalAddress::Unix("\0rns/default/rpc".into()));
        shared.kind = SharedInstanceType::Tcp;
        assert_eq!(shared.rpc_address(), LocalAddress::Tcp(SocketAddr::from(([127, 0, 0, 1], 37_429))));
    }
}
