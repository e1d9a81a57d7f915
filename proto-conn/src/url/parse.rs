//! Absolute URLs.

use alloc::{borrow::ToOwned as _, format};
use core::net::{IpAddr, Ipv6Addr};

use super::{Host, Scheme, Url, UrlError, UrlProblem, UserInfo, percent};

/// Reads an absolute URL.
pub(super) fn absolute(text: &str) -> Result<Url, UrlError> {
    if text.len() > Url::MAX_LEN {
        return Err(UrlError { problem: UrlProblem::TooLong, at: Url::MAX_LEN });
    }
    let (name, rest) = text.split_once(':').ok_or(UrlError { problem: UrlProblem::NoScheme, at: 0 })?;
    let rest = rest.strip_prefix("//").ok_or(UrlError { problem: UrlProblem::NoScheme, at: 0 })?;
    let scheme = Scheme::of(name).ok_or(UrlError { problem: UrlProblem::UnknownScheme, at: 0 })?;
    behind_scheme(scheme, rest, text.len() - rest.len())
}

/// Reads what follows a scheme's `://` and begins at byte `at`.
pub(super) fn behind_scheme(scheme: Scheme, text: &str, at: usize) -> Result<Url, UrlError> {
    let end = text.find(['/', '?', '#']).unwrap_or(text.len());
    let (authority, rest) = text.split_at(end);
    let (before, place) = match authority.split_once('@') {
        Some((before, place)) => (Some(before), place),
        None => (None, authority),
    };
    let place_at = at + (authority.len() - place.len());
    let (host, port) = host_and_port(scheme, place, place_at)?;
    let mut url = Url { scheme, userinfo: None, source: None, host, port, target: target(rest, at + end)? };
    if scheme == Scheme::UdpMulticast && !url.host.ip().is_some_and(|ip| ip.is_multicast()) {
        return Err(UrlError { problem: UrlProblem::Group, at: place_at });
    }
    match before {
        Some(text) if scheme == Scheme::UdpMulticast => {
            let source =
                source(text).filter(|source| url.host.ip().is_some_and(|group| fits(*source, group)));
            url.source = Some(source.ok_or(UrlError { problem: UrlProblem::Source, at })?);
        }
        Some(text) => {
            percent::check(text, at, |byte| percent::is_plain(byte) || byte == b':')?;
            let userinfo = UserInfo::parse(text).filter(|_| !scheme.is_datagram());
            url.userinfo = Some(userinfo.ok_or(UrlError { problem: UrlProblem::Userinfo, at })?);
        }
        None => {}
    }
    if scheme.is_datagram() && url.target.split('?').next() != Some("/") {
        return Err(UrlError { problem: UrlProblem::Path, at: at + end });
    }
    Ok(url)
}

/// Checks path, query and fragment, and returns the first two.
pub(super) fn target(text: &str, at: usize) -> Result<alloc::string::String, UrlError> {
    let (target, fragment) = match text.split_once('#') {
        Some((target, fragment)) => (target, fragment),
        None => (text, ""),
    };
    let allowed = |byte| percent::is_plain(byte) || matches!(byte, b':' | b'@' | b'/' | b'?');
    percent::check(target, at, allowed)?;
    percent::check(fragment, at + (text.len() - fragment.len()), allowed)?;
    Ok(if target.starts_with('/') { target.to_owned() } else { format!("/{target}") })
}

fn host_and_port(scheme: Scheme, text: &str, at: usize) -> Result<(Host, u16), UrlError> {
    // In brackets, colons belong to the address.
    let host_end = text.rfind(']').map_or(0, |bracket| bracket + 1);
    let (host, port) = match text.get(host_end..).and_then(|rest| rest.find(':')) {
        Some(colon) => (text.get(..host_end + colon), text.get(host_end + colon + 1..)),
        None => (Some(text), None),
    };
    let host = host.unwrap_or_default();
    let at_port = at + host.len() + 1;
    let host = Host::parse(host).map_err(|problem| UrlError { problem, at })?;
    let port = match port.filter(|port| !port.is_empty()) {
        Some(port) if port.bytes().all(|byte| byte.is_ascii_digit()) => {
            port.parse().ok().filter(|port| *port > 0)
        }
        Some(_) => None,
        None => Some(scheme.default_port().ok_or(UrlError { problem: UrlProblem::NoPort, at: at_port - 1 })?),
    };
    Ok((host, port.ok_or(UrlError { problem: UrlProblem::Port, at: at_port })?))
}

/// Reads the sender in front of a group: an IPv4 address, or an IPv6 address in brackets.
fn source(text: &str) -> Option<IpAddr> {
    match text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
        Some(text) => text.parse::<Ipv6Addr>().ok().map(IpAddr::V6),
        None => text.parse().ok().map(IpAddr::V4),
    }
}

fn fits(source: IpAddr, group: IpAddr) -> bool {
    source.is_ipv4() == group.is_ipv4() && !source.is_multicast() && !source.is_unspecified()
}
