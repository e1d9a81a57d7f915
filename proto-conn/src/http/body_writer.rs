//! The sending half of a body.

use super::trailers;
use crate::{Code, Error, Headers, Outgoing, Payload, Phase};

/// Writes one body after the other, in the framing that its head announced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum BodyWriter {
    /// Nothing is being sent.
    #[default]
    Done,
    /// So many bytes are to come.
    Length { left: u64 },
    /// Chunks are to come (RFC 9112 §7.1).
    Chunked,
    /// Whatever comes until the connection is closed.
    UntilClose,
    /// What comes is dropped: the answer to HEAD has none (RFC 9110 §9.3.2).
    Dropped,
}

impl BodyWriter {
    /// Appends a part.
    pub(super) fn push(&mut self, part: Payload, outgoing: &mut Outgoing) -> Result<(), Error> {
        match self {
            Self::Done => {
                return Err(Error::new(Code::BadState, Phase::Arguments).with_detail("no body is being sent"));
            }
            Self::Dropped => {}
            Self::Length { left } => {
                let after = left.checked_sub(part.len() as u64);
                *left = after.ok_or_else(|| bad_message("a body that is longer than announced"))?;
                outgoing.push(part);
            }
            Self::Chunked => write_chunk(part, outgoing),
            Self::UntilClose => outgoing.push(part),
        }
        Ok(())
    }

    /// Appends the end.
    pub(super) fn finish(&mut self, trailers: &Headers, outgoing: &mut Outgoing) -> Result<(), Error> {
        match self {
            Self::Done => {
                return Err(Error::new(Code::BadState, Phase::Arguments).with_detail("no body is being sent"));
            }
            Self::Length { left } if *left > 0 => {
                return Err(bad_message("a body that is shorter than announced"));
            }
            Self::Length { .. } | Self::UntilClose if !trailers.is_empty() => {
                return Err(bad_message("trailers behind a body that is not chunked"));
            }
            Self::Length { .. } | Self::UntilClose | Self::Dropped => {}
            Self::Chunked => {
                check_trailers(trailers)?;
                write_last_chunk(trailers, outgoing);
            }
        }
        *self = Self::Done;
        Ok(())
    }

    pub(super) fn is_done(&self) -> bool {
        *self == Self::Done
    }
}

/// RFC 9110 §6.5.1: a sender does not put into trailers what a recipient has to know before.
pub(super) fn check_trailers(trailers: &Headers) -> Result<(), Error> {
    match trailers.iter().find(|(name, _)| !trailers::may_have(name.as_bytes())) {
        Some((name, _)) => Err(Error::new(Code::BadHeader, Phase::Arguments).with_detail(name)),
        None => Ok(()),
    }
}

fn write_chunk(part: Payload, outgoing: &mut Outgoing) {
    // An empty chunk would end the body.
    if part.is_empty() {
        return;
    }
    outgoing.write(|buf| {
        write_hexadecimal(part.len(), buf);
        buf.extend_from_slice(b"\r\n");
    });
    outgoing.push(part);
    outgoing.write(|buf| buf.extend_from_slice(b"\r\n"));
}

fn write_last_chunk(trailers: &Headers, outgoing: &mut Outgoing) {
    outgoing.write(|buf| {
        buf.extend_from_slice(b"0\r\n");
        for (name, value) in trailers.iter() {
            super::encode::field(name.as_bytes(), value, buf);
        }
        buf.extend_from_slice(b"\r\n");
    });
}

fn write_hexadecimal(number: usize, buf: &mut alloc::vec::Vec<u8>) {
    let digits = (usize::BITS - number.leading_zeros()).div_ceil(4).max(1);
    for place in (0..digits).rev() {
        let digit = u32::try_from(number >> (4 * place) & 0xf).unwrap_or(0);
        buf.extend(char::from_digit(digit, 16).map(|digit| u8::try_from(digit).unwrap_or(b'0')));
    }
}

fn bad_message(detail: &str) -> Error {
    Error::new(Code::BadMessage, Phase::Arguments).with_detail(detail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{string::String, vec::Vec};

    fn written(mut writer: BodyWriter, parts: &[&'static str], trailers: &Headers) -> Result<String, Error> {
        let mut outgoing = Outgoing::default();
        for part in parts {
            writer.push((*part).into(), &mut outgoing)?;
        }
        writer.finish(trailers, &mut outgoing)?;
        assert!(writer.is_done());
        let mut bytes = Vec::new();
        while outgoing.copy(usize::MAX, &mut bytes) > 0 {}
        Ok(String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn chunks_have_their_size_before_them_and_trailers_behind() {
        let mut trailers = Headers::new();
        trailers.append("Digest", "x").unwrap();
        let text = written(BodyWriter::Chunked, &["hello", "", "sixteen letters!"], &trailers).unwrap();
        assert_eq!(text, "5\r\nhello\r\n10\r\nsixteen letters!\r\n0\r\nDigest: x\r\n\r\n");
    }

    #[test]
    fn a_body_is_as_long_as_announced() {
        let none = Headers::new();
        assert_eq!(written(BodyWriter::Length { left: 5 }, &["hel", "lo"], &none).unwrap(), "hello");
        assert!(written(BodyWriter::Length { left: 5 }, &["hell"], &none).is_err());
        assert!(written(BodyWriter::Length { left: 5 }, &["hello!"], &none).is_err());
        assert_eq!(written(BodyWriter::Dropped, &["hello"], &none).unwrap(), "");
    }

    #[test]
    fn trailers_that_come_too_late_are_refused() {
        let mut trailers = Headers::new();
        trailers.append("Content-Length", "5").unwrap();
        assert_eq!(written(BodyWriter::Chunked, &[], &trailers).unwrap_err().code, Code::BadHeader);
    }
}
