//! From a host name to an address.

use std::net::SocketAddr;

use crate::{
    args::{raknet::Family, values::HostPort},
    failure::Failure,
};

/// Finds the address of `host`. Where the name has addresses of both kinds, IPv4 is taken unless the user asked for
/// the other: few game servers listen on IPv6.
///
/// # Errors
/// There is no such host, or it has no address of the kind asked for.
pub(crate) async fn resolve(host: &HostPort, family: Family) -> Result<SocketAddr, Failure> {
    let found: Vec<SocketAddr> = tokio::net::lookup_host((host.host.as_str(), host.port))
        .await
        .map_err(|error| {
            Failure::network(format_args!("cannot find the host {:?}: {error}", host.host))
                .advise("check the spelling, or give its IP address")
        })?
        .collect();
    let v4 = found.iter().find(|address| address.is_ipv4());
    let v6 = found.iter().find(|address| address.is_ipv6());
    let chosen = match (family.ipv4, family.ipv6) {
        (true, _) => v4,
        (_, true) => v6,
        (false, false) => v4.or(v6),
    };
    chosen.copied().ok_or_else(|| {
        let kind = if family.ipv4 { "IPv4" } else { "IPv6" };
        let failure = Failure::network(format_args!("the host {:?} has no {kind} address", host.host));
        if found.is_empty() { failure } else { failure.advise("leave out -4 and -6") }
    })
}
