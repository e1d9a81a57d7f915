//! Lines, from pieces of any size.

use alloc::vec::Vec;

/// Cuts a stream into lines. Each byte is looked at once, however the lines are cut into pieces; only a line that spans
/// pieces is copied.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// The beginning of a line whose end has not arrived.
    partial: Vec<u8>,
    /// `partial` has become a line, and has been returned.
    returned: bool,
}

/// Which lines are accepted.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineRules {
    /// Bytes without the line's end. No more than that is kept.
    pub(super) limit: usize,
    /// Whether LF alone ends a line.
    pub(super) bare_lf: bool,
}

/// Why a line was not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineFault {
    TooLong,
    BareLf,
}

impl Lines {
    /// Takes the next line from the front of `input`, and returns it without its end; or keeps what there is of it.
    ///
    /// Whether and why a line is refused does not depend on how it was cut.
    pub(super) fn next<'a, 'input: 'a>(
        &'a mut self,
        input: &mut &'input [u8],
        rules: LineRules,
    ) -> Result<Option<&'a [u8]>, LineFault> {
        if core::mem::take(&mut self.returned) {
            self.partial.clear();
        }
        let data = *input;
        let Some(end) = memchr::memchr(b'\n', data) else {
            *input = &[];
            return self.keep(data, rules).map(|()| None);
        };
        let (line, rest) = data.split_at(end);
        *input = rest.get(1..).unwrap_or_default();
        let line = if self.partial.is_empty() {
            line
        } else {
            self.keep(line, rules)?;
            self.returned = true;
            &self.partial
        };
        let (line, bare) = match line.strip_suffix(b"\r") {
            Some(line) => (line, false),
            None => (line, true),
        };
        if line.len() > rules.limit {
            return Err(LineFault::TooLong);
        }
        if bare && !rules.bare_lf {
            return Err(LineFault::BareLf);
        }
        Ok(Some(line))
    }

    /// Says whether nothing of a line has arrived.
    pub(super) fn is_empty(&self) -> bool {
        self.returned || self.partial.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.partial.clear();
        self.returned = false;
    }

    fn keep(&mut self, data: &[u8], rules: LineRules) -> Result<(), LineFault> {
        let last = data.last().or_else(|| self.partial.last());
        let content = self.partial.len() + data.len() - usize::from(last == Some(&b'\r'));
        if content > rules.limit {
            return Err(LineFault::TooLong);
        }
        self.partial.extend_from_slice(data);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{string::String, vec};
    use proptest::prelude::*;

    const STRICT: LineRules = LineRules { limit: 6, bare_lf: false };

    fn lines(pieces: &[&[u8]], rules: LineRules) -> (Vec<String>, Option<LineFault>) {
        let (mut lines, mut found) = (Lines::default(), vec![]);
        for mut input in pieces.iter().copied() {
            while !input.is_empty() {
                match lines.next(&mut input, rules) {
                    Ok(Some(line)) => found.push(String::from_utf8_lossy(line).into_owned()),
                    Ok(None) => {}
                    Err(fault) => return (found, Some(fault)),
                }
            }
        }
        (found, None)
    }

    #[test]
    fn a_line_of_the_limit_is_accepted_and_a_longer_one_is_not() {
        assert_eq!(
            lines(&[b"123456\r\nab\r\n\r\n"], STRICT),
            (vec!["123456".into(), "ab".into(), "".into()], None)
        );
        assert_eq!(lines(&[b"1234567"], STRICT).1, Some(LineFault::TooLong));
        assert_eq!(lines(&[b"123456\r"], STRICT).1, None);
    }

    #[test]
    fn a_bare_lf_ends_a_line_only_if_allowed() {
        assert_eq!(lines(&[b"a\n"], STRICT).1, Some(LineFault::BareLf));
        assert_eq!(lines(&[b"a\n"], LineRules { bare_lf: true, ..STRICT }), (vec!["a".into()], None));
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(
            bytes in proptest::collection::vec(prop_oneof![Just(b'a'), Just(b'\r'), Just(b'\n')], 0..40),
            size in 1_usize..9,
            bare_lf: bool,
        ) {
            let rules = LineRules { bare_lf, ..STRICT };
            let pieces: Vec<_> = bytes.chunks(size).collect();
            prop_assert_eq!(lines(&pieces, rules), lines(&[&bytes], rules));
        }
    }
}
