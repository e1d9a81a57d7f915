//! The one interface of each process.

use std::{
    io,
    net::{SocketAddr, TcpListener},
};

use bench_peer::rns::Mtu;
use proto_rns::iface::{Framing, InterfaceConfig, Medium, Target};

/// A listener.
pub(crate) fn server(bind: SocketAddr, mtu: Mtu) -> InterfaceConfig {
    let backbone = mtu == Mtu::Default;
    limited(InterfaceConfig::new("bench", Medium::TcpServer { bind, framing: Framing::Hdlc, backbone }), mtu)
}

/// A connection.
pub(crate) fn client(address: SocketAddr, mtu: Mtu) -> InterfaceConfig {
    let (target, backbone) = (Target::Address(address), mtu == Mtu::Default);
    limited(
        InterfaceConfig::new("bench", Medium::TcpClient { target, framing: Framing::Hdlc, backbone }),
        mtu,
    )
}

/// An address that is free now. A node tells nobody which port the system chose for its listener, so it is chosen here.
pub(crate) fn free_address(address: SocketAddr) -> io::Result<SocketAddr> {
    TcpListener::bind(address)?.local_addr()
}

fn limited(mut config: InterfaceConfig, mtu: Mtu) -> InterfaceConfig {
    config.fixed_mtu = match mtu {
        Mtu::Default => None,
        Mtu::Fixed(bytes) => Some(bytes),
    };
    config
}
