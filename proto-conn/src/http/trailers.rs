//! Which fields may stand behind a body (RFC 9110 §6.5.1).

/// Says whether a trailer field of that name is kept. Those that frame, route, authenticate or describe the content
/// would come too late to be obeyed, and are dropped.
pub(super) fn may_have(name: &[u8]) -> bool {
    !LATE.iter().any(|late| late.as_bytes().eq_ignore_ascii_case(name))
}

const LATE: [&str; 33] = [
    "age",
    "authorization",
    "cache-control",
    "connection",
    "content-encoding",
    "content-length",
    "content-range",
    "content-type",
    "cookie",
    "date",
    "expect",
    "expires",
    "forwarded",
    "host",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "if-range",
    "if-unmodified-since",
    "keep-alive",
    "location",
    "max-forwards",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "range",
    "retry-after",
    "set-cookie",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "www-authenticate",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_without_regard_to_case() {
        assert!(!may_have(b"Transfer-Encoding"));
        assert!(may_have(b"Digest"));
    }
}
