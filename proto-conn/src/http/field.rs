//! One field line (RFC 9112 §5).

use super::fault::Fault;
use crate::headers::{is_token, is_value_byte, trim_blanks};

/// A field's name and value.
pub(super) type FieldLine<'a> = (&'a [u8], &'a [u8]);

/// Splits a field line into name and value, and checks both.
pub(super) fn split(line: &[u8]) -> Result<FieldLine<'_>, Fault> {
    let end = line.iter().position(|&byte| !is_token(byte)).unwrap_or(line.len());
    let (name, rest) = line.split_at(end);
    let value = match rest {
        // RFC 9110 §5.1: a name is a token, which is not empty.
        [b':', value @ ..] if !name.is_empty() => value,
        [b':', ..] => return Err(Fault::syntax("a field without a name")),
        // RFC 9112 §5.2: line folding is obsolete, and refused. §2.2: nor may the first line begin with white space.
        [b' ' | b'\t', ..] if name.is_empty() => {
            return Err(Fault::syntax("a line that begins with white space"));
        }
        // RFC 9112 §5.1: no white space between name and colon.
        [b' ' | b'\t', ..] => return Err(Fault::syntax("white space before a field's colon")),
        [] => return Err(Fault::syntax("a field without a colon")),
        [_, ..] => return Err(Fault::syntax("a character that a field name cannot have")),
    };
    let value = trim_blanks(value);
    // RFC 9110 §5.5: CR, LF, NUL and other controls are refused.
    if !is_text(value) {
        return Err(Fault::syntax("a control character in a field value"));
    }
    Ok((name, value))
}

/// Says whether all bytes may be part of a field value.
pub(super) fn is_text(value: &[u8]) -> bool {
    let (words, rest) = value.as_chunks::<8>();
    words.iter().all(|word| !may_have_control(*word) || word.iter().all(|&byte| is_value_byte(byte)))
        && rest.iter().all(|&byte| is_value_byte(byte))
}

/// Looks at eight bytes at once for one below a space, or DEL. What it takes for one may be a tab, or a byte behind a
/// true one; it misses none.
const fn may_have_control(word: [u8; 8]) -> bool {
    const EACH: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH: u64 = EACH << 7;
    let word = u64::from_ne_bytes(word);
    let below_space = word.wrapping_sub(EACH * 0x20) & !word;
    let no_del = word ^ (EACH * 0x7f);
    let del = no_del.wrapping_sub(EACH) & !no_del;
    (below_space | del) & HIGH != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_loses_the_blanks_around_it() {
        assert_eq!(split(b"Host: \t a b \t"), Ok((&b"Host"[..], &b"a b"[..])));
        assert_eq!(split(b"a:"), Ok((&b"a"[..], &b""[..])));
        assert_eq!(split(b"a::b"), Ok((&b"a"[..], &b":b"[..])));
    }

    #[test]
    fn a_line_that_two_readers_could_read_differently_is_refused() {
        for line in
            [": x", "a", " a: x", "\ta: x", "a : x", "a b: x", "a\0: x", "\u{e9}: x", "a: x\ry", "a: \0"]
        {
            assert!(split(line.as_bytes()).is_err(), "{line:?}");
        }
    }

    #[test]
    fn each_byte_is_text_or_not_wherever_it_stands() {
        for byte in 0..=u8::MAX {
            for place in 0..19 {
                let mut value = [b'x'; 19];
                value[place] = byte;
                assert_eq!(is_text(&value), is_value_byte(byte), "{byte} at {place}");
            }
        }
    }
}
