//! Heads: a start line and field lines.
//!
//! ```text
//! Start ──start line──▶ Fields ──empty line──▶ (whole)
//!   │ one empty line before a request
//!   └──▶ Start, skipped
//! ```

use super::{
    config::{Config, Leniency, Limits},
    facts::Facts,
    fault::Fault,
    line::{LineFault, LineRules, Lines},
    request_line,
    section::{Section, SectionLimits},
    status_line,
    version::Version,
};
use crate::{Code, Kind, Message};

/// Reads one head after the other, from pieces of any size.
#[derive(Debug, Default)]
pub(super) struct HeadReader {
    lines: Lines,
    stage: Stage,
    section: Section,
    facts: Facts,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Start,
    StartBehindEmptyLine,
    Fields,
}

/// What kind of head is read, and how.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeadRules {
    pub(super) kind: HeadKind,
    pub(super) limits: Limits,
    pub(super) leniency: Leniency,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HeadKind {
    Request,
    Response,
}

impl HeadRules {
    /// The rules of a client: it reads responses.
    pub(super) const fn of_client(config: &Config) -> Self {
        Self { kind: HeadKind::Response, limits: config.limits, leniency: config.leniency }
    }

    /// The rules of a server: it reads requests, and overlooks nothing.
    pub(super) const fn of_server(config: &Config) -> Self {
        let leniency = Leniency { length_beside_chunked: false, bare_lf: false, equal_lengths: false };
        Self { kind: HeadKind::Request, limits: config.limits, leniency }
    }

    const fn section(&self) -> SectionLimits {
        let Limits { field, fields, field_count, .. } = self.limits;
        SectionLimits { line: field, bytes: fields, lines: field_count }
    }
}

impl HeadReader {
    /// Takes the next lines of a head from the front of `input` into `message`. Returns what they say once the head is
    /// whole.
    pub(super) fn read(
        &mut self,
        input: &mut &[u8],
        message: &mut Message,
        rules: &HeadRules,
    ) -> Result<Option<Facts>, Fault> {
        while !input.is_empty() {
            let whole = match self.stage {
                Stage::Start | Stage::StartBehindEmptyLine => self.read_start(input, message, rules)?,
                Stage::Fields => self.read_field(input, message, rules)?,
            };
            if whole {
                return self.finish(rules.kind).map(Some);
            }
        }
        Ok(None)
    }

    /// Says whether nothing of a head has arrived.
    pub(super) fn is_empty(&self) -> bool {
        self.stage != Stage::Fields && self.lines.is_empty()
    }

    fn read_start(
        &mut self,
        input: &mut &[u8],
        message: &mut Message,
        rules: &HeadRules,
    ) -> Result<bool, Fault> {
        let line_rules = LineRules { limit: rules.limits.start_line, bare_lf: rules.leniency.bare_lf };
        let line = match self.lines.next(input, line_rules) {
            Ok(Some(line)) => line,
            Ok(None) => return Ok(false),
            Err(LineFault::TooLong) => return Err(Fault::new(Code::StartLineTooLong, 414, "")),
            Err(LineFault::BareLf) => return Err(Fault::syntax("a line that ends with LF alone")),
        };
        match rules.kind {
            // RFC 9112 §2.2: an empty line before a request is ignored; here, one.
            HeadKind::Request if line.is_empty() && self.stage == Stage::Start => {
                self.stage = Stage::StartBehindEmptyLine;
                return Ok(false);
            }
            HeadKind::Request => {
                let parsed = request_line::parse(line)?;
                message.kind = Kind::Request;
                message.method = parsed.method;
                message.target.push_str(parsed.target);
                self.facts.version = parsed.version;
            }
            HeadKind::Response => {
                let (version, status) = status_line::parse(line)?;
                message.kind = if status < 200 { Kind::Informational } else { Kind::Response };
                message.status = status;
                (self.facts.version, self.facts.status) = (version, status);
            }
        }
        self.stage = Stage::Fields;
        Ok(false)
    }

    fn read_field(
        &mut self,
        input: &mut &[u8],
        message: &mut Message,
        rules: &HeadRules,
    ) -> Result<bool, Fault> {
        let limits = rules.section();
        let line_rules = self.section.rules(limits, rules.leniency.bare_lf);
        let Some(line) = self.lines.next(input, line_rules).map_err(Section::fault)? else {
            return Ok(false);
        };
        let Some((name, value)) = self.section.add(line, limits)? else { return Ok(true) };
        self.facts.add(name, value, rules.leniency)?;
        message.headers.append_checked(name, value).ok_or(Fault::fields("fields that are too long"))?;
        Ok(false)
    }

    fn finish(&mut self, kind: HeadKind) -> Result<Facts, Fault> {
        let facts = core::mem::take(&mut self.facts);
        self.section = Section::default();
        self.stage = Stage::Start;
        // RFC 9112 §3.2: a 1.1 request without Host is answered with 400.
        if kind == HeadKind::Request && facts.version == Version::Http11 && !facts.has_host {
            return Err(Fault::syntax("no Host"));
        }
        Ok(facts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{format, vec};

    fn read(pieces: &[&[u8]], rules: &HeadRules) -> Result<Option<Message>, Fault> {
        let (mut reader, mut message) = (HeadReader::default(), Message::default());
        for mut piece in pieces.iter().copied() {
            if reader.read(&mut piece, &mut message, rules)?.is_some() {
                assert!(piece.is_empty() && reader.is_empty());
                return Ok(Some(message));
            }
            assert!(piece.is_empty());
        }
        Ok(None)
    }

    fn server() -> HeadRules {
        HeadRules::of_server(&Config::default())
    }

    #[test]
    fn one_empty_line_before_a_request_is_skipped_and_a_second_is_not() {
        let request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
        assert!(read(&[format!("\r\n{request}").as_bytes()], &server()).unwrap().is_some());
        assert!(read(&[format!("\r\n\r\n{request}").as_bytes()], &server()).is_err());
        let client = HeadRules::of_client(&Config::default());
        assert!(read(&[b"\r\nHTTP/1.1 200 OK\r\n\r\n"], &client).is_err());
    }

    #[test]
    fn a_request_of_1_1_names_its_host_and_one_of_1_0_need_not() {
        assert!(read(&[b"GET / HTTP/1.1\r\n\r\n"], &server()).is_err());
        assert!(read(&[b"GET / HTTP/1.0\r\n\r\n"], &server()).unwrap().is_some());
        assert!(read(&[b"GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n"], &server()).is_err());
    }

    #[test]
    fn each_limit_holds_to_the_byte_however_the_head_is_cut() {
        let start =
            |n: usize| format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "x".repeat(n - "GET / HTTP/1.1".len()));
        let field = |n: usize| format!("GET / HTTP/1.1\r\nHost: a\r\nx:{}\r\n\r\n", "y".repeat(n - 2));
        let fields = |n: usize| {
            let eight = format!("x:{}\r\n", "y".repeat(8_190)).repeat(7);
            let rest = n - "Host: a".len() - 7 * 8_192;
            format!("GET / HTTP/1.1\r\nHost: a\r\n{eight}x:{}\r\n\r\n", "y".repeat(rest - 2))
        };
        let count = |n: usize| format!("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", "x:y\r\n".repeat(n - 1));
        let cases = [
            (start(8_192), start(8_193), 414),
            (field(8_192), field(8_193), 431),
            (fields(65_536), fields(65_537), 431),
            (count(100), count(101), 431),
        ];
        for (longest, too_long, status) in cases {
            for size in [1, 7, 4_096, usize::MAX] {
                let pieces = |text: &'static str| text.as_bytes().chunks(size).collect::<vec::Vec<_>>();
                assert!(read(&pieces(longest.clone().leak()), &server()).unwrap().is_some());
                assert_eq!(read(&pieces(too_long.clone().leak()), &server()).unwrap_err().status, status);
            }
        }
    }
}
