//! A section of field lines: a head's, or a chunked body's trailers.

use super::{
    fault::Fault,
    field::{self, FieldLine},
    line::{LineFault, LineRules},
};

/// Counts a section's lines and bytes against its limits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Section {
    lines: usize,
    bytes: usize,
}

/// How much a section may have.
#[derive(Clone, Copy, Debug)]
pub(super) struct SectionLimits {
    /// Bytes of one line.
    pub(super) line: usize,
    /// Bytes of all lines, without their ends.
    pub(super) bytes: usize,
    /// Lines.
    pub(super) lines: usize,
}

impl Section {
    /// Returns how long the next line may be.
    pub(super) fn rules(&self, limits: SectionLimits, bare_lf: bool) -> LineRules {
        LineRules { limit: limits.line.min(limits.bytes.saturating_sub(self.bytes)), bare_lf }
    }

    /// Takes in a line that followed those rules. `None` is the section's end: the empty line.
    pub(super) fn add<'a>(
        &mut self,
        line: &'a [u8],
        limits: SectionLimits,
    ) -> Result<Option<FieldLine<'a>>, Fault> {
        if line.is_empty() {
            return Ok(None);
        }
        if self.lines >= limits.lines {
            return Err(Fault::fields("too many fields"));
        }
        self.lines += 1;
        self.bytes += line.len();
        field::split(line).map(Some)
    }

    /// Says what a line that did not follow the rules means.
    pub(super) const fn fault(fault: LineFault) -> Fault {
        match fault {
            LineFault::TooLong => Fault::fields("fields that are too long"),
            LineFault::BareLf => Fault::syntax("a line that ends with LF alone"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: SectionLimits = SectionLimits { line: 8, bytes: 10, lines: 2 };

    #[test]
    fn lines_and_bytes_are_counted() {
        let mut section = Section::default();
        assert_eq!(section.rules(LIMITS, false).limit, 8);
        assert_eq!(section.add(b"a: b", LIMITS), Ok(Some((&b"a"[..], &b"b"[..]))));
        assert_eq!(section.rules(LIMITS, false).limit, 6);
        section.add(b"a:b", LIMITS).unwrap();
        assert_eq!(section.add(b"a:b", LIMITS).unwrap_err().status, 431);
        assert_eq!(section.add(b"", LIMITS), Ok(None));
    }
}
