//! One node of the suite.

use crate::{
    call::{Failure, Params},
    mock::MockNode,
    tools::wall,
};
use proto_rns::{
    DestinationHash, IdentityHash,
    crypto::Dalek,
    identity::Identity,
    iface::{AnnounceRate, InterfaceConfig, InterfaceId, Mode},
    node::NodeConfig,
};
use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use super::announces::Handler;

/// A node, and what the suite attached to it.
#[derive(Debug)]
pub(super) struct Instance {
    pub(super) mock: MockNode,
    /// The interfaces by the suite's names for them.
    pub(super) interfaces: BTreeMap<String, InterfaceId>,
    /// What stands in for an interface where only a connection can do what is asked.
    pub(super) connections: BTreeMap<InterfaceId, InterfaceId>,
    pub(super) handlers: Vec<Handler>,
    /// The nodes whose lists of refused identities are used.
    pub(super) sources: Vec<IdentityHash>,
    /// Where the node's things are kept.
    pub(super) directory: PathBuf,
    pub(super) interface_defaults: InterfaceDefaults,
}

/// What interfaces have that say nothing else.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct InterfaceDefaults {
    rate_target: Option<f64>,
    rate_grace: Option<u32>,
    rate_penalty: Option<f64>,
    announce_cap: Option<f64>,
    bitrate: Option<u64>,
}

impl Instance {
    pub(super) fn start(params: Params<'_>) -> Result<Self, Failure> {
        if params.flag("connected_to_shared_instance", false) {
            return Err(Failure::new("NotImplementedError: a shared instance has an interface of its own"));
        }
        let identity = params.some_array("identity_seed")?.map(|seed| Identity::from_bytes(&Dalek, &seed));
        let transport = params.flag("enable_transport", true);
        let mock = MockNode::new(NodeConfig { transport, ..NodeConfig::default() }, identity, wall())?;
        let directory = std::env::temp_dir().join(format!(
            "rns-bridge-{}",
            hex::encode(crate::tools::seed().first_chunk::<8>().unwrap_or(&[0; 8]))
        ));
        Ok(Self {
            mock,
            interfaces: BTreeMap::new(),
            connections: BTreeMap::new(),
            handlers: Vec::new(),
            sources: Vec::new(),
            directory,
            interface_defaults: InterfaceDefaults::read(params, Self::NO_DEFAULTS)?,
        })
    }

    const NO_DEFAULTS: InterfaceDefaults = InterfaceDefaults {
        rate_target: None,
        rate_grace: None,
        rate_penalty: None,
        announce_cap: None,
        bitrate: None,
    };

    pub(super) fn interface(&self, params: Params<'_>, name: &str) -> Result<InterfaceId, Failure> {
        let known = params.text(name)?;
        let unknown = || Failure::new(format!("ValueError: Unknown iface_id: {known}"));
        self.interfaces.get(known).copied().ok_or_else(unknown)
    }

    /// Returns the suite's name for an interface.
    pub(super) fn name_of(&self, id: InterfaceId) -> Option<&str> {
        self.interfaces.iter().find(|(_, known)| **known == id).map(|(name, _)| name.as_str())
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // Best effort: what is left behind in the host's directory for such things does no harm.
        drop(std::fs::remove_dir_all(&self.directory));
    }
}

impl InterfaceDefaults {
    pub(super) fn read(params: Params<'_>, otherwise: Self) -> Result<Self, Failure> {
        Ok(Self {
            rate_target: params.seconds("announce_rate_target").or(otherwise.rate_target),
            rate_grace: params.some_number("announce_rate_grace")?.or(otherwise.rate_grace),
            rate_penalty: params.seconds("announce_rate_penalty").or(otherwise.rate_penalty),
            announce_cap: params.seconds("announce_cap").or(otherwise.announce_cap),
            bitrate: params.some_number("bitrate")?.or(otherwise.bitrate),
        })
    }

    pub(super) fn apply(self, config: &mut InterfaceConfig) {
        config.announce_rate = self.rate_target.map(|target| AnnounceRate {
            target: Duration::from_secs_f64(target),
            grace: self.rate_grace.unwrap_or(0),
            penalty: Duration::from_secs_f64(self.rate_penalty.unwrap_or(0.0)),
        });
        config.announce_cap = self.announce_cap.unwrap_or(config.announce_cap);
        config.bitrate = self.bitrate.unwrap_or(config.bitrate);
    }
}

pub(super) fn mode(name: &str) -> Mode {
    match name {
        "POINT_TO_POINT" => Mode::PointToPoint,
        "ACCESS_POINT" => Mode::AccessPoint,
        "ROAMING" => Mode::Roaming,
        "BOUNDARY" => Mode::Boundary,
        "GATEWAY" => Mode::Gateway,
        _ => Mode::Full,
    }
}

pub(super) fn destination(params: Params<'_>, name: &str) -> Result<DestinationHash, Failure> {
    Ok(DestinationHash::new(params.array(name)?))
}
