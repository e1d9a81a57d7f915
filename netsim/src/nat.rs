//! Network address translation in front of a node.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::{IpAddr, SocketAddr},
};

/// Whom a NAT lets in through a mapping (RFC 4787 §5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filtering {
    /// Everybody, once the mapping exists.
    EndpointIndependent,
    /// Only addresses and ports that the inside has sent to.
    AddressAndPortDependent,
}

/// A translator with one outside address. Each inside address has one outside port, whomever it talks to.
#[derive(Clone, Debug)]
pub(crate) struct Nat {
    outside: IpAddr,
    filtering: Filtering,
    next_port: u16,
    /// Inside address to outside port.
    mappings: BTreeMap<SocketAddr, u16>,
    /// Outside port to inside address.
    inside: BTreeMap<u16, SocketAddr>,
    /// Outside port and remote address that the inside has sent to.
    pinholes: BTreeSet<(u16, SocketAddr)>,
}

impl Nat {
    /// The first outside port; each new mapping takes the next one.
    const FIRST_PORT: u16 = 40_000;

    pub(crate) const fn new(outside: IpAddr, filtering: Filtering) -> Self {
        Self {
            outside,
            filtering,
            next_port: Self::FIRST_PORT,
            mappings: BTreeMap::new(),
            inside: BTreeMap::new(),
            pinholes: BTreeSet::new(),
        }
    }

    pub(crate) const fn outside(&self) -> IpAddr {
        self.outside
    }

    /// Returns the source address under which a datagram leaves; makes the mapping where there is none.
    pub(crate) fn translate_out(&mut self, from: SocketAddr, to: SocketAddr) -> SocketAddr {
        let next = self.next_port;
        let port = *self.mappings.entry(from).or_insert(next);
        if port == next {
            self.next_port = next.checked_add(1).unwrap_or(Self::FIRST_PORT);
            self.inside.insert(port, from);
        }
        self.pinholes.insert((port, to));
        SocketAddr::new(self.outside, port)
    }

    /// Returns the inside address for a datagram that arrives at an outside port, if it is let in.
    pub(crate) fn translate_in(&self, from: SocketAddr, port: u16) -> Option<SocketAddr> {
        let is_let_in = match self.filtering {
            Filtering::EndpointIndependent => true,
            Filtering::AddressAndPortDependent => self.pinholes.contains(&(port, from)),
        };
        self.inside.get(&port).copied().filter(|_| is_let_in)
    }

    /// Forgets every mapping: the next datagram leaves from another port, and answers to the old one are lost.
    pub(crate) fn rebind(&mut self) {
        self.mappings.clear();
        self.inside.clear();
        self.pinholes.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTSIDE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(203, 0, 113, 1));

    fn address(last: u8, port: u16) -> SocketAddr {
        SocketAddr::from(([10, 0, 0, last], port))
    }

    #[test]
    fn a_mapping_is_kept_until_it_is_rebound() {
        let mut nat = Nat::new(OUTSIDE, Filtering::EndpointIndependent);
        let first = nat.translate_out(address(1, 5), address(9, 9));
        assert_eq!(first, nat.translate_out(address(1, 5), address(8, 8)));
        assert_ne!(first, nat.translate_out(address(1, 6), address(9, 9)));
        assert_eq!(nat.translate_in(address(7, 7), first.port()), Some(address(1, 5)));
        nat.rebind();
        assert_eq!(nat.translate_in(address(9, 9), first.port()), None);
        assert_ne!(first, nat.translate_out(address(1, 5), address(9, 9)));
    }

    #[test]
    fn a_filtering_nat_lets_in_only_whom_the_inside_has_sent_to() {
        let mut nat = Nat::new(OUTSIDE, Filtering::AddressAndPortDependent);
        let port = nat.translate_out(address(1, 5), address(9, 9)).port();
        assert_eq!(nat.translate_in(address(9, 9), port), Some(address(1, 5)));
        assert_eq!(nat.translate_in(address(9, 8), port), None);
    }
}
