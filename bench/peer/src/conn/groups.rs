//! Where multicast datagrams go: requests to one group, answers to another, both on the loopback interface.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};

use socket2::{Domain, SockAddr, Socket, Type};

/// The group that peers listen to.
pub const REQUESTS: Ipv4Addr = Ipv4Addr::new(239, 255, 77, 1);
/// The group that clients listen to, at the port from which they sent.
pub const ANSWERS: Ipv4Addr = Ipv4Addr::new(239, 255, 77, 2);

/// A socket that is a member of `group` at a port of its own, and sends to groups on the loopback interface only.
///
/// It is bound to the group, so that nothing for another group at the same port reaches it. Others may join at the same
/// port.
///
/// # Errors
///
/// When the system refuses.
pub fn member_of(group: Ipv4Addr) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, None)?;
    socket.set_reuse_address(true)?;
    socket.bind(&SockAddr::from(SocketAddr::from((group, 0))))?;
    socket.join_multicast_v4(&group, &Ipv4Addr::LOCALHOST)?;
    socket.set_multicast_if_v4(&Ipv4Addr::LOCALHOST)?;
    socket.set_multicast_ttl_v4(0)?;
    socket.set_multicast_loop_v4(true)?;
    Ok(socket.into())
}
