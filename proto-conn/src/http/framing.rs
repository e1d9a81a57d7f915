//! Where a message ends (RFC 9112 §6.3).

use super::{
    config::Leniency,
    facts::{Facts, TransferCoding},
    fault::Fault,
    version::Version,
};
use crate::Method;

/// How a body's end is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    /// There is none.
    None,
    /// It has so many bytes.
    Length(u64),
    /// It is chunked.
    Chunked,
    /// It lasts until the connection ends.
    UntilClose,
}

/// What a response answers, as far as it matters to its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Head,
    Connect,
    Other,
}

impl Asked {
    pub(super) const fn by(method: &Method) -> Self {
        match method {
            Method::Head => Self::Head,
            Method::Connect => Self::Connect,
            Method::Get
            | Method::Post
            | Method::Put
            | Method::Delete
            | Method::Options
            | Method::Trace
            | Method::Patch
            | Method::Other(_) => Self::Other,
        }
    }

    /// Says whether a response of that status has no body, whatever its fields say: rules 1 and 2.
    pub(super) const fn forbids_body(self, status: u16) -> bool {
        matches!(self, Self::Head)
            || matches!(status, 100..=199 | 204 | 304)
            || (matches!(self, Self::Connect) && matches!(status, 200..=299))
    }
}

/// Returns a request's framing: rules 3 to 7.
pub(super) fn of_request(facts: &Facts) -> Result<Framing, Fault> {
    match facts.coding {
        TransferCoding::Chunked => chunked(facts),
        TransferCoding::Absent => Ok(facts.length.map_or(Framing::None, Framing::Length)),
    }
}

/// Returns a response's framing: rules 1 to 8.
pub(super) fn of_response(facts: &Facts, asked: Asked, leniency: Leniency) -> Result<Framing, Fault> {
    if asked.forbids_body(facts.status) {
        return Ok(Framing::None);
    }
    match facts.coding {
        TransferCoding::Chunked if leniency.length_beside_chunked => {
            chunked(&Facts { length: None, ..*facts })
        }
        TransferCoding::Chunked => chunked(facts),
        TransferCoding::Absent => Ok(facts.length.map_or(Framing::UntilClose, Framing::Length)),
    }
}

fn chunked(facts: &Facts) -> Result<Framing, Fault> {
    // RFC 9112 §6.1: who sends 1.0 does not know chunked, whatever a hop before it did.
    if facts.version == Version::Http10 {
        return Err(Fault::framing("Transfer-Encoding in HTTP/1.0"));
    }
    // RFC 9112 §6.3, rule 3: with both, somebody may be smuggling.
    if facts.length.is_some() {
        return Err(Fault::framing("both Transfer-Encoding and Content-Length"));
    }
    Ok(Framing::Chunked)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(status: u16, length: Option<u64>, coding: TransferCoding) -> Facts {
        Facts { status, length, coding, ..Facts::default() }
    }

    fn response(facts: &Facts, asked: Asked) -> Result<Framing, Fault> {
        of_response(facts, asked, Leniency::default())
    }

    #[test]
    fn some_responses_have_no_body_whatever_their_fields_say() {
        let both = |status| facts(status, Some(5), TransferCoding::Chunked);
        assert_eq!(response(&both(200), Asked::Head), Ok(Framing::None));
        assert_eq!(response(&both(200), Asked::Connect), Ok(Framing::None));
        for status in [100, 103, 199, 204, 304] {
            assert_eq!(response(&both(status), Asked::Other), Ok(Framing::None));
        }
        assert_eq!(
            response(&facts(403, Some(5), TransferCoding::Absent), Asked::Connect),
            Ok(Framing::Length(5))
        );
    }

    #[test]
    fn without_a_mark_a_request_has_no_body_and_a_response_lasts_until_the_end() {
        let none = facts(200, None, TransferCoding::Absent);
        assert_eq!(of_request(&none), Ok(Framing::None));
        assert_eq!(response(&none, Asked::Other), Ok(Framing::UntilClose));
    }

    #[test]
    fn two_marks_are_refused_unless_a_client_is_told_to_believe_one() {
        let both = facts(200, Some(5), TransferCoding::Chunked);
        assert!(of_request(&both).is_err());
        assert!(response(&both, Asked::Other).is_err());
        let lenient = Leniency { length_beside_chunked: true, ..Leniency::default() };
        assert_eq!(of_response(&both, Asked::Other, lenient), Ok(Framing::Chunked));
    }

    #[test]
    fn chunked_is_unknown_to_1_0() {
        let old = Facts { version: Version::Http10, ..facts(200, None, TransferCoding::Chunked) };
        assert!(of_request(&old).is_err());
        assert!(response(&old, Asked::Other).is_err());
    }
}
