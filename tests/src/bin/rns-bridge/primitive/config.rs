//! The reference's config file.

use crate::{
    call::{Answer, Failure, Params},
    tools::Workbench,
};
use proto_rns::iface::{InterfaceConfig, Mode};
use rns_host::config::{SystemNetwork, read_config};
use serde_json::{Value, json};

pub(super) fn answer(_bench: &mut Workbench, command: &str, params: Params<'_>) -> Option<Answer> {
    Some(match command {
        "config_parse_interface" => parse(params),
        _ => return None,
    })
}

/// Reads a config file with one interface. The suite's own type of interface stands for any; here a UDP interface does
/// for it.
fn parse(params: Params<'_>) -> Answer {
    let name = params.text("interface_name")?;
    let probe = "type = UDPInterface\n    listen_ip = 127.0.0.1\n    listen_port = 4242\n    \
                 forward_ip = 127.0.0.1\n    forward_port = 4242";
    let text = params.text("config_text")?.replace("type = ConfigParseProbeInterface", probe);
    let (config, mistakes) = read_config(&text, &SystemNetwork);
    match config.interfaces.iter().find(|interface| interface.config.name == name) {
        Some(interface) => Ok(described(&interface.config)),
        None => {
            let mistakes: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
            Err(Failure::new(format!("ValueError: {}", mistakes.join("; "))))
        }
    }
}

fn described(config: &InterfaceConfig) -> Value {
    let access = config.access.as_ref();
    let bursts = config.announce_ingress.as_ref();
    json!({
        "selected_interface_mode": config.mode as u8,
        "configured_bitrate": config.bitrate,
        "mode": config.mode as u8,
        "mode_name": mode_name(config.mode),
        "bitrate": config.bitrate,
        "announce_cap": config.announce_cap,
        "ifac_size": access.and_then(|access| access.size).unwrap_or(16),
        "default_ifac_size": 16,
        "discoverable": false,
        "ifac_netname": access.and_then(|access| access.network_name.as_deref()),
        "ifac_netkey": access.and_then(|access| access.passphrase.as_deref()),
        "ifac_active": access.is_some(),
        "ic_max_held_announces": bursts.map(|of| of.max_held),
        "ic_burst_hold": bursts.map(|of| of.hold.as_secs_f64()),
        "ic_burst_freq_new": bursts.map(|of| of.frequency_new),
        "ic_burst_freq": bursts.map(|of| of.frequency),
        "ic_new_time": bursts.map(|of| of.new_time.as_secs_f64()),
        "ic_burst_penalty": bursts.map(|of| of.penalty.as_secs_f64()),
        "ic_held_release_interval": bursts.map(|of| of.release_interval.as_secs_f64()),
    })
}

const fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Full => "full",
        Mode::PointToPoint => "pointtopoint",
        Mode::AccessPoint => "access_point",
        Mode::Roaming => "roaming",
        Mode::Boundary => "boundary",
        Mode::Gateway => "gateway",
        Mode::Internal => "internal",
    }
}
