//! How a session is opened.

use clap::Args;
use proto_raknet::{ConnectOptions, wire::ProtocolVersion};
use std::time::Duration;

use crate::args::values;

/// Options of every command that opens sessions.
#[derive(Clone, Debug, Args)]
pub(crate) struct Connect {
    /// The RakNet protocol version to speak: 11 is current Bedrock, 6 stock RakNet.
    #[arg(long, value_name = "VERSION", default_value_t = 11)]
    pub(crate) protocol: u8,

    /// The server's password.
    #[arg(long)]
    pub(crate) password: Option<String>,

    /// How long opening a session may take.
    #[arg(long, value_name = "TIME", value_parser = values::time, default_value = "10s")]
    pub(crate) timeout: Duration,

    #[command(flatten)]
    pub(crate) family: Family,
}

impl Connect {
    /// Returns the protocol's options.
    pub(crate) fn options(&self) -> ConnectOptions {
        ConnectOptions {
            protocol_version: ProtocolVersion(self.protocol),
            password: self.password.clone().unwrap_or_default().into(),
            timeout: self.timeout,
            ..ConnectOptions::default()
        }
    }
}

/// Which kind of address a host name stands for.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct Family {
    /// Use IPv4 only.
    #[arg(short = '4', long, conflicts_with = "ipv6")]
    pub(crate) ipv4: bool,

    /// Use IPv6 only.
    #[arg(short = '6', long)]
    pub(crate) ipv6: bool,
}
