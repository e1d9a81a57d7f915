//! What a head's fields say about the message's length and the connection's future.

use core::time::Duration;

use super::{config::Leniency, fault::Fault, host, version::Version};
use crate::{Code, headers::trim_blanks};

/// Collected while the fields are read, so that none is looked for afterwards.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Facts {
    pub(super) version: Version,
    pub(super) status: u16,
    pub(super) length: Option<u64>,
    pub(super) coding: TransferCoding,
    pub(super) has_host: bool,
    /// Connection: close.
    pub(super) close: bool,
    /// Connection: keep-alive.
    pub(super) keep_alive: bool,
    /// An Upgrade field, and the connection option that goes with it (RFC 9110 §7.8).
    pub(super) upgrade: bool,
    pub(super) upgrade_option: bool,
    /// Expect: 100-continue.
    pub(super) expect_continue: bool,
    /// Keep-Alive: timeout.
    pub(super) idle_limit: Option<Duration>,
}

/// What Transfer-Encoding says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum TransferCoding {
    #[default]
    Absent,
    Chunked,
}

impl Facts {
    /// Takes note of a field.
    pub(super) fn add(&mut self, name: &[u8], value: &[u8], leniency: Leniency) -> Result<(), Fault> {
        // The length tells most names apart from all that matter here.
        let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
        match name.len() {
            4 if is("Host") => self.add_host(value),
            6 if is("Expect") => {
                self.expect_continue |= value.eq_ignore_ascii_case(b"100-continue");
                Ok(())
            }
            7 if is("Upgrade") => {
                self.upgrade |= !value.is_empty();
                Ok(())
            }
            10 if is("Connection") => {
                self.add_connection(value);
                Ok(())
            }
            10 if is("Keep-Alive") => {
                self.idle_limit = idle_limit(value).or(self.idle_limit);
                Ok(())
            }
            14 if is("Content-Length") => self.add_length(value, leniency),
            17 if is("Transfer-Encoding") => self.add_coding(value),
            _ => Ok(()),
        }
    }

    /// Says whether the connection is to last beyond this message (RFC 9112 §9.3).
    pub(super) const fn is_persistent(&self) -> bool {
        match self.version {
            Version::Http11 => !self.close,
            Version::Http10 => self.keep_alive && !self.close,
        }
    }

    /// Says whether the message asks for another protocol, or agrees to it.
    pub(super) const fn has_upgrade(&self) -> bool {
        // RFC 9110 §7.8: Upgrade is ignored in HTTP/1.0, and without its connection option.
        self.upgrade && self.upgrade_option && matches!(self.version, Version::Http11)
    }

    /// RFC 9112 §3.2: one Host at most, and a valid one.
    fn add_host(&mut self, value: &[u8]) -> Result<(), Fault> {
        if self.has_host {
            return Err(Fault::syntax("more than one Host"));
        }
        if !host::is_host(value) {
            return Err(Fault::syntax("an invalid Host"));
        }
        self.has_host = true;
        Ok(())
    }

    fn add_connection(&mut self, value: &[u8]) {
        for option in value.split(|&byte| byte == b',').map(trim_blanks) {
            self.close |= option.eq_ignore_ascii_case(b"close");
            self.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
            self.upgrade_option |= option.eq_ignore_ascii_case(b"upgrade");
        }
    }

    fn add_length(&mut self, value: &[u8], leniency: Leniency) -> Result<(), Fault> {
        for length in value.split(|&byte| byte == b',').map(trim_blanks) {
            let length = parse_length(length)?;
            // RFC 9112 §6.3, rule 5: different values are an error, equal ones may be taken as one.
            match self.length.replace(length) {
                Some(_) if !leniency.equal_lengths => {
                    return Err(Fault::framing("more than one Content-Length"));
                }
                Some(earlier) if earlier != length => {
                    return Err(Fault::framing("different Content-Lengths"));
                }
                Some(_) | None => {}
            }
        }
        Ok(())
    }

    /// RFC 9112 §6.1: chunked is the last coding, and applied once. Others are not supported.
    fn add_coding(&mut self, value: &[u8]) -> Result<(), Fault> {
        let mut codings =
            value.split(|&byte| byte == b',').map(trim_blanks).filter(|coding| !coding.is_empty());
        codings.try_for_each(|coding| match (coding.eq_ignore_ascii_case(b"chunked"), self.coding) {
            (true, TransferCoding::Absent) => {
                self.coding = TransferCoding::Chunked;
                Ok(())
            }
            (true, TransferCoding::Chunked) => Err(Fault::framing("chunked twice")),
            (false, _) => Err(Fault::new(Code::UnsupportedTe, 501, "")),
        })?;
        match self.coding {
            TransferCoding::Absent => Err(Fault::framing("an empty Transfer-Encoding")),
            TransferCoding::Chunked => Ok(()),
        }
    }
}

/// RFC 9110 §8.6: digits, and nothing else.
fn parse_length(value: &[u8]) -> Result<u64, Fault> {
    let invalid = Fault::framing("an invalid Content-Length");
    if value.is_empty() || value.len() > MAX_LENGTH_DIGITS {
        return Err(invalid);
    }
    value.iter().try_fold(0_u64, |length, &byte| {
        let digit = Some(byte).filter(u8::is_ascii_digit).map(|byte| u64::from(byte - b'0'));
        digit.and_then(|digit| length.checked_mul(10)?.checked_add(digit)).ok_or(invalid)
    })
}

/// The seconds of `timeout=` in a Keep-Alive field (RFC 2068 §19.7.1.1).
fn idle_limit(value: &[u8]) -> Option<Duration> {
    let mut parameters = value.split(|&byte| byte == b',').map(trim_blanks);
    parameters.find_map(|parameter| {
        let (name, seconds) = parameter.split_at_checked(b"timeout=".len())?;
        let is_timeout = name.eq_ignore_ascii_case(b"timeout=");
        let seconds = is_timeout.then(|| core::str::from_utf8(seconds).ok())??;
        Some(Duration::from_secs(seconds.parse::<u32>().ok()?.into()))
    })
}

/// 2^63 - 1 has as many.
const MAX_LENGTH_DIGITS: usize = 19;

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(fields: &[(&str, &str)], leniency: Leniency) -> Result<Facts, Fault> {
        let mut facts = Facts::default();
        for (name, value) in fields {
            facts.add(name.as_bytes(), value.as_bytes(), leniency)?;
        }
        Ok(facts)
    }

    fn strict(fields: &[(&str, &str)]) -> Result<Facts, Fault> {
        facts(fields, Leniency::default())
    }

    #[test]
    fn a_length_is_digits_only() {
        assert_eq!(strict(&[("content-length", "0042")]).unwrap().length, Some(42));
        assert_eq!(
            strict(&[("Content-Length", "9223372036854775807")]).unwrap().length,
            Some(i64::MAX as u64)
        );
        for value in
            ["", "+1", "-1", "0x1", "1 2", "1_0", "1.0", "00000000000000000001", "1,", "a", "\u{0661}"]
        {
            assert!(strict(&[("Content-Length", value)]).is_err(), "{value}");
        }
    }

    #[test]
    fn several_lengths_are_refused_unless_equal_ones_are_allowed() {
        let lenient = Leniency { equal_lengths: true, ..Leniency::default() };
        let (twice, list) =
            ([("Content-Length", "5"), ("Content-Length", "5")], [("Content-Length", "5, 5")]);
        for fields in [&twice[..], &list[..]] {
            assert!(strict(fields).is_err());
            assert_eq!(facts(fields, lenient).unwrap().length, Some(5));
        }
        assert!(facts(&[("Content-Length", "5, 6")], lenient).is_err());
        assert!(facts(&[("Content-Length", "5"), ("Content-Length", "6")], lenient).is_err());
    }

    #[test]
    fn chunked_alone_is_accepted_once() {
        assert_eq!(strict(&[("transfer-encoding", "Chunked")]).unwrap().coding, TransferCoding::Chunked);
        let status = |value| strict(&[("Transfer-Encoding", value)]).unwrap_err().status;
        assert_eq!(
            [status("gzip, chunked"), status("chunked, gzip"), status("identity"), status("chunked;a")],
            [501; 4]
        );
        assert_eq!([status(""), status("chunked, chunked"), status(",")], [400; 3]);
        let twice = [("Transfer-Encoding", "chunked"), ("Transfer-Encoding", "chunked")];
        assert_eq!(strict(&twice).unwrap_err().status, 400);
    }

    #[test]
    fn the_connection_lasts_as_version_and_options_say() {
        assert!(strict(&[]).unwrap().is_persistent());
        assert!(!strict(&[("Connection", "x, Close")]).unwrap().is_persistent());
        let old = Facts { version: Version::Http10, ..Facts::default() };
        assert!(!old.is_persistent());
        assert!(Facts { keep_alive: true, ..old }.is_persistent());
        assert!(!Facts { keep_alive: true, close: true, ..old }.is_persistent());
    }

    #[test]
    fn an_upgrade_needs_its_connection_option() {
        assert!(strict(&[("Upgrade", "x"), ("Connection", "keep-alive, Upgrade")]).unwrap().has_upgrade());
        assert!(!strict(&[("Upgrade", "x")]).unwrap().has_upgrade());
        assert!(!strict(&[("Connection", "Upgrade")]).unwrap().has_upgrade());
    }

    #[test]
    fn the_time_that_a_server_keeps_an_idle_connection_is_read() {
        let limit = |value| strict(&[("Keep-Alive", value)]).unwrap().idle_limit;
        assert_eq!(limit("max=100, Timeout=5"), Some(Duration::from_secs(5)));
        assert_eq!([limit("timeout="), limit("timeout=-1"), limit("timeout=5.5"), limit("max=5")], [None; 4]);
    }
}
