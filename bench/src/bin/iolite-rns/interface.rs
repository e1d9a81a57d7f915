//! The one interface of each process.

use std::net::{SocketAddr, TcpListener};

use bench_peer::{Fault, rns::Mtu};
use proto_rns::iface::{Framing, InterfaceConfig, Medium, Target};
use runtime_tokio::rns::RnsNode;

/// Opens a listener; returns its address once it accepts connections.
pub(crate) async fn listen(node: &RnsNode, address: SocketAddr, mtu: Mtu) -> Result<SocketAddr, Fault> {
    // A node tells nobody which port the system chose for its listener, so a free one is chosen here.
    let bind = TcpListener::bind(address)?.local_addr()?;
    let medium = Medium::TcpServer { bind, framing: Framing::Hdlc, backbone: mtu == Mtu::Default };
    let interface = node.add_interface(limited(InterfaceConfig::new("bench", medium), mtu))?;
    node.interface_up(interface).await?;
    Ok(bind)
}

/// A connection.
pub(crate) fn client(address: SocketAddr, mtu: Mtu) -> InterfaceConfig {
    let (target, backbone) = (Target::Address(address), mtu == Mtu::Default);
    limited(
        InterfaceConfig::new("bench", Medium::TcpClient { target, framing: Framing::Hdlc, backbone }),
        mtu,
    )
}

fn limited(mut config: InterfaceConfig, mtu: Mtu) -> InterfaceConfig {
    config.fixed_mtu = match mtu {
        Mtu::Default => None,
        Mtu::Fixed(bytes) => Some(bytes),
    };
    config
}
