//! Making TCP sockets.

use socket2::{Domain, Protocol, Socket, TcpKeepalive, Type};
use std::{io, net::SocketAddr, time::Duration};

/// Starts connecting to `peer` without waiting for it.
///
/// # Errors
/// The operating system knows at once that it will not work.
pub fn connect_tcp(peer: SocketAddr) -> io::Result<Socket> {
    let socket = new_socket(peer)?;
    tune_tcp(&socket);
    super::connect(&socket, &peer.into())?;
    Ok(socket)
}

/// Listens on `address`. An unspecified IPv6 address takes IPv4 peers too, where the system can do that.
///
/// # Errors
/// The operating system's error: the address is in use or not ours.
pub fn listen_tcp(address: SocketAddr) -> io::Result<Socket> {
    let socket = new_socket(address)?;
    // Connections of before that linger are no reason to fail. Elsewhere the option would let two listen at once.
    #[cfg(unix)]
    socket.set_reuse_address(true)?;
    if address.is_ipv6() && address.ip().is_unspecified() {
        // Where dual-stack sockets do not exist, one for IPv6 alone is still what was asked for.
        let _ = socket.set_only_v6(false);
    }
    socket.bind(&address.into())?;
    socket.listen(super::BACKLOG)?;
    Ok(socket)
}

/// Sets what every TCP link has: no delay of small writes, and a peer that vanished is noticed within half a minute.
pub fn tune_tcp(socket: &Socket) {
    let keepalive = TcpKeepalive::new().with_time(IDLE).with_interval(PROBE);
    #[cfg(not(windows))]
    let keepalive = keepalive.with_retries(PROBES);
    // None of them is worth giving up a connection for, and a socket that is no TCP socket has none of them.
    let _ = socket.set_tcp_nodelay(true);
    let _ = socket.set_tcp_keepalive(&keepalive);
    #[cfg(target_os = "linux")]
    let _ = socket.set_tcp_user_timeout(Some(UNACKNOWLEDGED));
}

fn new_socket(address: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// Silence before the first keepalive probe.
const IDLE: Duration = Duration::from_secs(5);

/// Silence between two probes.
const PROBE: Duration = Duration::from_secs(2);

/// Probes without an answer after which the peer counts as gone.
#[cfg(not(windows))]
const PROBES: u32 = 12;

/// How long sent bytes may stay unacknowledged.
#[cfg(target_os = "linux")]
const UNACKNOWLEDGED: Duration = Duration::from_secs(24);
