//! Percent-encoding (RFC 3986 §2).

use alloc::{borrow::Cow, string::String, vec::Vec};
use core::fmt;

use super::{UrlError, UrlProblem};

/// Checks that `text` consists of percent-encoded bytes and bytes that `allowed` lets through.
pub(super) fn check(text: &str, at: usize, allowed: impl Fn(u8) -> bool) -> Result<(), UrlError> {
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let at = at + (text.len() - rest.len());
        rest = match (first, after) {
            (b'%', [high, low, after @ ..]) if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => after,
            (b'%', _) => return Err(UrlError { problem: UrlProblem::Percent, at }),
            (byte, after) if allowed(*byte) => after,
            _ => return Err(UrlError { problem: UrlProblem::Character, at }),
        };
    }
    Ok(())
}

/// `unreserved` or `sub-delims` of RFC 3986 §2.
pub(super) const fn is_plain(byte: u8) -> bool {
    is_unreserved(byte)
        || matches!(byte, b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+' | b',' | b';' | b'=')
}

/// `unreserved` of RFC 3986 §2.3.
pub(super) const fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// Decodes text, if it is UTF-8 then and has no control characters.
pub(super) fn decode(text: &str) -> Option<Cow<'_, str>> {
    let decoded = match bytes(text) {
        None => Cow::Borrowed(text),
        Some(bytes) => Cow::Owned(String::from_utf8(bytes).ok()?),
    };
    (!decoded.contains(char::is_control)).then_some(decoded)
}

/// Decodes text; what is not UTF-8 then becomes U+FFFD.
pub(super) fn decode_lossy(text: &str) -> Cow<'_, str> {
    match bytes(text) {
        None => Cow::Borrowed(text),
        Some(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
    }
}

/// Text for people, in which all but `unreserved` is encoded.
pub(super) struct Encoded<'a>(pub(super) &'a str);

impl fmt::Display for Encoded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.bytes().try_for_each(|byte| {
            if is_unreserved(byte) { write!(f, "{}", char::from(byte)) } else { write!(f, "%{byte:02X}") }
        })
    }
}

/// Returns the bytes that `text` stands for, if any are encoded.
fn bytes(text: &str) -> Option<Vec<u8>> {
    let mut decoded = Vec::new();
    let mut rest = text.as_bytes();
    if !rest.contains(&b'%') {
        return None;
    }
    while let [first, after @ ..] = rest {
        let (byte, after) = match (first, after) {
            (b'%', [high, low, beyond @ ..]) => match (digit(*high), digit(*low)) {
                (Some(high), Some(low)) => (high << 4 | low, beyond),
                _ => (b'%', after),
            },
            (byte, after) => (*byte, after),
        };
        decoded.push(byte);
        rest = after;
    }
    Some(decoded)
}

const fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString as _;

    #[test]
    fn what_is_encoded_can_be_decoded() {
        let text = "Grüße: 100%/\u{1f916}";
        let encoded = Encoded(text).to_string();
        assert!(check(&encoded, 0, is_unreserved).is_ok());
        assert_eq!(decode(&encoded).unwrap(), text);
        assert_eq!(decode_lossy("a%ffb%4"), "a\u{fffd}b%4");
        assert_eq!(decode("a%ffb"), None);
        assert_eq!(decode("a%0Ab"), None);
    }
}
