//! The part that a program plays in a shared instance.

use proto_rns::iface::LocalAddress;
use std::{
    io,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    os::{
        linux::net::SocketAddrExt as _,
        unix::net::{SocketAddr as UnixAddress, UnixListener},
    },
};

use crate::reticulum::{LocalSockets, SharedInstance};

/// Server or client, and where.
#[derive(Debug)]
pub(super) enum Sharing {
    /// Nobody was there before.
    Server(LocalAddress),
    /// Somebody serves.
    Client(LocalAddress),
}

impl Sharing {
    /// Finds out whether somebody serves the instance.
    pub(super) fn of(shared: &SharedInstance) -> Self {
        let at = match shared.sockets {
            LocalSockets::Unix => LocalAddress::Unix(format!("\0rns/{}", shared.name)),
            LocalSockets::Tcp { data, .. } => {
                LocalAddress::Tcp(SocketAddr::from((Ipv4Addr::LOCALHOST, data)))
            }
        };
        match try_to_listen(&at) {
            Ok(()) => Self::Server(at),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => Self::Client(at),
            Err(error) => panic!("{at:?}: {error}"),
        }
    }
}

fn try_to_listen(at: &LocalAddress) -> io::Result<()> {
    match at {
        LocalAddress::Tcp(address) => TcpListener::bind(address).map(drop),
        LocalAddress::Unix(path) => {
            let name = path.strip_prefix('\0').expect("an abstract name");
            UnixListener::bind_addr(&UnixAddress::from_abstract_name(name)?).map(drop)
        }
    }
}
