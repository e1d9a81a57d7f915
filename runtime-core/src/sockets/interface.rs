//! Finding network interfaces.

use if_addrs::{IfAddr, get_if_addrs};
use proto_core::Interface;
use std::{io, net::Ipv4Addr};

/// Returns the index of an interface; 0 stands for the one that the routes lead to.
///
/// # Errors
/// There is no interface of that name (`ENODEV`, where the system has it).
pub(super) fn index_of(interface: &Interface) -> io::Result<u32> {
    match interface {
        Interface::Any => Ok(0),
        Interface::Index(index) => Ok(index.get()),
        Interface::Name(name) => {
            let named = get_if_addrs()?.into_iter().find(|candidate| candidate.name == *name);
            named.and_then(|interface| interface.index).ok_or_else(no_such_interface)
        }
    }
}

/// Returns an IPv4 address of an interface; the unspecified one stands for the one that the routes lead to.
///
/// # Errors
/// There is no such interface, or it has no IPv4 address.
pub(super) fn ipv4_address_of(interface: &Interface) -> io::Result<Ipv4Addr> {
    let index = index_of(interface)?;
    if index == 0 {
        return Ok(Ipv4Addr::UNSPECIFIED);
    }
    let address = get_if_addrs()?.into_iter().find_map(|candidate| match candidate.addr {
        IfAddr::V4(address) if candidate.index == Some(index) => Some(address.ip),
        IfAddr::V4(_) | IfAddr::V6(_) => None,
    });
    address.ok_or_else(no_such_interface)
}

#[cfg(unix)]
fn no_such_interface() -> io::Error {
    rustix::io::Errno::NODEV.into()
}

#[cfg(not(unix))]
fn no_such_interface() -> io::Error {
    io::ErrorKind::AddrNotAvailable.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_that_is_not_there_is_an_error() {
        let interface = Interface::Name("no-such-interface".into());
        assert!(index_of(&interface).is_err());
        assert!(ipv4_address_of(&interface).is_err());
    }

    #[test]
    fn names_and_indices_stand_for_the_same_interface() {
        let interfaces = get_if_addrs().unwrap();
        let Some(loopback) = interfaces.iter().find(|interface| interface.is_loopback()) else { return };
        assert_eq!(index_of(&Interface::Name(loopback.name.clone())).unwrap(), loopback.index.unwrap());
    }
}
