//! Making UDP sockets that belong to a multicast group.

use proto_core::{DatagramOptions, Interface};
use socket2::{Domain, InterfaceIndexOrAddress, Protocol, Socket, Type};
use std::{
    io::{self, ErrorKind},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
};

use super::{
    DatagramSource,
    bind::with_buffers,
    options::{before_bind, for_packets},
};
use crate::sockets::interface::{index_of, ipv4_address_of};

/// A group to join.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Membership {
    /// The group and port.
    pub group: SocketAddr,
    /// The interface to join and to send on.
    pub interface: Interface,
    /// The only sender to hear, if the group is source-specific (RFC 4607). IPv4 only.
    pub source: Option<IpAddr>,
    /// Whether the host's own members hear what is sent.
    pub loopback: bool,
}

/// Makes a non-blocking UDP socket that hears what is sent to a group on an interface, and nothing else, and that sends
/// there. Other sockets of this host may belong to the same group. Without a `ttl` in `options` it is 1: what is sent
/// stays in its network.
///
/// # Errors
/// The operating system's error: the port is in use for something else, or there is no such interface (`ENODEV`). It is
/// [`ErrorKind::InvalidInput`] where the address is not a group's or the source is of another family, and
/// [`ErrorKind::Unsupported`] for a source-specific group of IPv6.
pub fn bind_multicast(membership: &Membership, options: &DatagramOptions) -> io::Result<DatagramSource> {
    let Membership { group, interface, source, loopback } = membership;
    let source = check(group.ip(), *source)?;
    let index = index_of(interface)?;
    let socket = Socket::new(Domain::for_address(*group), Type::DGRAM, Some(Protocol::UDP))?;
    socket.set_nonblocking(true)?;
    let options =
        DatagramOptions { reuse_address: true, ttl: options.ttl.or(Some(1)), ..with_buffers(options) };
    before_bind(&socket, &options)?;
    socket.bind(&bind_address(*group).into())?;
    hear_own_groups_only(&socket, group.is_ipv4());
    for_packets(&socket, group.is_ipv4(), &options)?;
    match (group.ip(), source) {
        (IpAddr::V4(ip), None) => socket.join_multicast_v4_n(&ip, &InterfaceIndexOrAddress::Index(index))?,
        (IpAddr::V4(ip), Some(source)) => socket.join_ssm_v4(&source, &ip, &ipv4_address_of(interface)?)?,
        (IpAddr::V6(ip), _) => socket.join_multicast_v6(&ip, index)?,
    }
    if group.is_ipv4() {
        socket.set_multicast_loop_v4(*loopback)?;
        send_on(&socket, index)?;
    } else {
        socket.set_multicast_loop_v6(*loopback)?;
        socket.set_multicast_if_v6(index)?;
    }
    Ok(DatagramSource { socket: socket.into(), dont_fragment: options.dont_fragment })
}

/// Returns the source to join, if this is a group and its source is one that can be had.
fn check(group: IpAddr, source: Option<IpAddr>) -> io::Result<Option<Ipv4Addr>> {
    if !group.is_multicast() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "not the address of a multicast group"));
    }
    match (group, source) {
        (_, None) => Ok(None),
        (IpAddr::V4(_), Some(IpAddr::V4(source))) => Ok(Some(source)),
        (IpAddr::V6(_), Some(IpAddr::V6(_))) => {
            Err(io::Error::new(ErrorKind::Unsupported, "source-specific groups are for IPv4 only"))
        }
        (IpAddr::V4(_), Some(IpAddr::V6(_))) | (IpAddr::V6(_), Some(IpAddr::V4(_))) => {
            Err(io::Error::new(ErrorKind::InvalidInput, "the source is of another family"))
        }
    }
}

/// Linux hands a socket also what is for the groups that other sockets joined, unless it is told not to.
#[cfg(target_os = "linux")]
fn hear_own_groups_only(socket: &Socket, is_ipv4: bool) {
    // Old kernels have no such option for IPv6; there the bind keeps other groups out.
    let _ = if is_ipv4 { socket.set_multicast_all_v4(false) } else { socket.set_multicast_all_v6(false) };
}

#[cfg(not(target_os = "linux"))]
fn hear_own_groups_only(_socket: &Socket, _is_ipv4: bool) {}

/// Unix sockets bound to the group hear nothing else; other systems bind to local addresses only.
fn bind_address(group: SocketAddr) -> SocketAddr {
    if cfg!(unix) {
        return group;
    }
    let mut address = group;
    address.set_ip(match group {
        SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
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
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use std::{net::UdpSocket, time::Duration};

    fn on_loopback(group: &str) -> Membership {
        let loopback = Interface::Name("lo".into());
        Membership { group: group.parse().unwrap(), interface: loopback, source: None, loopback: true }
    }

    fn member(membership: &Membership) -> io::Result<UdpSocket> {
        let socket = bind_multicast(membership, &DatagramOptions::default())?.socket;
        socket.set_nonblocking(false)?;
        socket.set_read_timeout(Some(Duration::from_secs(5)))?;
        Ok(socket)
    }

    fn hears_nothing(socket: &UdpSocket) -> bool {
        socket.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        socket.recv(&mut [0; 16]).is_err()
    }

    #[test]
    fn members_of_a_group_hear_each_other_on_the_interface_they_chose() {
        for group in ["239.255.71.3:42671", "[ff12::4267]:42671"] {
            let membership = on_loopback(group);
            let (Ok(first), Ok(second)) = (member(&membership), member(&membership)) else {
                continue; // a host without this family
            };
            if let Err(error) = first.send_to(b"hello", membership.group) {
                eprintln!("skipped {group}: {error}");
                continue;
            }
            for member in [&first, &second] {
                assert_eq!(member.recv_from(&mut [0; 16]).unwrap().0, 5, "{group}");
            }
        }
    }

    #[test]
    fn groups_on_one_port_are_kept_apart() {
        let (one, other) = (on_loopback("239.255.71.4:42672"), on_loopback("239.255.71.5:42672"));
        let (first, second) = (member(&one).unwrap(), member(&other).unwrap());
        second.send_to(b"hello", one.group).unwrap();
        assert_eq!(first.recv(&mut [0; 16]).unwrap(), 5);
        assert!(hears_nothing(&second));
    }

    #[test]
    fn whether_the_host_hears_itself_is_the_makers_choice() {
        let silent = Membership { loopback: false, ..on_loopback("239.255.71.6:42673") };
        assert!(!member(&silent).unwrap().multicast_loop_v4().unwrap());
        assert!(member(&on_loopback("239.255.71.6:42673")).unwrap().multicast_loop_v4().unwrap());
    }

    #[test]
    fn a_source_specific_member_hears_its_source_only() {
        let sender = member(&on_loopback("239.255.71.8:42674")).unwrap();
        sender.send_to(b"who am I?", "239.255.71.8:42674").unwrap();
        let own = sender.recv_from(&mut [0; 16]).unwrap().1.ip();

        let from = |source: IpAddr| Membership { source: Some(source), ..on_loopback("232.1.71.7:42674") };
        let heard = member(&from(own)).unwrap();
        let deaf = member(&from(IpAddr::from([127, 0, 0, 9]))).unwrap();
        sender.send_to(b"hello", "232.1.71.7:42674").unwrap();
        assert_eq!(heard.recv(&mut [0; 16]).unwrap(), 5);
        assert!(hears_nothing(&deaf));
    }

    #[test]
    fn what_is_sent_stays_in_its_network_unless_told_otherwise() {
        let membership = on_loopback("239.255.71.9:42675");
        let socket = member(&membership).unwrap();
        assert_eq!(socket.multicast_ttl_v4().unwrap(), 1);
        let far = DatagramOptions { ttl: Some(9), ..DatagramOptions::default() };
        assert_eq!(bind_multicast(&membership, &far).unwrap().socket.multicast_ttl_v4().unwrap(), 9);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let refused = |membership: Membership| member(&membership).unwrap_err();
        let nowhere = Interface::Name("no-such-interface".into());
        let error = refused(Membership { interface: nowhere, ..on_loopback("239.255.71.9:42675") });
        assert_eq!(crate::sockets::reason_of(&error), proto_core::DownReason::Unreachable);
        assert_eq!(refused(on_loopback("127.0.0.1:42675")).kind(), ErrorKind::InvalidInput);
        let source = Some(Ipv4Addr::LOCALHOST.into());
        let mixed = Membership { source, ..on_loopback("[ff12::4267]:42675") };
        assert_eq!(refused(mixed).kind(), ErrorKind::InvalidInput);
        let v6 = Membership { source: Some(Ipv6Addr::LOCALHOST.into()), ..on_loopback("[ff32::4267]:42675") };
        assert_eq!(refused(v6).kind(), ErrorKind::Unsupported);
    }
}
