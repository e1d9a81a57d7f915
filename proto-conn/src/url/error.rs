//! What is wrong with a URL.

use alloc::string::ToString as _;
use core::fmt;

use crate::{Code, Error, Phase};

/// What is wrong with a URL, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UrlError {
    /// What is wrong.
    pub problem: UrlProblem,
    /// The byte at which the offending part begins.
    pub at: usize,
}

impl fmt::Display for UrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, at byte {}", self.problem, self.at)
    }
}

impl core::error::Error for UrlError {}

impl From<UrlError> for Error {
    fn from(error: UrlError) -> Self {
        Self::new(Code::BadUrl, Phase::Arguments).with_detail(error.to_string())
    }
}

/// What can be wrong with a URL.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlProblem {
    /// It is longer than [`Url::MAX_LEN`](crate::Url::MAX_LEN).
    #[error("the URL is longer than {} bytes", crate::Url::MAX_LEN)]
    TooLong,
    /// There is no scheme in front, or not `//` behind it.
    #[error("the URL does not begin with a scheme and ://")]
    NoScheme,
    /// The scheme is not one of the six.
    #[error("the scheme is not http, https, ws, wss, udp or udp_multicast")]
    UnknownScheme,
    /// A character that may only stand there percent-encoded.
    #[error("a character that must be percent-encoded")]
    Character,
    /// A percent sign without two hexadecimal digits.
    #[error("a percent sign without two hexadecimal digits")]
    Percent,
    /// The credentials have a character that must be encoded, are not UTF-8, or stand where there are none.
    #[error("the part before @ is not a user and password")]
    Userinfo,
    /// There is no host.
    #[error("the host is missing")]
    NoHost,
    /// The host is not a name: empty or overlong labels, or characters that names do not have.
    #[error("the host is not a name")]
    Name,
    /// A host that ends in a number is an IPv4 address, and those are four decimal numbers.
    #[error("not an IPv4 address of four decimal numbers")]
    Ipv4,
    /// What stands in brackets is not an IPv6 address.
    #[error("not an IPv6 address in brackets")]
    Ipv6,
    /// The zone id does not follow the address as `%25` and a name.
    #[error("the zone id must follow the address as %25 and a name")]
    Zone,
    /// The name has letters beyond ASCII, which need the feature `idna`.
    #[error("names beyond ASCII need the feature idna")]
    NoIdna,
    /// The international name breaks the rules for them (UTS 46).
    #[error("the international name is not a valid one")]
    Idna,
    /// The port is not a number from 1 to 65535.
    #[error("the port is not a number from 1 to 65535")]
    Port,
    /// UDP has no port of its own.
    #[error("the port is missing, and this scheme has none of its own")]
    NoPort,
    /// The group is not a multicast address.
    #[error("the group is not a multicast address")]
    Group,
    /// The source is not the address of one sender, of the group's family.
    #[error("the source before @ is not a sender's address of the group's family")]
    Source,
    /// UDP has no paths.
    #[error("UDP has no paths")]
    Path,
}
