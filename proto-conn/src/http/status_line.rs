//! The first line of a response (RFC 9112 §4).

use super::{fault::Fault, field::is_text, version::Version};

/// Parses a status line without its end. The reason phrase says nothing to a program, and is dropped.
pub(super) fn parse(line: &[u8]) -> Result<(Version, u16), Fault> {
    let Some((version, rest)) = line.split_at_checked(VERSION_LEN) else {
        return Err(Fault::syntax("no HTTP version"));
    };
    let version = Version::parse(version)?;
    let (digits, reason) = match rest {
        [b' ', a, b, c, reason @ ..] => ([*a, *b, *c], reason),
        _ => return Err(Fault::syntax("a status line without a status")),
    };
    let mut status = 0;
    for digit in digits {
        if !digit.is_ascii_digit() {
            return Err(Fault::syntax("a status that is not a number"));
        }
        status = status * 10 + u16::from(digit - b'0');
    }
    // RFC 9110 §15: three digits, of which the first is the class.
    if status < 100 {
        return Err(Fault::syntax("a status below 100"));
    }
    // The space behind the status is often left out when there is no reason.
    match reason {
        [] => Ok((version, status)),
        [b' ', reason @ ..] if is_text(reason) => Ok((version, status)),
        _ => Err(Fault::syntax("a malformed reason phrase")),
    }
}

const VERSION_LEN: usize = b"HTTP/1.1".len();

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_may_be_missing_and_may_have_any_text() {
        for line in ["HTTP/1.1 200 OK", "HTTP/1.1 200 ", "HTTP/1.1 200", "HTTP/1.1 200 \u{e9} \t!"] {
            assert_eq!(parse(line.as_bytes()), Ok((Version::Http11, 200)), "{line}");
        }
        assert_eq!(parse(b"HTTP/1.0 599 x"), Ok((Version::Http10, 599)));
    }

    #[test]
    fn malformed_lines_are_refused() {
        for line in [
            "",
            "HTTP/1.1",
            "HTTP/1.1 ",
            "HTTP/1.1 20",
            "HTTP/1.1 2000",
            "HTTP/1.1 20a OK",
            "HTTP/1.1  200 OK",
            "HTTP/1.1\t200 OK",
            "HTTP/1.1 099 OK",
            "HTTP/1.1 200 a\rb",
            "HTTP/1.1 200\tOK",
            "ICY 200 OK",
            "HTTP/1.1 +20",
        ] {
            assert!(parse(line.as_bytes()).is_err(), "{line:?}");
        }
    }
}
