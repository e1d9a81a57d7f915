//! Ports of the loopback interface.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};

use crate::peers::until;

/// Asks the operating system for a TCP port that is free now, for daemons that cannot tell which one they got.
pub(super) fn free() -> u16 {
    let probe = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    probe.local_addr().expect("a bound socket").port()
}

/// Waits until somebody listens on a port.
///
/// # Panics
/// Nobody does.
pub(super) fn until_served(port: u16) {
    until(|| TcpStream::connect(local(port)).ok()).unwrap_or_else(|| panic!("nobody serves port {port}"));
}

pub(super) fn local(port: u16) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, port).into()
}
