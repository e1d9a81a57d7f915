//! How a body to send is announced and written (RFC 9110 §8.6, RFC 9112 §6).

use super::{
    body_writer::{self, BodyWriter},
    encode::Announced,
    framing::Asked,
    options::BodyKind,
    version::Version,
};
use crate::{Code, Error, Kind, Message, Method, Phase};

/// Decides for a request.
pub(super) fn request(request: &Message, kind: BodyKind) -> Result<(Announced, BodyWriter), Error> {
    if request.kind != Kind::Request {
        return Err(bad_message("not a request"));
    }
    let length = length_of(request, kind);
    let is_chunked = length.is_none() || !request.trailers.is_empty();
    // RFC 9110 §9.3.6, §9.3.8: neither CONNECT nor TRACE has content.
    if matches!(request.method, Method::Connect | Method::Trace) && (is_chunked || length != Some(0)) {
        return Err(bad_message("a body that the method cannot have"));
    }
    body_writer::check_trailers(&request.trailers)?;
    Ok(match length {
        _ if is_chunked => (Announced::Chunked, BodyWriter::Chunked),
        Some(0) if kind == BodyKind::Whole && request.method.expects_body() => {
            (Announced::Length(0), BodyWriter::Done)
        }
        Some(0) if kind == BodyKind::Whole => (Announced::Nothing, BodyWriter::Done),
        Some(left) => (Announced::Length(left), BodyWriter::Length { left }),
        None => (Announced::Chunked, BodyWriter::Chunked),
    })
}

/// Decides for a final response.
pub(super) fn response(
    response: &Message,
    kind: BodyKind,
    asked: Asked,
    version: Version,
) -> Result<(Announced, BodyWriter), Error> {
    let length = length_of(response, kind);
    // RFC 9110 §15.3.5, §15.4.5, RFC 9112 §6.1: no content, and nothing that announces any.
    if matches!(response.status, 204 | 304) {
        let is_empty = length.is_none_or(|length| length == 0);
        let nothing = (Announced::Nothing, BodyWriter::Done);
        return if is_empty { Ok(nothing) } else { Err(bad_message("a body that the status cannot have")) };
    }
    body_writer::check_trailers(&response.trailers)?;
    let is_chunked = length.is_none() || !response.trailers.is_empty();
    let (announced, body) = match length {
        _ if is_chunked && version == Version::Http11 => (Announced::Chunked, BodyWriter::Chunked),
        Some(0) if kind == BodyKind::Whole => (Announced::Length(0), BodyWriter::Done),
        Some(left) => (Announced::Length(left), BodyWriter::Length { left }),
        None => (Announced::Nothing, BodyWriter::UntilClose),
    };
    Ok(match (asked, kind) {
        // RFC 9110 §9.3.2: as for GET, but for the body.
        (Asked::Head, BodyKind::Whole) => (announced, BodyWriter::Done),
        (Asked::Head, BodyKind::Streamed { .. }) => (announced, BodyWriter::Dropped),
        (Asked::Connect | Asked::Other, _) => (announced, body),
    })
}

fn length_of(message: &Message, kind: BodyKind) -> Option<u64> {
    match kind {
        BodyKind::Whole => Some(message.body.len() as u64),
        BodyKind::Streamed { length } => length,
    }
}

fn bad_message(detail: &str) -> Error {
    Error::new(Code::BadMessage, Phase::Arguments).with_detail(detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(method: Method, body: &'static str) -> Announced {
        request(&Message::request(method, "/", body), BodyKind::Whole).unwrap().0
    }

    #[test]
    fn a_request_announces_a_body_if_it_has_one_or_usually_would() {
        assert_eq!(asked(Method::Get, ""), Announced::Nothing);
        assert_eq!(asked(Method::Head, ""), Announced::Nothing);
        assert_eq!(asked(Method::Post, ""), Announced::Length(0));
        assert_eq!(asked(Method::Get, "abc"), Announced::Length(3));
        let streamed = |length| request(&Message::get(), BodyKind::Streamed { length }).unwrap().0;
        assert_eq!([streamed(None), streamed(Some(7))], [Announced::Chunked, Announced::Length(7)]);
        assert!(request(&Message::request(Method::Trace, "/", "x"), BodyKind::Whole).is_err());
    }

    #[test]
    fn a_response_announces_what_its_request_and_status_allow() {
        let to = |asked, version, status, kind| {
            response(&Message::response(status, ""), kind, asked, version).map_err(|error| error.code)
        };
        let (whole, streamed) = (BodyKind::Whole, BodyKind::Streamed { length: None });
        let (old, new) = (Version::Http10, Version::Http11);
        assert_eq!(to(Asked::Other, new, 200, whole), Ok((Announced::Length(0), BodyWriter::Done)));
        assert_eq!(to(Asked::Other, new, 204, whole), Ok((Announced::Nothing, BodyWriter::Done)));
        assert_eq!(to(Asked::Other, new, 200, streamed), Ok((Announced::Chunked, BodyWriter::Chunked)));
        assert_eq!(to(Asked::Other, old, 200, streamed), Ok((Announced::Nothing, BodyWriter::UntilClose)));
        assert_eq!(to(Asked::Head, new, 200, streamed), Ok((Announced::Chunked, BodyWriter::Dropped)));
        assert_eq!(to(Asked::Other, new, 304, BodyKind::Streamed { length: Some(1) }), Err(Code::BadMessage));
    }
}
