//! Values that several arguments have: hosts, times, sizes.

use std::{fmt, net::IpAddr, str::FromStr, time::Duration};

/// The port of Minecraft Bedrock.
pub(crate) const BEDROCK_PORT: u16 = 19_132;

/// A host, as name or address, and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HostPort {
    /// A name or an address without brackets.
    pub(crate) host: String,
    /// The port, 19132 if none was given.
    pub(crate) port: u16,
}

impl FromStr for HostPort {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (host, port) = if let Some(bracketed) = text.strip_prefix('[') {
            let (host, rest) = bracketed.split_once(']').ok_or("the bracket is not closed")?;
            if !matches!(host.parse(), Ok(IpAddr::V6(_))) {
                return Err("only an IPv6 address may stand in brackets".into());
            }
            match rest.strip_prefix(':') {
                Some(port) => (host, Some(port)),
                None if rest.is_empty() => (host, None),
                None => return Err("after the bracket only :PORT may follow".into()),
            }
        } else if matches!(text.parse(), Ok(IpAddr::V6(_))) {
            (text, None)
        } else {
            match text.split_once(':') {
                Some((_, rest)) if rest.contains(':') => {
                    return Err("an IPv6 address with a port is written [ADDRESS]:PORT".into());
                }
                Some((host, port)) => (host, Some(port)),
                None => (text, None),
            }
        };
        if host.is_empty() || host.contains(char::is_whitespace) {
            return Err("the host is missing; write HOST or HOST:PORT".into());
        }
        let port = match port {
            Some(digits) => digits.parse().ok().filter(|&port| port != 0),
            None => Some(BEDROCK_PORT),
        };
        Ok(Self { host: host.into(), port: port.ok_or("the port must be a number from 1 to 65535")? })
    }
}

impl fmt::Display for HostPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

/// Reads a positive time such as `500ms`, `2s`, `1.5` (seconds) or `3m`, up to a day.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    let (number, seconds) = match text {
        _ if text.ends_with("ms") => (text.trim_end_matches("ms"), 1e-3),
        _ if text.ends_with('s') => (text.trim_end_matches('s'), 1.0),
        _ if text.ends_with('m') => (text.trim_end_matches('m'), 60.0),
        _ => (text, 1.0),
    };
    let number: f64 = number.trim().parse().map_err(|_| "write a time such as 500ms, 2s or 3m")?;
    let seconds = number * seconds;
    // Written so that NaN is refused as well.
    if !(0.001..=86_400.0).contains(&seconds) {
        return Err("the time must lie between 1ms and a day".into());
    }
    Ok(Duration::from_secs_f64(seconds))
}

/// Reads a size in bytes such as `800`, `64k` or `1MiB`; units are powers of 1,024.
pub(crate) fn size(text: &str) -> Result<usize, String> {
    let lower = text.to_ascii_lowercase();
    let digits = lower.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit: usize = match lower.get(digits.len()..).unwrap_or_default() {
        "" | "b" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        _ => return Err("write a size such as 800, 64k or 1MiB".into()),
    };
    let number: usize = digits.parse().map_err(|_| "write a size such as 800, 64k or 1MiB")?;
    number.checked_mul(unit).ok_or_else(|| "the size is too large".into())
}

/// Reads bytes in hexadecimal such as `fe` or `fe 01`; `none` stands for no bytes.
pub(crate) fn hex(text: &str) -> Result<Hex, String> {
    if text == "none" {
        return Ok(Hex(Vec::new()));
    }
    let digits: Vec<u8> = text.bytes().filter(|digit| !digit.is_ascii_whitespace()).collect();
    digits
        .chunks(2)
        .map(|pair| match pair {
            [high, low] => Some(nibble(*high)? << 4 | nibble(*low)?),
            _ => None,
        })
        .collect::<Option<Vec<u8>>>()
        .filter(|bytes| !bytes.is_empty())
        .map(Hex)
        .ok_or_else(|| "write pairs of hexadecimal digits such as fe01, or none".into())
}

/// Bytes that were written in hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hex(pub(crate) Vec<u8>);

fn nibble(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host_port(text: &str) -> Result<(String, u16), String> {
        text.parse::<HostPort>().map(|HostPort { host, port }| (host, port))
    }

    #[test]
    fn a_host_may_come_with_or_without_port() {
        assert_eq!(host_port("play.example.org"), Ok(("play.example.org".into(), 19_132)));
        assert_eq!(host_port("10.0.0.1:7"), Ok(("10.0.0.1".into(), 7)));
        assert_eq!(host_port("[fd00::1]:7"), Ok(("fd00::1".into(), 7)));
        assert_eq!(host_port("[::1]"), Ok(("::1".into(), 19_132)));
        assert_eq!(host_port("fd00::1"), Ok(("fd00::1".into(), 19_132)));
    }

    #[test]
    fn what_is_no_host_is_refused_with_a_reason() {
        for wrong in ["", ":7", "a b", "host:", "host:0", "host:65536", "[::1", "[::1]7", "[host]:1", "1:2:3"]
        {
            assert!(host_port(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_host_reads_back_as_it_is_shown() {
        for text in ["a.example:1", "[::1]:2"] {
            assert_eq!(text.parse::<HostPort>().map(|host| host.to_string()), Ok(text.into()));
        }
    }

    #[test]
    fn times_have_units() {
        assert_eq!(time("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(time("1.5"), Ok(Duration::from_millis(1_500)));
        assert_eq!(time("2m"), Ok(Duration::from_secs(120)));
        for wrong in ["", "0", "-1s", "NaN", "inf", "2 weeks", "2d"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!(size("800"), Ok(800));
        assert_eq!(size("64k"), Ok(65_536));
        assert_eq!(size("1MiB"), Ok(1 << 20));
        for wrong in ["", "k", "1x", "-1", "99999999999999999999", "99999999999999999m"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn bytes_come_in_pairs_of_digits() {
        assert_eq!(hex("fe 01"), Ok(Hex(vec![0xfe, 1])));
        assert_eq!(hex("none"), Ok(Hex(vec![])));
        for wrong in ["", "f", "xy", "fe0"] {
            assert!(hex(wrong).is_err(), "{wrong}");
        }
    }
}
