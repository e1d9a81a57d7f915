//! The foreign implementations there are.

use std::process::Command;

use super::{install, wishes};

/// A foreign implementation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Implementation {
    /// npm `raknet-native`: C++ RakNet, as Bedrock tools use it.
    RaknetNative,
    /// PyPI `raknet`: C++ RakNet 4.081.
    PythonRaknet,
    /// npm `jsp-raknet`: JavaScript, protocol version 10.
    JspRaknet,
    /// crates.io `rust-raknet`.
    RustRaknet,
    /// crates.io `rak-rs`.
    RakRs,
    /// crates.io `tokio-raknet`.
    TokioRaknet,
    /// npm `bedrock-protocol`: a Bedrock client and server on raknet-native.
    BedrockProtocol,
    /// PyPI `rns`, the Reticulum reference, and PyPI `lxmf` on it.
    PythonReticulum,
}

impl Implementation {
    /// Returns the name that `IOLITE_SKIP_PEERS` knows it by.
    pub const fn name(self) -> &'static str {
        match self {
            Self::RaknetNative => "raknet-native",
            Self::PythonRaknet => "raknet-python",
            Self::JspRaknet => "jsp-raknet",
            Self::RustRaknet => "rust-raknet",
            Self::RakRs => "rak-rs",
            Self::TokioRaknet => "tokio-raknet",
            Self::BedrockProtocol => "bedrock-protocol",
            Self::PythonReticulum => "rns-python",
        }
    }

    /// Says, and prints, whether the tests of this peer are to be left out (`IOLITE_SKIP_PEERS`).
    pub fn is_skipped(self) -> bool {
        wishes::is_skipped(self.name())
    }

    /// Says whether its server can listen on a port of the operating system's choice and tell which.
    pub(super) const fn tells_its_port(self) -> bool {
        match self {
            Self::PythonRaknet | Self::JspRaknet | Self::RustRaknet | Self::TokioRaknet => true,
            Self::RaknetNative | Self::RakRs | Self::BedrockProtocol | Self::PythonReticulum => false,
        }
    }

    /// Returns the command that runs it, after it was installed where need be.
    pub(super) fn command(self) -> Command {
        let installed = match self {
            Self::RaknetNative => install::node_script("raknet-native.js"),
            Self::JspRaknet => install::node_script("jsp-raknet.js"),
            Self::BedrockProtocol => install::node_script("bedrock-protocol.js"),
            Self::PythonRaknet => install::python_script("raknet_peer.py"),
            Self::PythonReticulum => install::python_script("rns_peer.py"),
            Self::RustRaknet | Self::RakRs | Self::TokioRaknet => install::rust_binary(self.name()),
        };
        self.had(installed)
    }

    /// Takes what was installed for it.
    ///
    /// # Panics
    /// It could not be installed.
    pub(crate) fn had(self, installed: Result<Command, String>) -> Command {
        wishes::had(self.name(), installed)
    }
}
