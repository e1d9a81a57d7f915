//! What an interface is configured with.

use super::{AnnounceRate, BurstControl, Framing, Mode};
use alloc::string::String;
use core::{fmt, net::SocketAddr, time::Duration};

/// The settings of one interface. [`InterfaceConfig::new`] has the reference's defaults for each medium.
#[derive(Clone, Debug, PartialEq)]
pub struct InterfaceConfig {
    /// The name in the configuration.
    pub name: String,
    /// What it speaks over.
    pub medium: Medium,
    /// The part it plays.
    pub mode: Mode,
    /// Whether packets may leave by it.
    pub outgoing: bool,
    /// Bits a second; at least 5.
    pub bitrate: u64,
    /// The longest frame; `None` lets it follow from the bitrate.
    pub fixed_mtu: Option<usize>,
    /// The access code, where its network has one.
    pub access: Option<AccessConfig>,
    /// The share of the bitrate for announces that are passed on, 0.0 to 1.0.
    pub announce_cap: f64,
    /// The limit on each destination's announces.
    pub announce_rate: Option<AnnounceRate>,
    /// The limit on announces for unknown destinations.
    pub announce_ingress: Option<BurstControl>,
    /// The limit on path requests.
    pub path_request_ingress: Option<BurstControl>,
    /// The limit, in hertz, on path requests that recursive searches send.
    pub path_request_egress: Option<f64>,
    /// The preference among paths with equal announces.
    pub gravity: Option<i64>,
    /// Whether requests from it start recursive searches in every mode.
    pub recursive_path_requests: bool,
    /// Whether announces that came over an internal interface are passed on to it.
    pub announces_from_internal: bool,
    /// Whether announces that came over it are passed on to internal interfaces.
    pub announces_to_internal: bool,
    /// How often in a row a lost connection is tried again; `None` for ever.
    pub max_reconnects: Option<u32>,
}

impl InterfaceConfig {
    /// Returns the reference's defaults for a medium.
    pub fn new(name: impl Into<String>, medium: Medium) -> Self {
        let limited = !medium.is_local();
        Self {
            name: name.into(),
            mode: Mode::Full,
            outgoing: true,
            bitrate: medium.default_bitrate(),
            fixed_mtu: None,
            access: None,
            announce_cap: 0.02,
            announce_rate: None,
            announce_ingress: limited.then_some(BurstControl::ANNOUNCES),
            path_request_ingress: limited.then_some(BurstControl::PATH_REQUESTS),
            path_request_egress: None,
            gravity: None,
            recursive_path_requests: false,
            announces_from_internal: true,
            announces_to_internal: true,
            max_reconnects: None,
            medium,
        }
    }

    /// Checks the settings.
    ///
    /// # Errors
    /// A setting is outside its range.
    pub fn validate(&self) -> Result<(), InterfaceConfigError> {
        if self.bitrate < 5 {
            return Err(InterfaceConfigError::Bitrate { bitrate: self.bitrate });
        }
        if let Some(mtu) = self.fixed_mtu
            && !(500..=MAX_MTU).contains(&mtu)
        {
            return Err(InterfaceConfigError::Mtu { mtu });
        }
        if !(0.0..=1.0).contains(&self.announce_cap) {
            return Err(InterfaceConfigError::AnnounceCap);
        }
        match &self.access {
            Some(access) if !(1..=64).contains(&access.size.unwrap_or(16)) => {
                Err(InterfaceConfigError::AccessSize)
            }
            Some(access) if access.network_name.is_none() && access.passphrase.is_none() => {
                Err(InterfaceConfigError::AccessWithoutSecret)
            }
            _ => Ok(()),
        }
    }

    /// Returns the full name as the reference forms it, whose hash stands for the interface in tunnels and stored
    /// tables.
    pub(crate) fn full_name(&self) -> String {
        written(format_args!("{}[{}{}]", self.medium.type_name(), self.name, Place(&self.medium)))
    }
}

/// An interface access code's secrets (spec 1.15).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessConfig {
    /// The network's name.
    pub network_name: Option<String>,
    /// The passphrase.
    pub passphrase: Option<String>,
    /// The code's length in bytes, 1 to 64; `None` for the medium's default.
    pub size: Option<usize>,
}

/// What an interface speaks over (spec 1.18).
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Medium {
    /// Datagrams, one packet each.
    Udp {
        /// Where to listen.
        bind: SocketAddr,
        /// Where to send; a broadcast address reaches everybody on the network.
        forward: Option<SocketAddr>,
    },
    /// A TCP connection that this node opens, and opens again when it is lost.
    TcpClient {
        /// The other end.
        target: Target,
        /// How frames are told apart.
        framing: Framing,
        /// Whether it is of the reference's fast kind: same bytes, other defaults.
        backbone: bool,
    },
    /// A TCP listener; each connection becomes an interface.
    TcpServer {
        /// Where to listen.
        bind: SocketAddr,
        /// How frames are told apart.
        framing: Framing,
        /// Whether it is of the reference's fast kind: same bytes, other defaults.
        backbone: bool,
    },
    /// The place where this node serves programs on its host as their shared instance.
    LocalServer {
        /// Where to listen.
        at: LocalAddress,
    },
    /// The shared instance that this node uses.
    LocalClient {
        /// Where it listens.
        at: LocalAddress,
    },
    /// A program that speaks frames on its standard input and output.
    Pipe {
        /// Its command line.
        command: String,
    },
    /// A serial line.
    Serial {
        /// The device's name.
        device: String,
        /// Bits a second.
        baud: u32,
    },
}

impl Medium {
    fn default_bitrate(&self) -> u64 {
        match self {
            Self::Udp { .. } => 10_000_000,
            Self::TcpClient { backbone, .. } | Self::TcpServer { backbone, .. } => {
                if *backbone {
                    100_000_000
                } else {
                    10_000_000
                }
            }
            Self::LocalServer { .. } | Self::LocalClient { .. } => 1_000_000_000,
            Self::Pipe { .. } => 1_000_000,
            Self::Serial { baud, .. } => u64::from(*baud),
        }
    }

    /// Returns the hardware's longest frame and whether links may make use of it.
    pub(crate) fn hardware_mtu(&self, bitrate: u64, fixed: Option<usize>) -> (Option<usize>, bool) {
        match self {
            Self::Udp { .. } | Self::Pipe { .. } => (Some(1_064), false),
            Self::Serial { .. } => (Some(564), false),
            Self::LocalServer { .. } | Self::LocalClient { .. } => (Some(262_144), true),
            Self::TcpClient { .. } | Self::TcpServer { .. } => {
                let mtu = fixed.or_else(|| super::mtu_for_bitrate(bitrate));
                (mtu, mtu.is_some())
            }
        }
    }

    /// Returns the default length of an access code.
    pub(crate) const fn default_access_size(&self) -> usize {
        match self {
            Self::Pipe { .. } | Self::Serial { .. } => 8,
            Self::Udp { .. }
            | Self::TcpClient { .. }
            | Self::TcpServer { .. }
            | Self::LocalServer { .. }
            | Self::LocalClient { .. } => 16,
        }
    }

    pub(crate) const fn framing(&self) -> Option<Framing> {
        match self {
            Self::Udp { .. } => None,
            Self::TcpClient { framing, .. } | Self::TcpServer { framing, .. } => Some(*framing),
            Self::LocalServer { .. } | Self::LocalClient { .. } | Self::Pipe { .. } | Self::Serial { .. } => {
                Some(Framing::Hdlc)
            }
        }
    }

    /// Says whether it only accepts connections, which become interfaces of their own.
    pub(crate) const fn is_listener(&self) -> bool {
        matches!(self, Self::TcpServer { .. } | Self::LocalServer { .. })
    }

    /// Says whether this node introduces itself so that paths survive a reconnect.
    pub(crate) const fn wants_tunnel(&self) -> bool {
        matches!(self, Self::TcpClient { framing: Framing::Hdlc, .. })
    }

    const fn is_local(&self) -> bool {
        matches!(self, Self::LocalServer { .. } | Self::LocalClient { .. })
    }

    const fn type_name(&self) -> &'static str {
        match self {
            Self::Udp { .. } => "UDPInterface",
            Self::TcpClient { backbone: true, .. } | Self::TcpServer { backbone: true, .. } => {
                "BackboneInterface"
            }
            Self::TcpClient { .. } => "TCPInterface",
            Self::TcpServer { .. } => "TCPServerInterface",
            Self::LocalServer { .. } => "Shared Instance",
            Self::LocalClient { .. } => "LocalInterface",
            Self::Pipe { .. } => "PipeInterface",
            Self::Serial { .. } => "SerialInterface",
        }
    }
}

/// The other end of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// An address.
    Address(SocketAddr),
    /// A name that has to be resolved first.
    Name {
        /// The host.
        host: String,
        /// The port.
        port: u16,
    },
}

/// Where a shared instance listens (spec 1.16).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LocalAddress {
    /// A TCP port on the loopback address.
    Tcp(SocketAddr),
    /// A socket of the host; a leading NUL means Linux's abstract name space.
    Unix(String),
}

impl BurstControl {
    /// The reference's limits on announces for unknown destinations.
    pub const ANNOUNCES: Self = Self {
        frequency_new: 3.0,
        frequency: 10.0,
        new_time: Duration::from_secs(2 * 60 * 60),
        hold: Duration::from_secs(15),
        penalty: Duration::from_secs(15),
        release_interval: Duration::from_secs(5),
        max_held: 256,
    };
    /// The reference's limits on path requests.
    pub const PATH_REQUESTS: Self = Self { frequency: 8.0, ..Self::ANNOUNCES };
}

/// Settings that an interface cannot have.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InterfaceConfigError {
    /// Slower than the slowest that the network supports.
    #[error("a bitrate of {bitrate} bit/s is below the network's minimum of 5")]
    Bitrate {
        /// The bitrate.
        bitrate: u64,
    },
    /// A frame size that the network does not support.
    #[error("a fixed MTU of {mtu} is not within 500 to 524288 bytes")]
    Mtu {
        /// The size.
        mtu: usize,
    },
    /// The announce cap is no share.
    #[error("the announce cap must be within 0.0 and 1.0")]
    AnnounceCap,
    /// The access code has no possible length.
    #[error("an access code has 1 to 64 bytes")]
    AccessSize,
    /// The access code has neither name nor passphrase.
    #[error("an access code needs a network name, a passphrase, or both")]
    AccessWithoutSecret,
}

/// The longest frame on any interface.
pub const MAX_MTU: usize = 524_288;

/// Returns formatted text. `alloc::format!` does the same, but the precompiled `alloc` that programs without the standard
/// library link has it unwind.
pub(super) fn written(text: fmt::Arguments<'_>) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = fmt::Write::write_fmt(&mut out, text);
    out
}

/// The part of a full name that says where.
struct Place<'a>(&'a Medium);

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Medium::Udp { bind, .. } | Medium::TcpServer { bind, .. } => write!(f, "/{bind}"),
            Medium::TcpClient { target: Target::Address(address), .. } => write!(f, "/{address}"),
            Medium::TcpClient { target: Target::Name { host, port }, .. } => write!(f, "/{host}:{port}"),
            Medium::LocalServer { .. }
            | Medium::LocalClient { .. }
            | Medium::Pipe { .. }
            | Medium::Serial { .. } => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_full_name_is_the_references() {
        let target = Target::Name { host: "127.0.0.1".into(), port: 4_242 };
        let medium = Medium::TcpClient { target, framing: Framing::Hdlc, backbone: false };
        assert_eq!(InterfaceConfig::new("test", medium).full_name(), "TCPInterface[test/127.0.0.1:4242]");
    }

    #[test]
    fn settings_outside_their_range_are_refused() {
        let medium = Medium::Udp { bind: SocketAddr::from(([127, 0, 0, 1], 1)), forward: None };
        let good = InterfaceConfig::new("u", medium);
        assert_eq!(good.validate(), Ok(()));
        let check = |change: fn(&mut InterfaceConfig)| {
            let mut config = good.clone();
            change(&mut config);
            config.validate().unwrap_err()
        };
        assert_eq!(check(|config| config.bitrate = 0), InterfaceConfigError::Bitrate { bitrate: 0 });
        assert_eq!(check(|config| config.fixed_mtu = Some(499)), InterfaceConfigError::Mtu { mtu: 499 });
        assert_eq!(check(|config| config.announce_cap = f64::NAN), InterfaceConfigError::AnnounceCap);
        let access = |size, network_name: Option<&str>| AccessConfig {
            network_name: network_name.map(Into::into),
            passphrase: None,
            size,
        };
        let mut config = good.clone();
        config.access = Some(access(Some(65), Some("n")));
        assert_eq!(config.validate(), Err(InterfaceConfigError::AccessSize));
        config.access = Some(access(None, None));
        assert_eq!(config.validate(), Err(InterfaceConfigError::AccessWithoutSecret));
    }
}
