//! Hosts and ports (RFC 3986 §3.2, RFC 9110 §7.2).

/// Says whether `value` can be a Host field's: a host and perhaps a port, or nothing for a target without authority.
pub(super) fn is_host(value: &[u8]) -> bool {
    split(value).is_some_and(|(host, port)| port.is_none_or(|_| !host.is_empty()))
}

/// Says whether `target` is in authority-form: a host and a port (RFC 9112 §3.2.3).
pub(super) fn is_authority(target: &str) -> bool {
    matches!(split(target.as_bytes()), Some(([_, ..], Some([_, ..]))))
}

/// Splits into host and port, and checks the characters of both.
fn split(value: &[u8]) -> Option<(&[u8], Option<&[u8]>)> {
    let end = match value {
        [b'[', rest @ ..] => rest.iter().position(|&byte| byte == b']')? + 2,
        _ => value.iter().position(|&byte| byte == b':').unwrap_or(value.len()),
    };
    let (host, rest) = value.split_at_checked(end)?;
    let port = match rest {
        [] => None,
        [b':', port @ ..] if port.len() <= MAX_PORT && port.iter().all(u8::is_ascii_digit) => Some(port),
        _ => return None,
    };
    let is_sound = match host {
        [b'[', address @ .., b']'] => {
            !address.is_empty() && address.iter().all(|&byte| is_address_byte(byte))
        }
        name => name.iter().all(|&byte| is_name_byte(byte)),
    };
    is_sound.then_some((host, port))
}

/// reg-name: unreserved, percent-encoded or a sub-delimiter (RFC 3986 §3.2.2).
const fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'%')
        || matches!(byte, b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+' | b',' | b';' | b'=')
}

/// An IPv6 address, one of a later version, or a zone (RFC 3986 §3.2.2, RFC 6874).
const fn is_address_byte(byte: u8) -> bool {
    byte == b':' || is_name_byte(byte)
}

/// Digits of the largest port.
const MAX_PORT: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_addresses_and_ports_are_hosts_and_nothing_else_is() {
        for host in ["", "a", "a.b:80", "127.0.0.1:1", "[::1]", "[fe80::1%25eth0]:8080", "a_b", "a:"] {
            assert!(is_host(host.as_bytes()), "{host}");
        }
        for host in [
            "a b", "a/b", "a@b", "http://a", "a:b", "a:1:2", ":80", "[::1", "::1", "[]", "[::1]x", "a\\b",
            "a#", "a?b", "a:123456", "\u{e9}", "a,b d",
        ] {
            assert!(!is_host(host.as_bytes()), "{host}");
        }
    }
}
