//! Setting what a machine asks of a datagram socket.

use proto_core::DatagramOptions;
use socket2::Socket;
use std::io;

/// Sets what counts from the bind on.
///
/// # Errors
/// The operating system's error: an option is not to be had, or there is no such device.
pub(super) fn before_bind(socket: &Socket, options: &DatagramOptions) -> io::Result<()> {
    if options.reuse_address {
        socket.set_reuse_address(true)?;
    }
    if options.reuse_port {
        share_port(socket)?;
    }
    if let Some(device) = &options.device {
        bind_device(socket, device)?;
    }
    // A small buffer costs datagrams under load but breaks nothing.
    if let Some(bytes) = options.receive_buffer {
        let _ = socket.set_recv_buffer_size(bytes as usize);
    }
    if let Some(bytes) = options.send_buffer {
        let _ = socket.set_send_buffer_size(bytes as usize);
    }
    Ok(())
}

/// Sets what counts for each packet of a bound socket.
///
/// # Errors
/// The operating system's error: an option is not to be had.
pub(super) fn for_packets(socket: &Socket, is_ipv4: bool, options: &DatagramOptions) -> io::Result<()> {
    if let Some(ttl) = options.ttl {
        set_ttl(socket, is_ipv4, ttl.into())?;
    }
    if let Some(class) = options.traffic_class {
        set_traffic_class(socket, is_ipv4, class)?;
    }
    if let Some(dont_fragment) = options.dont_fragment {
        set_fragmentation(socket, dont_fragment)?;
    }
    Ok(())
}

/// A socket of IPv6 may send to IPv4 peers too, where the options of both families count.
fn set_ttl(socket: &Socket, is_ipv4: bool, ttl: u32) -> io::Result<()> {
    if is_ipv4 {
        // Zero keeps a group's datagrams on this host; to a single address nothing could be sent with it.
        if ttl > 0 {
            socket.set_ttl_v4(ttl)?;
        }
        return socket.set_multicast_ttl_v4(ttl);
    }
    let _ = socket.set_ttl_v4(ttl);
    socket.set_unicast_hops_v6(ttl)?;
    socket.set_multicast_hops_v6(ttl)
}

#[cfg(unix)]
fn set_traffic_class(socket: &Socket, is_ipv4: bool, class: u8) -> io::Result<()> {
    let v4 = socket.set_tos_v4(class.into());
    if is_ipv4 { v4 } else { Ok(rustix::net::sockopt::set_ipv6_tclass(socket, class.into())?) }
}

#[cfg(not(unix))]
fn set_traffic_class(_socket: &Socket, _is_ipv4: bool, _class: u8) -> io::Result<()> {
    Err(not_here("the traffic class of datagrams cannot be set here"))
}

/// Says whether packets that are too long for the path are refused.
///
/// # Errors
/// The operating system's error.
#[cfg(target_os = "linux")]
pub(super) fn set_fragmentation(socket: &impl std::os::fd::AsFd, dont_fragment: bool) -> io::Result<()> {
    use rustix::net::sockopt::{
        Ipv4PathMtuDiscovery, Ipv6PathMtuDiscovery, set_ip_mtu_discover, set_ipv6_mtu_discover, socket_domain,
    };
    let v4 = if dont_fragment { Ipv4PathMtuDiscovery::DO } else { Ipv4PathMtuDiscovery::DONT };
    let v6 = if dont_fragment { Ipv6PathMtuDiscovery::DO } else { Ipv6PathMtuDiscovery::DONT };
    set_ip_mtu_discover(socket, v4)?;
    if socket_domain(socket)? == rustix::net::AddressFamily::INET6 {
        set_ipv6_mtu_discover(socket, v6)?;
    }
    Ok(())
}

/// Elsewhere the system decides.
#[cfg(not(target_os = "linux"))]
pub(super) fn set_fragmentation<S>(_socket: &S, _dont_fragment: bool) -> io::Result<()> {
    Err(not_here("fragmentation cannot be chosen here"))
}

#[cfg(unix)]
fn share_port(socket: &Socket) -> io::Result<()> {
    socket.set_reuse_port(true)
}

#[cfg(not(unix))]
fn share_port(_socket: &Socket) -> io::Result<()> {
    Err(not_here("SO_REUSEPORT does not exist here"))
}

#[cfg(target_os = "linux")]
fn bind_device(socket: &Socket, device: &str) -> io::Result<()> {
    socket.bind_device(Some(device.as_bytes()))
}

#[cfg(not(target_os = "linux"))]
fn bind_device(_socket: &Socket, _device: &str) -> io::Result<()> {
    Err(not_here("SO_BINDTODEVICE does not exist here"))
}

#[cfg(not(target_os = "linux"))]
fn not_here(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, what)
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::super::{bind_udp, open_udp};
    use super::*;
    use rustix::net::sockopt;

    #[test]
    fn everything_that_is_asked_for_is_set_before_and_after_batching() {
        let options = DatagramOptions {
            receive_buffer: Some(40_000),
            send_buffer: Some(50_000),
            ttl: Some(7),
            traffic_class: Some(0xb8),
            dont_fragment: Some(true),
            reuse_address: true,
            reuse_port: true,
            device: None,
        };
        for bind in ["127.0.0.1:0", "[::1]:0"] {
            let bind: std::net::SocketAddr = bind.parse().unwrap();
            let Ok(source) = open_udp(bind, None, &options) else {
                assert!(bind.is_ipv6(), "every host has IPv4");
                continue;
            };
            source.batching().unwrap();
            let socket = socket2::SockRef::from(&source.socket);
            assert_eq!(
                (socket.recv_buffer_size().unwrap(), socket.send_buffer_size().unwrap()),
                (80_000, 100_000)
            );
            assert!(socket.reuse_address().unwrap() && socket.reuse_port().unwrap());
            assert_eq!(sockopt::ip_mtu_discover(&source.socket), Ok(sockopt::Ipv4PathMtuDiscovery::DO));
            if bind.is_ipv4() {
                assert_eq!((socket.ttl_v4().unwrap(), socket.multicast_ttl_v4().unwrap()), (7, 7));
                assert_eq!(socket.tos_v4().unwrap(), 0xb8);
            } else {
                assert_eq!((socket.unicast_hops_v6().unwrap(), socket.multicast_hops_v6().unwrap()), (7, 7));
                assert_eq!(sockopt::ipv6_tclass(&source.socket), Ok(0xb8));
                assert_eq!(sockopt::ipv6_mtu_discover(&source.socket), Ok(sockopt::Ipv6PathMtuDiscovery::DO));
            }
        }
    }

    #[test]
    fn a_device_that_is_not_there_is_an_error() {
        let options = DatagramOptions { device: Some("no-such-device".into()), ..DatagramOptions::default() };
        assert!(open_udp("127.0.0.1:0".parse().unwrap(), None, &options).is_err());
        assert!(bind_udp("127.0.0.1:0".parse().unwrap(), super::super::UdpOptions::default()).is_ok());
    }
}
