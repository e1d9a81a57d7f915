//! Making UDP sockets that belong to a multicast group.

use socket2::{Domain, InterfaceIndexOrAddress, Protocol, Socket, Type};
use std::{
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr},
};

/// Makes a non-blocking UDP socket that hears what is sent to `group` on an interface, and sends there. Interface 0 is
/// the one that the operating system chooses. Other sockets of this host may belong to the same group; each hears what
/// the others, and itself, send.
///
/// # Errors
/// The operating system's error: the port is in use for something else, or there is no such interface.
pub(crate) fn bind_multicast(group: SocketAddr, interface: u32) -> io::Result<std::net::UdpSocket> {
    let socket = Socket::new(Domain::for_address(group), Type::DGRAM, Some(Protocol::UDP))?;
    socket.set_nonblocking(true)?;
    socket.set_reuse_address(true)?;
    socket.bind(&bind_address(group).into())?;
    match group.ip() {
        IpAddr::V4(ip) => {
            socket.join_multicast_v4_n(&ip, &InterfaceIndexOrAddress::Index(interface))?;
            socket.set_multicast_loop_v4(true)?;
            send_on(&socket, interface)?;
        }
        IpAddr::V6(ip) => {
            socket.join_multicast_v6(&ip, interface)?;
            socket.set_multicast_loop_v6(true)?;
            socket.set_multicast_if_v6(interface)?;
        }
    }
    Ok(socket.into())
}

/// Unix sockets bound to the group hear nothing else; other systems bind to local addresses only.
fn bind_address(group: SocketAddr) -> SocketAddr {
    if cfg!(unix) {
        return group;
    }
    let mut address = group;
    address.set_ip(match group {
        SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        SocketAddr::V6(_) => IpAddr::V6(std::net::Ipv6Addr::UNSPECIFIED),
    });
    address
}

/// Sends IPv4 datagrams for groups on an interface.
#[cfg(target_os = "linux")]
fn send_on(socket: &Socket, interface: u32) -> io::Result<()> {
    let any = Ipv4Addr::UNSPECIFIED;
    Ok(rustix::net::sockopt::set_ip_multicast_if_with_ifindex(socket, &any, &any, interface)?)
}

/// Elsewhere the routing table says where IPv4 datagrams for groups leave.
#[cfg(not(target_os = "linux"))]
fn send_on(_socket: &Socket, _interface: u32) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[cfg(target_os = "linux")]
    #[test]
    fn members_of_a_group_hear_each_other_on_the_interface_they_chose() {
        const LOOPBACK: u32 = 1;
        for group in ["239.255.71.3:42671", "[ff12::4267]:42671"] {
            let group: SocketAddr = group.parse().unwrap();
            let (Ok(first), Ok(second)) = (bind_multicast(group, LOOPBACK), bind_multicast(group, LOOPBACK))
            else {
                continue; // a host without this family
            };
            if let Err(error) = first.send_to(b"hello", group) {
                eprintln!("skipped {group}: {error}");
                continue;
            }
            for member in [&first, &second] {
                member.set_nonblocking(false).unwrap();
                member.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
                let mut buffer = [0; 16];
                assert_eq!(member.recv_from(&mut buffer).unwrap().0, 5, "{group}");
            }
        }
    }
}
