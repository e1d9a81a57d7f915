//! Which datagrams the user wants to see.

use std::net::{IpAddr, SocketAddr};

use crate::args::dissect::Dissect;

/// Lets datagrams through that have a wanted address and a wanted port, at either end.
#[derive(Debug)]
pub(super) struct Filter<'a> {
    addresses: &'a [IpAddr],
    ports: &'a [u16],
}

impl<'a> Filter<'a> {
    /// Takes the filter out of the options; without wishes everything is let through.
    pub(super) fn new(options: &'a Dissect) -> Self {
        Self { addresses: &options.address, ports: &options.port }
    }

    /// Says whether the user wants to see what goes from one end to the other.
    pub(super) fn lets_through(&self, from: SocketAddr, to: SocketAddr) -> bool {
        let ends = [from, to];
        let has_address = |end: &SocketAddr| self.addresses.contains(&end.ip());
        let has_port = |end: &SocketAddr| self.ports.contains(&end.port());
        (self.addresses.is_empty() || ends.iter().any(has_address))
            && (self.ports.is_empty() || ends.iter().any(has_port))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(addresses: &[&str], ports: &[u16]) -> bool {
        let addresses: Vec<IpAddr> = addresses.iter().map(|text| text.parse().unwrap()).collect();
        let [from, to] = ["10.0.0.1:7", "10.0.0.2:8"].map(|end| end.parse().unwrap());
        Filter { addresses: &addresses, ports }.lets_through(from, to)
    }

    #[test]
    fn either_end_may_match() {
        assert!(passes(&[], &[]));
        assert!(passes(&["10.0.0.2"], &[7]));
        assert!(passes(&["1.1.1.1", "10.0.0.1"], &[9, 8]));
        assert!(!passes(&["10.0.0.3"], &[]));
        assert!(!passes(&["10.0.0.1"], &[9]));
    }
}
