//! What links are made of: sockets set up as the machines' requests say, and the system calls on them.
//!
//! Nothing here waits and nothing here knows an async runtime, so every driver opens its links with [`open`] and then
//! serves them in its own way.

mod flags;
mod interface;
mod lookup;
mod outbox;
mod reason;
mod stream;
mod udp;

pub use lookup::Lookup;
pub use outbox::Outbox;
pub use reason::{reason_of, unreachable_peer};
#[cfg(all(unix, feature = "serial"))]
pub use stream::open_serial;
#[cfg(unix)]
pub use stream::{Child, SocketFile, connect_unix, listen_unix, spawn_pipe};
pub use stream::{
    Device, ListenerSource, StreamSource, StreamWriter, Tail, connect_tcp, ip, listen_tcp, tune_tcp,
};
pub use udp::{DatagramSource, Inbox, Membership, UdpOptions, UdpSender, bind_multicast, bind_udp, open_udp};

use proto_core::LinkSpec;
use std::io::{self, ErrorKind};

/// A link that was opened, or is about to be.
#[derive(Debug)]
#[non_exhaustive]
pub enum Opened {
    /// A bound datagram socket.
    Datagrams(DatagramSource),
    /// A stream that is connected or connecting.
    Stream(StreamSource),
    /// A listening socket.
    Listener(ListenerSource),
    /// A name that still has to be resolved.
    Name {
        /// The host name.
        host: String,
        /// The port to put into the addresses.
        port: u16,
    },
}

/// Opens what a machine asks for. All sockets are non-blocking.
///
/// # Errors
/// The operating system's error, or [`ErrorKind::Unsupported`] for a kind of link that this platform or build lacks.
pub fn open(spec: LinkSpec) -> io::Result<Opened> {
    Ok(match spec {
        LinkSpec::Udp { bind, peer, options } => Opened::Datagrams(open_udp(bind, peer, &options)?),
        LinkSpec::UdpMulticast { group, interface, source, loopback, options } => {
            let membership = Membership { group, interface, source, loopback };
            Opened::Datagrams(bind_multicast(&membership, &options)?)
        }
        LinkSpec::TcpConnect { peer } => Opened::Stream(connect_tcp(peer)?.into()),
        LinkSpec::TcpListen { bind } => Opened::Listener(listen_tcp(bind)?.into()),
        #[cfg(unix)]
        LinkSpec::UnixConnect { path } => Opened::Stream(connect_unix(&path)?.into()),
        #[cfg(unix)]
        LinkSpec::UnixListen { path } => Opened::Listener(listen_unix(&path)?),
        #[cfg(unix)]
        LinkSpec::Pipe { command } => Opened::Stream(spawn_pipe(&command)?),
        #[cfg(all(unix, feature = "serial"))]
        LinkSpec::Serial { device, baud } => Opened::Stream(open_serial(&device, baud)?),
        LinkSpec::Resolve { host, port } => Opened::Name { host, port },
        // The contract may grow kinds of link that no driver knows yet.
        _ => return Err(ErrorKind::Unsupported.into()),
    })
}
