//! Making UDP sockets.

use socket2::{Domain, Protocol, Socket, Type};
use std::{io, net::SocketAddr};

/// How a UDP socket is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UdpOptions {
    /// Let several sockets share the address, so that the kernel spreads peers over them (`SO_REUSEPORT`).
    pub reuse_port: bool,
    /// The kernel buffer for arriving datagrams to ask for, in bytes. The kernel may give less.
    pub receive_buffer: usize,
    /// The kernel buffer for leaving datagrams to ask for, in bytes. The kernel may give less.
    pub send_buffer: usize,
}

impl Default for UdpOptions {
    fn default() -> Self {
        Self { reuse_port: false, receive_buffer: 4 << 20, send_buffer: 1 << 20 }
    }
}

/// Makes a non-blocking UDP socket bound to `address`. An unspecified IPv6 address takes IPv4 peers too, where the
/// system can do that.
///
/// # Errors
/// The operating system's error: the address is in use or not ours, or `reuse_port` is not to be had.
pub fn bind_udp(address: SocketAddr, options: UdpOptions) -> io::Result<std::net::UdpSocket> {
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
    socket.set_nonblocking(true)?;
    if address.is_ipv6() && address.ip().is_unspecified() {
        // Where dual-stack sockets do not exist, one for IPv6 alone is still what was asked for.
        let _ = socket.set_only_v6(false);
    }
    if options.reuse_port {
        share_port(&socket)?;
    }
    if address.is_ipv4() {
        // A machine that sends to everybody on its network (a Reticulum interface may) needs no other permission.
        let _ = socket.set_broadcast(true);
    }
    // A small buffer costs datagrams under load but breaks nothing.
    let _ = socket.set_recv_buffer_size(options.receive_buffer);
    let _ = socket.set_send_buffer_size(options.send_buffer);
    socket.bind(&address.into())?;
    Ok(socket.into())
}

#[cfg(unix)]
fn share_port(socket: &Socket) -> io::Result<()> {
    socket.set_reuse_port(true)
}

#[cfg(not(unix))]
fn share_port(_socket: &Socket) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "SO_REUSEPORT does not exist here"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOPBACK: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);

    #[test]
    fn two_sockets_share_a_port_only_when_both_want_to() {
        let sharing = UdpOptions { reuse_port: true, ..UdpOptions::default() };
        let first = bind_udp(LOOPBACK, sharing).unwrap();
        let taken = first.local_addr().unwrap();
        assert_eq!(bind_udp(taken, UdpOptions::default()).unwrap_err().kind(), io::ErrorKind::AddrInUse);
        assert_eq!(bind_udp(taken, sharing).unwrap().local_addr().unwrap(), taken);
    }

    #[test]
    fn an_unspecified_ipv6_socket_hears_ipv4() {
        let Ok(socket) = bind_udp("[::]:0".parse().unwrap(), UdpOptions::default()) else {
            return; // a host without IPv6
        };
        socket.set_nonblocking(false).unwrap();
        socket.set_read_timeout(Some(std::time::Duration::from_secs(5))).unwrap();
        let port = socket.local_addr().unwrap().port();
        std::net::UdpSocket::bind(LOOPBACK).unwrap().send_to(b"hi", ("127.0.0.1", port)).unwrap();
        assert_eq!(socket.recv_from(&mut [0; 8]).unwrap().0, 2);
    }
}
