//! The chunked transfer coding (RFC 9112 §7.1): its reader.
//!
//! ```text
//! Size ──n──▶ Content ──n bytes──▶ Cr ──▶ Lf ──▶ Size
//!   └──0──▶ Trailers ──empty line──▶ Done
//! ```

use super::{
    config::Limits,
    fault::Fault,
    line::{LineFault, LineRules, Lines},
    section::{Section, SectionLimits},
    trailers,
};
use crate::{Headers, headers::is_token};

/// Reads one chunked body.
#[derive(Debug, Default)]
pub(super) struct ChunkedReader {
    lines: Lines,
    stage: Stage,
    /// Bytes of extensions so far.
    extensions: usize,
    section: Section,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Size,
    Content {
        left: u64,
    },
    Cr,
    Lf,
    Trailers,
    Done,
}

/// What is next in a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// The input is used up.
    More,
    /// Content.
    Content(&'a [u8]),
    /// The body is complete.
    End,
}

impl ChunkedReader {
    /// Takes the next piece from the front of `input`; trailer fields go to `trailers`.
    pub(super) fn next<'a>(
        &mut self,
        input: &mut &'a [u8],
        trailers: &mut Headers,
        limits: &Limits,
    ) -> Result<Piece<'a>, Fault> {
        loop {
            match (self.stage, *input) {
                (Stage::Done, _) => return Ok(Piece::End),
                (_, []) => return Ok(Piece::More),
                (Stage::Size, _) => self.read_size(input, limits)?,
                (Stage::Content { left }, data) => {
                    let len = usize::try_from(left).unwrap_or(usize::MAX).min(data.len());
                    let (content, rest) = data.split_at(len);
                    *input = rest;
                    self.advance(len);
                    return Ok(Piece::Content(content));
                }
                // RFC 9112 §7.1: exactly CRLF behind a chunk's content.
                (Stage::Cr, [b'\r', rest @ ..]) => {
                    *input = rest;
                    self.stage = Stage::Lf;
                }
                (Stage::Lf, [b'\n', rest @ ..]) => {
                    *input = rest;
                    self.stage = Stage::Size;
                }
                (Stage::Cr | Stage::Lf, _) => {
                    return Err(Fault::framing("a chunk that is longer than its size"));
                }
                (Stage::Trailers, _) => self.read_trailer(input, trailers, limits)?,
            }
        }
    }

    /// Returns how many bytes of content come next, for certain.
    pub(super) const fn ahead(&self) -> u64 {
        match self.stage {
            Stage::Content { left } => left,
            Stage::Size | Stage::Cr | Stage::Lf | Stage::Trailers | Stage::Done => 0,
        }
    }

    /// Takes note that `len` bytes of the content [`ahead`](Self::ahead) have been read.
    pub(super) const fn advance(&mut self, len: usize) {
        if let Stage::Content { left } = self.stage {
            let left = left.saturating_sub(len as u64);
            self.stage = if left == 0 { Stage::Cr } else { Stage::Content { left } };
        }
    }

    /// Makes it ready for another body.
    pub(super) fn reset(&mut self) {
        self.lines.clear();
        (self.stage, self.extensions, self.section) = (Stage::Size, 0, Section::default());
    }

    fn read_size(&mut self, input: &mut &[u8], limits: &Limits) -> Result<(), Fault> {
        let rules =
            LineRules { limit: MAX_SIZE_DIGITS.saturating_add(limits.chunk_extension), bare_lf: false };
        let line = match self.lines.next(input, rules) {
            Ok(Some(line)) => line,
            Ok(None) => return Ok(()),
            Err(LineFault::TooLong) => return Err(EXTENSIONS_TOO_LONG),
            // What ends a line for one reader and not for another hides a request in an extension.
            Err(LineFault::BareLf) => return Err(Fault::framing("a chunk size that ends with LF alone")),
        };
        let (size, extensions) = split_size(line)?;
        self.extensions = self.extensions.saturating_add(extensions.len());
        if extensions.len() > limits.chunk_extension || self.extensions > limits.chunk_extensions {
            return Err(EXTENSIONS_TOO_LONG);
        }
        // RFC 9112 §7.1.1: extensions mean nothing to us, but have to be well-formed.
        if !are_extensions(extensions) {
            return Err(Fault::framing("a malformed chunk extension"));
        }
        self.stage = if size == 0 { Stage::Trailers } else { Stage::Content { left: size } };
        Ok(())
    }

    fn read_trailer(&mut self, input: &mut &[u8], kept: &mut Headers, limits: &Limits) -> Result<(), Fault> {
        let Limits { field, trailers, trailer_count, .. } = *limits;
        let limits = SectionLimits { line: field, bytes: trailers, lines: trailer_count };
        let rules = self.section.rules(limits, false);
        let Some(line) = self.lines.next(input, rules).map_err(Section::fault)? else { return Ok(()) };
        match self.section.add(line, limits)? {
            Some((name, value)) if trailers::may_have(name) => {
                kept.append_checked(name, value).ok_or(Fault::fields("trailers that are too long"))?;
            }
            Some(_) => {}
            None => self.stage = Stage::Done,
        }
        Ok(())
    }
}

/// Splits a line into a chunk's size and its extensions (RFC 9112 §7.1): hexadecimal digits, and nothing between them
/// and the semicolon.
fn split_size(line: &[u8]) -> Result<(u64, &[u8]), Fault> {
    let end = line.iter().position(|byte| !byte.is_ascii_hexdigit()).unwrap_or(line.len());
    let (digits, extensions) = line.split_at(end);
    if digits.is_empty() || !matches!(extensions, [] | [b';', ..]) {
        return Err(Fault::framing("a malformed chunk size"));
    }
    if digits.len() > MAX_SIZE_DIGITS {
        return Err(Fault::framing("a chunk size that is too large"));
    }
    let size = digits.iter().fold(0, |size: u64, &digit| {
        let value = char::from(digit).to_digit(16).unwrap_or(0);
        size << 4 | u64::from(value)
    });
    if size > MAX_SIZE {
        return Err(Fault::framing("a chunk size that is too large"));
    }
    Ok((size, extensions))
}

/// Says whether it is any number of `;name`, `;name=token` or `;name="quoted"`.
fn are_extensions(mut rest: &[u8]) -> bool {
    while let [b';', extension @ ..] = rest {
        let Some(behind) = behind_token(extension) else { return false };
        rest = match behind {
            [b'=', b'"', quoted @ ..] => match behind_quoted(quoted) {
                Some(behind) => behind,
                None => return false,
            },
            [b'=', value @ ..] => match behind_token(value) {
                Some(behind) => behind,
                None => return false,
            },
            _ => behind,
        };
    }
    rest.is_empty()
}

fn behind_token(text: &[u8]) -> Option<&[u8]> {
    let len = text.iter().position(|&byte| !is_token(byte)).unwrap_or(text.len());
    if len == 0 { None } else { text.get(len..) }
}

/// Skips to behind the closing quote (RFC 9110 §5.6.4).
fn behind_quoted(mut text: &[u8]) -> Option<&[u8]> {
    loop {
        text = match text {
            [b'"', behind @ ..] => return Some(behind),
            [b'\\', b'\t' | b' '..=b'~' | 0x80.., rest @ ..] => rest,
            [b'\\', ..] => return None,
            [b'\t' | b' '..=b'~' | 0x80.., rest @ ..] => rest,
            _ => return None,
        };
    }
}

const EXTENSIONS_TOO_LONG: Fault = Fault::framing("chunk extensions that are too long");

/// Digits of a chunk size, with leading zeros.
const MAX_SIZE_DIGITS: usize = 16;
const MAX_SIZE: u64 = (1 << 63) - 1;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{format, string::String, vec::Vec};
    use proptest::prelude::*;

    type Read = Result<Option<(Vec<u8>, Headers)>, Fault>;

    fn read(pieces: &[&[u8]], limits: &Limits) -> Read {
        let (mut reader, mut trailers, mut content) = (ChunkedReader::default(), Headers::new(), Vec::new());
        for mut input in pieces.iter().copied() {
            loop {
                match reader.next(&mut input, &mut trailers, limits)? {
                    Piece::More => break,
                    Piece::Content(bytes) => content.extend_from_slice(bytes),
                    Piece::End => return Ok(Some((content, trailers))),
                }
            }
        }
        Ok(None)
    }

    fn whole(text: &str) -> Read {
        read(&[text.as_bytes()], &Limits::default())
    }

    #[test]
    fn chunks_are_joined_and_trailers_kept() {
        let (content, trailers) =
            whole("5;a=b;c=\"d\\\" ;\"\r\nabcde\r\n00A\r\n0123456789\r\n0\r\nX: y\r\n\r\n").unwrap().unwrap();
        assert_eq!(content, b"abcde0123456789");
        assert_eq!(trailers.get_str("x"), Some("y"));
    }

    #[test]
    fn a_size_is_hexadecimal_digits_only() {
        for size in
            ["", " 5", "5 ", "+5", "-5", "0x5", "5_0", "5g", "5 ;a", "8000000000000000", "00000000000000005"]
        {
            assert!(whole(&format!("{size}\r\nabcde\r\n0\r\n\r\n")).is_err(), "{size}");
        }
        assert_eq!(whole("7fffffffffffffff\r\nab"), Ok(None));
    }

    #[test]
    fn extensions_are_well_formed_and_limited() {
        for extension in [";a", ";a=b", ";a=\"b c\"", ";a;b;c=d"] {
            assert!(whole(&format!("1{extension}\r\nx\r\n0\r\n\r\n")).is_ok(), "{extension}");
        }
        for extension in
            [";", ";=b", ";a=", ";a b", ";a=\"b", ";a=\"\rb\"", ";a\n", ";a=b\"", "; a", ";a=\"\0\""]
        {
            assert!(whole(&format!("1{extension}\r\nx\r\n0\r\n\r\n")).is_err(), "{extension:?}");
        }
        let limit = Limits::default().chunk_extension;
        let chunk = |n: usize| format!("1;{}\r\nx\r\n", "e".repeat(n - 1));
        assert_eq!(whole(&chunk(limit)), Ok(None));
        assert!(whole(&chunk(limit + 1)).is_err());
        assert_eq!(whole(&chunk(limit).repeat(16)), Ok(None));
        assert!(whole(&chunk(limit).repeat(17)).is_err());
    }

    #[test]
    fn trailers_are_limited_and_those_that_would_change_the_message_are_dropped() {
        let (_, trailers) =
            whole("0\r\nContent-Length: 5\r\nauthorization: x\r\nETag: y\r\n\r\n").unwrap().unwrap();
        assert_eq!(trailers.len(), 1);
        assert!(whole(&format!("0\r\n{}\r\n", "a:b\r\n".repeat(32))).is_ok());
        assert_eq!(whole(&format!("0\r\n{}\r\n", "a:b\r\n".repeat(33))).unwrap_err().status, 431);
        assert_eq!(whole(&format!("0\r\na:{}", "b".repeat(9_000))).unwrap_err().status, 431);
        assert!(whole("0\r\n a: b\r\n\r\n").is_err());
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(
            text in "([0-3](;a)?(\r\n|\n|\r|x)[ab]{0,3}(\r\n|\r|XX)?){0,4}(0\r\n(a:b\r\n)?\r\n)?",
            size in 1_usize..5,
        ) {
            let pieces: Vec<_> = text.as_bytes().chunks(size).collect();
            let text = String::clone(&text);
            prop_assert_eq!(read(&pieces, &Limits::default()), whole(&text));
        }
    }
}
