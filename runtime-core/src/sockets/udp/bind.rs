//! Making UDP sockets.

use proto_core::DatagramOptions;
use socket2::{Domain, Protocol, Socket, Type};
use std::{
    io,
    net::{SocketAddr, UdpSocket},
};

use super::{
    DatagramSource,
    options::{before_bind, for_packets},
};

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

impl From<UdpOptions> for DatagramOptions {
    fn from(options: UdpOptions) -> Self {
        let bytes = |wanted| Some(u32::try_from(wanted).unwrap_or(u32::MAX));
        Self {
            reuse_port: options.reuse_port,
            receive_buffer: bytes(options.receive_buffer),
            send_buffer: bytes(options.send_buffer),
            ..Self::default()
        }
    }
}

/// Makes a non-blocking UDP socket bound to `address`. An unspecified IPv6 address takes IPv4 peers too, where the
/// system can do that.
///
/// # Errors
/// The operating system's error: the address is in use or not ours, or `reuse_port` is not to be had.
pub fn bind_udp(address: SocketAddr, options: UdpOptions) -> io::Result<UdpSocket> {
    make(address, &options.into())
}

/// Makes a non-blocking UDP socket as a machine asks for it, connected to `peer` where given. Buffers that `options`
/// leaves open are as large as the default of [`UdpOptions`].
///
/// # Errors
/// The operating system's error: an address is not to be had, or an option is not.
pub fn open_udp(
    bind: SocketAddr,
    peer: Option<SocketAddr>,
    options: &DatagramOptions,
) -> io::Result<DatagramSource> {
    let socket = make(bind, &with_buffers(options))?;
    if let Some(peer) = peer {
        socket.connect(peer)?;
    }
    Ok(DatagramSource { socket, dont_fragment: options.dont_fragment })
}

/// Fills in the sizes of buffers that were left open.
pub(super) fn with_buffers(options: &DatagramOptions) -> DatagramOptions {
    let default = DatagramOptions::from(UdpOptions::default());
    DatagramOptions {
        receive_buffer: options.receive_buffer.or(default.receive_buffer),
        send_buffer: options.send_buffer.or(default.send_buffer),
        ..options.clone()
    }
}

fn make(address: SocketAddr, options: &DatagramOptions) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
    socket.set_nonblocking(true)?;
    if address.is_ipv6() && address.ip().is_unspecified() {
        // Where dual-stack sockets do not exist, one for IPv6 alone is still what was asked for.
        let _ = socket.set_only_v6(false);
    }
    if address.is_ipv4() {
        // A machine that sends to everybody on its network (a Reticulum interface may) needs no other permission.
        let _ = socket.set_broadcast(true);
    }
    before_bind(&socket, options)?;
    socket.bind(&address.into())?;
    for_packets(&socket, address.is_ipv4(), options)?;
    Ok(socket.into())
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
        UdpSocket::bind(LOOPBACK).unwrap().send_to(b"hi", ("127.0.0.1", port)).unwrap();
        assert_eq!(socket.recv_from(&mut [0; 8]).unwrap().0, 2);
    }
}
