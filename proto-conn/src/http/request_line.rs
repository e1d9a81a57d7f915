//! The first line of a request (RFC 9112 §3).

use super::{fault::Fault, host, version::Version};
use crate::{Method, headers::is_token};

/// The parts of a request line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RequestLine<'a> {
    pub(super) method: Method,
    pub(super) target: &'a str,
    pub(super) version: Version,
}

/// Parses a request line without its end: three parts with single spaces between.
pub(super) fn parse(line: &[u8]) -> Result<RequestLine<'_>, Fault> {
    let end = line.iter().position(|&byte| !is_token(byte)).unwrap_or(line.len());
    let (method, rest) = line.split_at(end);
    // RFC 9110 §9.1: a method is a token.
    let (Ok(method), [b' ', rest @ ..], false) = (core::str::from_utf8(method), rest, method.is_empty())
    else {
        return Err(Fault::syntax("a malformed method"));
    };
    let Some(end) = memchr::memchr(b' ', rest) else {
        return Err(Fault::syntax("a request line without a version"));
    };
    let (target, version) = rest.split_at(end);
    let method = Method::from_name(method);
    let target = parse_target(&method, target)?;
    let version = Version::parse(version.get(1..).unwrap_or_default())?;
    Ok(RequestLine { method, target, version })
}

/// Checks a target against the form that the method asks for (RFC 9112 §3.2).
fn parse_target<'a>(method: &Method, target: &'a [u8]) -> Result<&'a str, Fault> {
    // RFC 9112 §3.2: no white space; RFC 3986 §2: ASCII. Control characters would reach logs and other servers.
    if !is_target(target) {
        return Err(Fault::syntax("a character that a target cannot have"));
    }
    let Ok(target) = core::str::from_utf8(target) else {
        return Err(Fault::syntax("a target that is not text"));
    };
    let in_form = match method {
        Method::Connect => host::is_authority(target),
        Method::Options if target == "*" => true,
        Method::Get
        | Method::Head
        | Method::Post
        | Method::Put
        | Method::Delete
        | Method::Options
        | Method::Trace
        | Method::Patch
        | Method::Other(_) => target.starts_with('/') || is_absolute(target),
    };
    if in_form { Ok(target) } else { Err(Fault::syntax("a target in none of the forms that the method has")) }
}

/// Says whether all bytes are printable ASCII.
pub(super) fn is_target(target: &[u8]) -> bool {
    !target.is_empty() && target.iter().fold(true, |all, byte| all & byte.is_ascii_graphic())
}

/// Says whether it has a scheme and an authority (RFC 9112 §3.2.2).
fn is_absolute(target: &str) -> bool {
    let Some((scheme, rest)) = target.split_once("://") else { return false };
    let mut letters = scheme.bytes();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic())
        && letters.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
        && !rest.is_empty()
        && !rest.starts_with('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_of_target_goes_with_its_methods() {
        let accepted = [
            ("GET / HTTP/1.1", Method::Get, "/"),
            ("GET http://a.b/c?d HTTP/1.0", Method::Get, "http://a.b/c?d"),
            ("OPTIONS * HTTP/1.1", Method::Options, "*"),
            ("OPTIONS /a HTTP/1.1", Method::Options, "/a"),
            ("CONNECT a.b:443 HTTP/1.1", Method::Connect, "a.b:443"),
            ("CONNECT [::1]:443 HTTP/1.1", Method::Connect, "[::1]:443"),
            ("M-SEARCH /x HTTP/1.1", Method::Other("M-SEARCH".into()), "/x"),
        ];
        for (line, method, target) in accepted {
            let parsed = parse(line.as_bytes()).unwrap();
            assert_eq!((parsed.method, parsed.target), (method, target));
        }
        for line in [
            "GET * HTTP/1.1",
            "GET a.b:443 HTTP/1.1",
            "CONNECT / HTTP/1.1",
            "CONNECT a.b HTTP/1.1",
            "GET a HTTP/1.1",
            "CONNECT http://a.b:1 HTTP/1.1",
            "GET :// HTTP/1.1",
            "GET http:///x HTTP/1.1",
            "CONNECT :80 HTTP/1.1",
        ] {
            assert!(parse(line.as_bytes()).is_err(), "{line}");
        }
    }

    #[test]
    fn a_line_that_is_not_three_parts_with_single_spaces_is_refused() {
        for line in [
            "",
            " ",
            "GET",
            "GET ",
            "GET /",
            "GET / ",
            "GET  / HTTP/1.1",
            "GET /  HTTP/1.1",
            "GET / HTTP/1.1 ",
            " GET / HTTP/1.1",
            "GET\t/ HTTP/1.1",
            "GET /a b HTTP/1.1",
            "G(T / HTTP/1.1",
            "GET /\u{7f} HTTP/1.1",
            "GET /\r HTTP/1.1",
            "GET /\0 HTTP/1.1",
            "GET /\u{e9} HTTP/1.1",
            "GET / HTTP/1.1\r",
            "/ HTTP/1.1",
        ] {
            assert!(parse(line.as_bytes()).is_err(), "{line:?}");
        }
    }
}
