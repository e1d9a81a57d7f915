//! What a certificate says of itself, as far as people want to know (RFC 5280 §4.1).

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

/// What a certificate says of itself. Nothing here is checked: TLS has done that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Certificate {
    pub(super) subject: String,
    pub(super) issuer: String,
    pub(super) from: String,
    pub(super) to: String,
    /// The SHA-256 of its key, for `--pin`.
    pub(super) pin: String,
}

impl Certificate {
    /// Reads it from DER; `None` where it is not one.
    pub(super) fn read(der: &[u8]) -> Option<Self> {
        let mut certificate = Der(Der(der).expect(SEQUENCE)?.content);
        let mut body = Der(certificate.expect(SEQUENCE)?.content);
        if body.peek()? == VERSION {
            body.next()?;
        }
        let _serial = body.next()?;
        let _algorithm = body.next()?;
        let issuer = name(body.expect(SEQUENCE)?.content)?;
        let mut validity = Der(body.expect(SEQUENCE)?.content);
        let (from, to) = (day(&validity.next()?)?, day(&validity.next()?)?);
        let subject = name(body.expect(SEQUENCE)?.content)?;
        let key = body.expect(SEQUENCE)?;
        Some(Self { subject, issuer, from, to, pin: HEXLOWER.encode(&Sha256::digest(key.whole)) })
    }
}

/// Reads DER from the front.
struct Der<'a>(&'a [u8]);

/// One value: its tag, its content, and both with the length between them.
struct Value<'a> {
    tag: u8,
    content: &'a [u8],
    whole: &'a [u8],
}

impl<'a> Der<'a> {
    fn peek(&self) -> Option<u8> {
        self.0.first().copied()
    }

    fn next(&mut self) -> Option<Value<'a>> {
        let (&tag, &first) = (self.0.first()?, self.0.get(1)?);
        let (len, head) = match first {
            ..=0x7f => (usize::from(first), 2),
            0x81..=0x83 => {
                let digits = usize::from(first & 3);
                let bytes = self.0.get(2..2 + digits)?;
                (bytes.iter().fold(0, |len, &byte| len << 8 | usize::from(byte)), 2 + digits)
            }
            _ => return None,
        };
        let whole = self.0.get(..head + len)?;
        self.0 = self.0.get(head + len..)?;
        Some(Value { tag, content: whole.get(head..)?, whole })
    }

    fn expect(&mut self, tag: u8) -> Option<Value<'a>> {
        self.next().filter(|value| value.tag == tag)
    }
}

/// Reads a name: `CN=robot, O=Lab`. Attributes without a usual short form are left out.
fn name(der: &[u8]) -> Option<String> {
    let mut sets = Der(der);
    let mut parts = Vec::new();
    while let Some(set) = sets.next() {
        let mut attribute = Der(Der(set.content).expect(SEQUENCE)?.content);
        let (kind, value) = (attribute.expect(OBJECT)?, attribute.next()?);
        let short = ATTRIBUTES.iter().find(|(oid, _)| *oid == kind.content);
        if let Some((_, short)) = short {
            let printable: String = String::from_utf8_lossy(value.content)
                .chars()
                .map(|letter| if letter.is_control() { '?' } else { letter })
                .collect();
            parts.push(format!("{short}={printable}"));
        }
    }
    Some(if parts.is_empty() { "nobody by name".into() } else { parts.join(", ") })
}

/// Reads a time to the day: `2026-01-31`. Years with two digits are those from 1950 to 2049 (RFC 5280 §4.1.2.5.1).
fn day(time: &Value<'_>) -> Option<String> {
    let digits = std::str::from_utf8(time.content).ok()?;
    let (year, rest) = match time.tag {
        UTC_TIME => {
            let year = digits.get(..2)?;
            let century = if year < "50" { "20" } else { "19" };
            (format!("{century}{year}"), digits.get(2..)?)
        }
        GENERALIZED_TIME => (digits.get(..4)?.to_owned(), digits.get(4..)?),
        _ => return None,
    };
    Some(format!("{year}-{}-{}", rest.get(..2)?, rest.get(2..4)?))
}

const SEQUENCE: u8 = 0x30;
const OBJECT: u8 = 0x06;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
/// The optional version in front.
const VERSION: u8 = 0xa0;

/// Object identifiers of attributes, and how they are abbreviated (RFC 4514 §3).
const ATTRIBUTES: [(&[u8], &str); 5] = [
    (&[0x55, 4, 3], "CN"),
    (&[0x55, 4, 10], "O"),
    (&[0x55, 4, 11], "OU"),
    (&[0x55, 4, 6], "C"),
    (&[0x55, 4, 7], "L"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_is_read_and_every_truncation_is_none() {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let der = made.cert.der().to_vec();
        let read = Certificate::read(&der).unwrap();
        assert_eq!(read.subject, "CN=rcgen self signed cert");
        assert_eq!((read.issuer.as_str(), read.from.as_str()), ("CN=rcgen self signed cert", "1975-01-01"));
        assert_eq!(read.pin.len(), 64);
        for len in 0..der.len() {
            assert_eq!(Certificate::read(&der[..len]), None, "{len}");
        }
    }
}
