//! The one interface of each process.

use std::io;

use bench_peer::rns::{Command, Mtu};
use personal_rns::{
    interfaces::{EffectiveInterfacePolicy, MtuPolicy, tcp},
    prelude::*,
    tcp::TcpServer,
};

/// A listener.
pub(crate) async fn server(command: &Command) -> io::Result<TcpServer> {
    TcpServer::bind_with_policy(command.address, policy(command.work.mtu)).await
}

/// A connection.
pub(crate) fn client(command: &Command) -> TcpClientInterface {
    TcpClientInterface::with_policy(
        command.address.to_string(),
        policy(command.work.mtu),
        ReconnectPolicy::STANDARD,
    )
}

fn policy(mtu: Mtu) -> EffectiveInterfacePolicy {
    let mut policy = tcp::policy_for_bitrate(tcp::TCP_BITRATE_ESTIMATE);
    if let Mtu::Fixed(bytes) = mtu {
        policy.mtu = MtuPolicy::fixed(bytes);
    }
    policy
}
