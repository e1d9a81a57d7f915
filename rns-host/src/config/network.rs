//! Looking up the names of hosts and network devices.

use std::net::{IpAddr, ToSocketAddrs};

/// What a host knows of names.
pub trait Network {
    /// Returns the addresses of a host, best first; none where there is no such host.
    fn resolve(&self, host: &str) -> Vec<IpAddr>;

    /// Returns the addresses of a network device; none where there is no such device.
    fn device(&self, name: &str) -> Vec<Device>;
}

/// One address of a network device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    /// The address.
    pub address: IpAddr,
    /// The address by which all its neighbours are reached, where there is one.
    pub broadcast: Option<IpAddr>,
}

/// The names that the operating system knows. Looking up a host may take as long as its resolver takes.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemNetwork;

impl Network for SystemNetwork {
    fn resolve(&self, host: &str) -> Vec<IpAddr> {
        (host, 0)
            .to_socket_addrs()
            .map(|found| found.map(|address| address.ip()).collect())
            .unwrap_or_default()
    }

    fn device(&self, name: &str) -> Vec<Device> {
        let all = if_addrs::get_if_addrs().unwrap_or_default();
        all.into_iter()
            .filter(|device| device.name == name)
            .map(|device| match device.addr {
                if_addrs::IfAddr::V4(v4) => Device {
                    address: v4.ip.into(),
                    // Loopback devices have none of their own; the last address of their network stands for it.
                    broadcast: Some(v4.broadcast.unwrap_or(v4.ip | !v4.netmask).into()),
                },
                if_addrs::IfAddr::V6(v6) => Device { address: v6.ip.into(), broadcast: None },
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    #[test]
    fn addresses_resolve_to_themselves_and_unknown_devices_to_nothing() {
        assert_eq!(SystemNetwork.resolve("127.0.0.1"), [IpAddr::from(Ipv4Addr::LOCALHOST)]);
        assert_eq!(SystemNetwork.device("no such device"), []);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_loopback_device_is_found() {
        let found = SystemNetwork.device("lo");
        assert!(found.contains(&Device {
            address: Ipv4Addr::LOCALHOST.into(),
            broadcast: Some(Ipv4Addr::new(127, 255, 255, 255).into()),
        }));
    }
}
