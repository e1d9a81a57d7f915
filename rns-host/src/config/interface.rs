//! The subsections of `[interfaces]`: what all kinds of interface have in common.

use super::{
    Diagnostic, Problem,
    medium::{check_type, read_medium},
    network::Network,
    parse::Section,
    reader::SectionReader,
    reticulum::{BurstSettings, InterfaceDefaults},
};
use proto_rns::iface::{AccessConfig, AnnounceRate, BurstControl, InterfaceConfig, Medium, Mode};
use std::time::Duration;

/// An interface without mistakes.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfiguredInterface {
    /// The line of its heading.
    pub line: usize,
    /// Whether it is to be started. If not, it may be later, by a remote procedure call.
    pub enabled: bool,
    /// Its settings; its name is there.
    pub config: InterfaceConfig,
}

const MODES: [(&str, Mode); 11] = [
    ("full", Mode::Full),
    ("access_point", Mode::AccessPoint),
    ("accesspoint", Mode::AccessPoint),
    ("ap", Mode::AccessPoint),
    ("pointtopoint", Mode::PointToPoint),
    ("ptp", Mode::PointToPoint),
    ("roaming", Mode::Roaming),
    ("boundary", Mode::Boundary),
    ("gateway", Mode::Gateway),
    ("gw", Mode::Gateway),
    ("internal", Mode::Internal),
];

/// What the reference acts on and this program does not: announcing an interface for others to find, and dropping it
/// when others are found.
const WITHOUT_EFFECT: [&str; 22] = [
    "bootstrap_only",
    "discoverable",
    "discovery_name",
    "discovery_encrypt",
    "discovery_stamp_value",
    "discovery_publish_ifac",
    "discovery_frequency",
    "discovery_bandwidth",
    "discovery_modulation",
    "discovery_spreadingfactor",
    "discovery_codingrate",
    "discovery_channel",
    "discovery_operator",
    "announce_interval",
    "reachable_on",
    "latitude",
    "longitude",
    "height",
    "ignore_config_warnings",
    "i2p_tunneled",
    "connect_timeout",
    "respawn_delay",
];

/// Reads an interface. `None` where something is wrong with it, which is then reported; about one that is not enabled
/// and not known here there is nothing to report.
pub(super) fn read_interface(
    section: &Section,
    defaults: &InterfaceDefaults,
    network: &dyn Network,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<ConfiguredInterface> {
    let mut found = Vec::new();
    let mut reader = SectionReader::new(section, format!("interfaces > {}", section.name), &mut found);
    let key = reader.spelling("enabled", "interface_enabled");
    let enabled = reader.flag(key).unwrap_or(false);
    let kind = reader.needed_text("type", "which kind of interface it is");
    let Some(kind) = kind.filter(|kind| check_type(&mut reader, kind)) else {
        if enabled {
            diagnostics.append(&mut found);
        }
        return None;
    };
    let medium = read_medium(&mut reader, &kind, network);
    let config = read_common(&mut reader, &section.name, medium, defaults);
    if let Err(error) = config.as_ref().map_or(Ok(()), InterfaceConfig::validate) {
        reader.reject_section(Problem::Interface(error));
    }
    let errors = reader.finish();
    diagnostics.append(&mut found);
    config.filter(|_| errors == 0).map(|config| ConfiguredInterface { line: section.line, enabled, config })
}

/// Reads what every kind has. Without medium it is read for its mistakes only.
fn read_common(
    reader: &mut SectionReader<'_>,
    name: &str,
    medium: Option<Medium>,
    defaults: &InterfaceDefaults,
) -> Option<InterfaceConfig> {
    let key = reader.spelling("mode", "interface_mode");
    let mode = reader.choice(key, &MODES);
    let outgoing = reader.flag("outgoing");
    let bitrate = reader.number("bitrate", 5..=u64::MAX);
    let fixed_mtu = reader.number("fixed_mtu", 500..=proto_rns::iface::MAX_MTU);
    let access = read_access(reader);
    // In percent. More than nothing, for else no announce would ever be passed on.
    let announce_cap = reader.number("announce_cap", 0.01..=100.0);
    let announce_rate = read_announce_rate(reader).or(defaults.announce_rate);
    let is_limited = reader.flag("ingress_control").unwrap_or(true);
    let bursts = BurstSettings::read(reader);
    let egress_control = reader.flag("egress_control").unwrap_or(defaults.egress_control);
    let egress = reader.number("ec_pr_freq", 0.0..=1e6).or(defaults.path_request_egress);
    let gravity = reader.number("gravity", i64::MIN..=i64::MAX).or(defaults.gravity);
    let recursive = reader.flag("recursive_prs");
    let from_internal = reader.flag("announces_from_internal");
    let to_internal = reader.flag("announces_to_internal");
    let max_reconnects = reader.number("max_reconnect_tries", 0..=u32::MAX);
    reader.no_effect(&WITHOUT_EFFECT);

    let base = InterfaceConfig::new(name, medium?);
    let limit = |control: Option<BurstControl>,
                 settings: fn(&BurstSettings, BurstControl) -> BurstControl| {
        control.filter(|_| is_limited).map(|control| settings(&bursts, settings(&defaults.bursts, control)))
    };
    Some(InterfaceConfig {
        mode: mode.unwrap_or(base.mode),
        outgoing: outgoing.unwrap_or(base.outgoing),
        bitrate: bitrate.unwrap_or(base.bitrate),
        fixed_mtu,
        access,
        announce_cap: announce_cap.map_or(base.announce_cap, |percent| percent / 100.0),
        announce_rate,
        announce_ingress: limit(base.announce_ingress, BurstSettings::announces),
        path_request_ingress: limit(base.path_request_ingress, BurstSettings::path_requests),
        path_request_egress: egress_control.then(|| egress.unwrap_or(DEFAULT_EGRESS)),
        gravity,
        recursive_path_requests: recursive.unwrap_or(base.recursive_path_requests),
        announces_from_internal: from_internal.unwrap_or(base.announces_from_internal),
        announces_to_internal: to_internal.unwrap_or(base.announces_to_internal),
        max_reconnects,
        ..base
    })
}

/// Path requests a second that an interface sends at most, once that is limited.
const DEFAULT_EGRESS: f64 = 5.0;

/// Reads the access code, whose length is in bits. A length without secret has no effect, as in the reference.
fn read_access(reader: &mut SectionReader<'_>) -> Option<AccessConfig> {
    let key = reader.spelling("network_name", "networkname");
    let network_name = reader.text(key);
    let key = reader.spelling("passphrase", "pass_phrase");
    let passphrase = reader.text(key);
    let size = reader.number("ifac_size", 8_usize..=512).map(|bits| bits / 8);
    (network_name.is_some() || passphrase.is_some()).then_some(AccessConfig {
        network_name,
        passphrase,
        size,
    })
}

fn read_announce_rate(reader: &mut SectionReader<'_>) -> Option<AnnounceRate> {
    let target = reader.number("announce_rate_target", 1_u64..=31_536_000);
    let grace = reader.number("announce_rate_grace", 0..=1_000_000).unwrap_or(0);
    let penalty = reader.number("announce_rate_penalty", 0_u64..=31_536_000).unwrap_or(0);
    let rate = |target| AnnounceRate {
        target: Duration::from_secs(target),
        grace,
        penalty: Duration::from_secs(penalty),
    };
    target.map(rate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Device, Severity, read_config};
    use proto_rns::iface::{Framing, Target};
    use std::net::{IpAddr, Ipv4Addr, SocketAddr};

    /// One host and one device.
    struct Lan;

    impl Network for Lan {
        fn resolve(&self, host: &str) -> Vec<IpAddr> {
            if host == "here" { vec![Ipv4Addr::new(10, 0, 0, 1).into()] } else { Vec::new() }
        }

        fn device(&self, name: &str) -> Vec<Device> {
            let device = Device {
                address: Ipv4Addr::new(10, 0, 0, 1).into(),
                broadcast: Some(Ipv4Addr::new(10, 0, 0, 255).into()),
            };
            if name == "eth0" { vec![device] } else { Vec::new() }
        }
    }

    fn read(interfaces: &str) -> (Vec<ConfiguredInterface>, Vec<Diagnostic>) {
        let (config, diagnostics) = read_config(&format!("[interfaces]\n{interfaces}"), &Lan);
        (config.interfaces, diagnostics)
    }

    fn good(keys: &str) -> InterfaceConfig {
        let (interfaces, diagnostics) = read(&format!("[[X]]\nenabled = yes\n{keys}\n"));
        assert_eq!(diagnostics, []);
        interfaces[0].config.clone()
    }

    fn wrong(keys: &str) -> Vec<String> {
        let (interfaces, diagnostics) = read(&format!("[[X]]\nenabled = yes\n{keys}\n"));
        assert!(interfaces.is_empty());
        diagnostics.iter().map(|diagnostic| format!("{} {}", diagnostic.line, diagnostic.problem)).collect()
    }

    fn at(ip: [u8; 4], port: u16) -> SocketAddr {
        SocketAddr::from((ip, port))
    }

    const SERVER: &str = "type = TCPServerInterface\nlisten_ip = 127.0.0.1\nlisten_port = 4242\n";

    #[test]
    fn every_kind_is_read_in_each_of_its_spellings() {
        let server = |bind, framing, backbone| Medium::TcpServer { bind, framing, backbone };
        let client = |target, framing, backbone| Medium::TcpClient { target, framing, backbone };
        let name = Target::Name { host: "example.org".into(), port: 4_242 };
        let address = Target::Address(at([10, 0, 0, 2], 4_242));
        let udp = |bind, forward| Medium::Udp { bind, forward };
        let cases = [
            (SERVER, server(at([127, 0, 0, 1], 4_242), Framing::Hdlc, false)),
            (
                "type = TCPServerInterface\ndevice = eth0\nport = 7\nkiss_framing = yes",
                server(at([10, 0, 0, 1], 7), Framing::Kiss, false),
            ),
            (
                "type = BackboneInterface\nlisten_on = here\nport = 7",
                server(at([10, 0, 0, 1], 7), Framing::Hdlc, true),
            ),
            (
                "type = TCPClientInterface\ntarget_host = example.org\ntarget_port = 4242",
                client(name.clone(), Framing::Hdlc, false),
            ),
            (
                "type = BackboneInterface\nremote = 10.0.0.2\ntarget_port = 4242",
                client(address.clone(), Framing::Hdlc, true),
            ),
            (
                "type = BackboneClientInterface\ntarget_host = example.org\ntarget_port = 4242",
                client(name, Framing::Hdlc, true),
            ),
            (
                "type = UDPInterface\nlisten_ip = 0.0.0.0\nlisten_port = 1\nforward_ip = 255.255.255.255\n\
                 forward_port = 2",
                udp(at([0; 4], 1), Some(at([255; 4], 2))),
            ),
            (
                "type = UDPInterface\ndevice = eth0\nport = 3",
                udp(at([10, 0, 0, 255], 3), Some(at([10, 0, 0, 255], 3))),
            ),
            ("type = UDPInterface\nlisten_ip = 127.0.0.1\nport = 3", udp(at([127, 0, 0, 1], 3), None)),
            ("type = PipeInterface\ncommand = 'cat -u, now'", Medium::Pipe { command: "cat -u, now".into() }),
            (
                "type = SerialInterface\nport = /dev/ttyUSB0\nparity = None",
                Medium::Serial { device: "/dev/ttyUSB0".into(), baud: 9_600 },
            ),
        ];
        for (keys, medium) in cases {
            assert_eq!(good(keys).medium, medium, "{keys}");
        }
    }

    #[test]
    fn every_common_option_is_taken() {
        let keys = "interface_mode = gateway
            outgoing = no
            bitrate = 62500
            fixed_mtu = 600
            networkname = net
            pass_phrase = word
            ifac_size = 64
            announce_cap = 50
            announce_rate_target = 60
            announce_rate_grace = 2
            announce_rate_penalty = 30
            ic_new_time = 10
            ic_burst_freq = 20
            ic_pr_burst_freq = 30
            ic_max_held_announces = 40
            egress_control = yes
            gravity = -3
            recursive_prs = yes
            announces_from_internal = no
            announces_to_internal = no
            max_reconnect_tries = 5";
        let config = good(&format!("{SERVER}{keys}"));
        let base = InterfaceConfig::new("X", config.medium.clone());
        let announces = BurstControl {
            new_time: Duration::from_secs(10),
            frequency: 20.0,
            max_held: 40,
            ..BurstControl::ANNOUNCES
        };
        let expected = InterfaceConfig {
            mode: Mode::Gateway,
            outgoing: false,
            bitrate: 62_500,
            fixed_mtu: Some(600),
            access: Some(AccessConfig {
                network_name: Some("net".into()),
                passphrase: Some("word".into()),
                size: Some(8),
            }),
            announce_cap: 0.5,
            announce_rate: Some(AnnounceRate {
                target: Duration::from_secs(60),
                grace: 2,
                penalty: Duration::from_secs(30),
            }),
            announce_ingress: Some(announces),
            path_request_ingress: Some(BurstControl { frequency: 30.0, ..announces }),
            path_request_egress: Some(5.0),
            gravity: Some(-3),
            recursive_path_requests: true,
            announces_from_internal: false,
            announces_to_internal: false,
            max_reconnects: Some(5),
            ..base
        };
        assert_eq!(config, expected);
        assert_eq!(good(&format!("{SERVER}mode = AP")).mode, Mode::AccessPoint);
        assert_eq!(good(&format!("{SERVER}ingress_control = no")).announce_ingress, None);
    }

    #[test]
    fn defaults_come_from_the_section_reticulum() {
        let text = format!(
            "[reticulum]\nenable_transport = yes\ndefault_gravity = 7\nic_burst_freq = 4\n\
             default_ar_target = 50\n[interfaces]\n[[X]]\nic_burst_freq_new = 1\n{SERVER}[[Y]]\ngravity = 1\n{SERVER}"
        );
        let (config, diagnostics) = read_config(&text, &Lan);
        assert_eq!(diagnostics, []);
        let [x, y] = &config.interfaces[..] else { panic!("two interfaces") };
        assert_eq!((x.config.gravity, y.config.gravity), (Some(7), Some(1)));
        let burst = x.config.announce_ingress.unwrap();
        assert_eq!((burst.frequency, burst.frequency_new), (4.0, 1.0));
        let rate = AnnounceRate { target: Duration::from_secs(50), grace: 5, penalty: Duration::ZERO };
        assert_eq!(x.config.announce_rate, Some(rate));
        assert_eq!(good(SERVER).announce_rate, None);
    }

    #[test]
    fn each_mistake_is_told_and_the_interface_left_out() {
        assert_eq!(
            wrong(
                "type = TCPClientInterface\ntarget_port = 70000\nmode = weird\nannounce_cap = 0\nifac_size = 4"
            ),
            [
                "2 missing; it says where to connect",
                "5 \"70000\" is not a number from 1 to 65535",
                "6 \"weird\" is not one of full, access_point, accesspoint, ap, pointtopoint, ptp, roaming, \
                 boundary, gateway, gw, internal",
                "7 \"0\" is not a number from 0.01 to 100",
                "8 \"4\" is not a number from 8 to 512",
            ]
        );
        assert_eq!(wrong(&format!("{SERVER}mode = ap\ninterface_mode = full")).len(), 1);
        assert_eq!(
            wrong("type = TCPServerInterface\nport = 1\nlisten_ip = there")[0],
            "6 there is no host \"there\""
        );
        assert_eq!(wrong("type = TCPServerInterface\nport = 1").len(), 1);
        assert_eq!(wrong("type = UDPInterface").len(), 2);
        assert_eq!(wrong("type = UDPInterface\nport = 1\ndevice = eth9").len(), 1);
        assert_eq!(wrong("type = PipeInterface\ncommand =").len(), 1);
        assert_eq!(wrong("type = SerialInterface\nport = x\nparity = even").len(), 1);
        assert_eq!(wrong("").len(), 1);
        assert_eq!(wrong("type = TCPServer")[0], "4 there is no interface of type \"TCPServer\"");
    }

    #[test]
    fn kinds_that_this_program_has_not_say_which_it_has_unless_they_are_off() {
        let keys = "type = RNodeInterface\nport = ble://\nfrequency = 867200000";
        let (interfaces, diagnostics) =
            read(&format!("[[R]]\nenabled = yes\n{keys}\n[[X]]\n{SERVER}enabled = yes"));
        assert_eq!(interfaces.len(), 1);
        assert_eq!(diagnostics.len(), 1);
        assert!(
            diagnostics[0].to_string().contains("this program has no RNodeInterface; use one of TCPClient")
        );
        assert_eq!(read(&format!("[[R]]\nenabled = no\n{keys}")), (Vec::new(), Vec::new()));
    }

    #[test]
    fn unknown_keys_warn_and_do_not_stop_the_interface() {
        let (interfaces, diagnostics) = read(&format!("[[X]]\nenabled = yes\n{SERVER}anounce_cap = 1\n"));
        assert!(interfaces[0].enabled);
        assert_eq!(diagnostics[0].severity(), Severity::Warning);
        assert_eq!(diagnostics[0].problem, Problem::UnknownKey { nearest: Some("announce_cap") });
    }

    #[test]
    fn an_interface_starts_only_when_enabled() {
        assert!(!read(&format!("[[X]]\n{SERVER}")).0[0].enabled);
        assert!(read(&format!("[[X]]\ninterface_enabled = True\n{SERVER}")).0[0].enabled);
        assert_eq!(read(&format!("[[X]]\nenabled = maybe\n{SERVER}")).0, []);
    }
}
