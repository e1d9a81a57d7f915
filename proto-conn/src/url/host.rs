//! The host of a URL.

use alloc::{borrow::Cow, string::String};
use core::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use super::{UrlProblem, percent};

/// A name or an address.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Host {
    /// A name: ASCII in lower case, international ones encoded (`xn--…`). A dot at the end is kept.
    Name(String),
    /// An IPv4 address.
    V4(Ipv4Addr),
    /// An IPv6 address.
    V6 {
        /// The address.
        ip: Ipv6Addr,
        /// The interface that a link-local address belongs to, by name or index (RFC 6874).
        zone: Option<String>,
    },
}

impl Host {
    /// Returns the address, if it is one.
    pub const fn ip(&self) -> Option<IpAddr> {
        match self {
            Self::Name(_) => None,
            Self::V4(ip) => Some(IpAddr::V4(*ip)),
            Self::V6 { ip, .. } => Some(IpAddr::V6(*ip)),
        }
    }

    /// Returns the name, if it is one.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Name(name) => Some(name),
            Self::V4(_) | Self::V6 { .. } => None,
        }
    }

    /// Reads what a URL has between user and port.
    pub(super) fn parse(text: &str) -> Result<Self, UrlProblem> {
        match text.strip_prefix('[') {
            Some(rest) => Self::parse_v6(rest.strip_suffix(']').ok_or(UrlProblem::Ipv6)?),
            None => Self::parse_name(text),
        }
    }

    fn parse_v6(text: &str) -> Result<Self, UrlProblem> {
        let (ip, zone) = match text.split_once('%') {
            None => (text, None),
            Some((ip, zone)) => {
                let zone = zone.strip_prefix("25").ok_or(UrlProblem::Zone)?;
                percent::check(zone, 0, percent::is_unreserved).map_err(|_| UrlProblem::Zone)?;
                let zone = percent::decode(zone).filter(|zone| !zone.is_empty()).ok_or(UrlProblem::Zone)?;
                (ip, Some(zone.into_owned()))
            }
        };
        let ip = ip.parse().map_err(|_| UrlProblem::Ipv6)?;
        Ok(Self::V6 { ip, zone })
    }

    fn parse_name(text: &str) -> Result<Self, UrlProblem> {
        if text.is_empty() {
            return Err(UrlProblem::NoHost);
        }
        let decoded = percent::decode(text).ok_or(UrlProblem::Name)?;
        let name = to_ascii(decoded)?.to_ascii_lowercase();
        if ends_in_number(&name) {
            return name.parse().map(Self::V4).map_err(|_| UrlProblem::Ipv4);
        }
        if is_name(&name) { Ok(Self::Name(name)) } else { Err(UrlProblem::Name) }
    }
}

impl fmt::Display for Host {
    /// Writes it as in a URL.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::V4(ip) => write!(f, "{ip}"),
            Self::V6 { ip, zone: None } => write!(f, "[{ip}]"),
            Self::V6 { ip, zone: Some(zone) } => write!(f, "[{ip}%25{}]", percent::Encoded(zone)),
        }
    }
}

/// Encodes international names, and checks names that are encoded already.
#[cfg(feature = "idna")]
fn to_ascii(name: Cow<'_, str>) -> Result<Cow<'_, str>, UrlProblem> {
    if name.is_ascii() && !has_encoded_label(&name) {
        return Ok(name);
    }
    match idna::domain_to_ascii_cow(name.as_bytes(), idna::AsciiDenyList::URL) {
        Ok(ascii) => Ok(Cow::Owned(ascii.into_owned())),
        Err(_) => Err(UrlProblem::Idna),
    }
}

#[cfg(feature = "idna")]
fn has_encoded_label(name: &str) -> bool {
    name.split('.').any(|label| label.get(..4).is_some_and(|prefix| prefix.eq_ignore_ascii_case("xn--")))
}

#[cfg(not(feature = "idna"))]
fn to_ascii(name: Cow<'_, str>) -> Result<Cow<'_, str>, UrlProblem> {
    if name.is_ascii() { Ok(name) } else { Err(UrlProblem::NoIdna) }
}

/// Says whether resolvers may take the name for an IPv4 address. They know many notations (`127.1`, `0x7f000001`); what
/// one reader takes for a name and the next for an address lets requests go where they were not meant to.
fn ends_in_number(name: &str) -> bool {
    let last = name.trim_end_matches('.').rsplit('.').next().unwrap_or_default();
    let hexadecimal =
        last.strip_prefix("0x").is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_hexdigit()));
    hexadecimal || (!last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Letters, digits, hyphens, and underscores, which names of services and many local names have; labels and names no
/// longer than the DNS allows (RFC 1035 §2.3.4).
fn is_name(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    name.len() <= 253 && name.split('.').all(is_label)
}

impl From<IpAddr> for Host {
    fn from(ip: IpAddr) -> Self {
        match ip {
            IpAddr::V4(ip) => Self::V4(ip),
            IpAddr::V6(ip) => Self::V6 { ip, zone: None },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{borrow::ToOwned as _, string::ToString as _};

    #[test]
    fn what_resolvers_may_take_for_an_address_is_one_or_an_error() {
        assert_eq!(Host::parse("127.0.0.1"), Ok(Host::V4(Ipv4Addr::LOCALHOST)));
        for text in [
            "127.1",
            "2130706433",
            "0x7f000001",
            "0x7f.1",
            "127.0.0.01",
            "1.2.3.4.5",
            "127.0.0.1.",
            "a.0X",
            "256.1.1.1",
        ] {
            assert_eq!(Host::parse(text), Err(UrlProblem::Ipv4), "{text}");
        }
        assert_eq!(Host::parse("1a"), Ok(Host::Name("1a".to_owned())));
    }

    #[test]
    fn a_zone_id_is_encoded_on_the_outside_only() {
        let host = Host::parse("[fe80::1%25eth%2D0]").unwrap();
        assert_eq!(host, Host::V6 { ip: "fe80::1".parse().unwrap(), zone: Some("eth-0".to_owned()) });
        assert_eq!(host.to_string(), "[fe80::1%25eth-0]");
        for text in ["[fe80::1%eth0]", "[fe80::1%25]", "[fe80::1%25a/b]", "[fe80::1%25a%00]"] {
            assert_eq!(Host::parse(text), Err(UrlProblem::Zone), "{text}");
        }
    }

    #[test]
    fn names_are_as_long_as_the_dns_allows() {
        let label = "a".repeat(63);
        assert!(is_name(&label) && !is_name(&"a".repeat(64)));
        let name = [label.as_str(); 4].join(".");
        assert!(is_name(&name[..253]) && is_name(&(name[..253].to_owned() + ".")) && !is_name(&name[..254]));
    }
}
