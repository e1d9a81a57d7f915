//! The protocol's version (RFC 9112 §2.3).

use super::fault::Fault;
use crate::Code;

/// A version of HTTP/1. Later minor versions count as 1.1 (RFC 9110 §2.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Version {
    Http10,
    #[default]
    Http11,
}

impl Version {
    pub(super) fn parse(text: &[u8]) -> Result<Self, Fault> {
        match text {
            b"HTTP/1.1" => Ok(Self::Http11),
            b"HTTP/1.0" => Ok(Self::Http10),
            [b'H', b'T', b'T', b'P', b'/', b'1', b'.', b'2'..=b'9'] => Ok(Self::Http11),
            [b'H', b'T', b'T', b'P', b'/', b'0'..=b'9', b'.', b'0'..=b'9'] => {
                Err(Fault::new(Code::HttpVersion, 505, "a major version other than 1"))
            }
            _ => Err(Fault::syntax("no HTTP version")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_minor_versions_are_1_1_and_other_majors_are_told_apart_from_nonsense() {
        assert_eq!(Version::parse(b"HTTP/1.9"), Ok(Version::Http11));
        assert_eq!(Version::parse(b"HTTP/2.0").unwrap_err().status, 505);
        for text in ["HTTP/1.10", "http/1.1", "HTTP/1", "HTTP/11", "HTTP/1.a", "", "HTTP/1.1 "] {
            assert_eq!(Version::parse(text.as_bytes()).unwrap_err().status, 400, "{text}");
        }
    }
}
