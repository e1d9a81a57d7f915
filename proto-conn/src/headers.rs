//! Header and trailer fields (RFC 9110 §5).

use alloc::{string::String, vec::Vec};
use core::fmt;

/// Header or trailer fields, in order, in one block of memory.
///
/// Names are compared without regard to case and kept as they were written. Values are bytes (RFC 9110 §5.5), mostly
/// ASCII text.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Headers {
    block: Vec<u8>,
    fields: Vec<Field>,
}

/// Where a field lies in the block: its name, and its value right behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Field {
    name: u32,
    value: u32,
    end: u32,
}

/// Why a field cannot be added: sent, it would become something else (RFC 9110 §5.1, §5.5).
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// The name is empty or has characters other than those of a token.
    #[error("a field name may have letters, digits and !#$%&'*+-.^_`|~ only")]
    Name,
    /// The value has CR, LF, NUL or another control character, or blanks at its ends.
    #[error("a field value may not have control characters, or blanks at its ends")]
    Value,
    /// All fields together have more than 4 GiB.
    #[error("the fields are too long")]
    TooLong,
}

impl Headers {
    /// Creates an empty list.
    pub const fn new() -> Self {
        Self { block: Vec::new(), fields: Vec::new() }
    }

    /// Appends a field.
    ///
    /// # Errors
    /// The name is not a token, or the value has characters that no value may have.
    pub fn append(&mut self, name: &str, value: impl AsRef<[u8]>) -> Result<(), HeaderError> {
        let value = value.as_ref();
        if name.is_empty() || !name.bytes().all(is_token) {
            return Err(HeaderError::Name);
        }
        if !is_value(value) {
            return Err(HeaderError::Value);
        }
        self.append_checked(name.as_bytes(), value).ok_or(HeaderError::TooLong)
    }

    /// Replaces all fields of the name by one.
    ///
    /// # Errors
    /// As for [`append`](Self::append); nothing is changed then.
    pub fn set(&mut self, name: &str, value: impl AsRef<[u8]>) -> Result<(), HeaderError> {
        let mut without = self.clone();
        without.remove(name);
        without.append(name, value)?;
        *self = without;
        Ok(())
    }

    /// Appends a field whose name and value are known to be well-formed. `None` when there is no room.
    pub(crate) fn append_checked(&mut self, name: &[u8], value: &[u8]) -> Option<()> {
        let start = u32::try_from(self.block.len()).ok()?;
        let middle = start.checked_add(u32::try_from(name.len()).ok()?)?;
        let end = middle.checked_add(u32::try_from(value.len()).ok()?)?;
        self.block.extend_from_slice(name);
        self.block.extend_from_slice(value);
        self.fields.push(Field { name: start, value: middle, end });
        Some(())
    }

    /// Removes all fields of the name, and says how many there were.
    pub fn remove(&mut self, name: &str) -> usize {
        let before = self.fields.len();
        let Self { block, fields } = self;
        fields.retain(|field| !field.name_in(block).eq_ignore_ascii_case(name.as_bytes()));
        before - fields.len()
    }

    /// Removes all fields, and keeps the memory.
    pub fn clear(&mut self) {
        self.block.clear();
        self.fields.clear();
    }

    /// Returns the value of the first field of the name.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        let found = self.iter_bytes().find(|(n, _)| n.eq_ignore_ascii_case(name.as_bytes()));
        found.map(|(_, value)| value)
    }

    /// Returns the value of the first field of the name, if that is text.
    pub fn get_str(&self, name: &str) -> Option<&str> {
        core::str::from_utf8(self.get(name)?).ok()
    }

    /// Returns the values of all fields of the name.
    pub fn get_all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> + 'a {
        let matching = move |(n, _): &(&[u8], &[u8])| n.eq_ignore_ascii_case(name.as_bytes());
        self.iter_bytes().filter(matching).map(|(_, value)| value)
    }

    /// Returns the members of the comma-separated list that all fields of the name form (RFC 9110 §5.6.1), without
    /// blanks around them and without empty ones. Commas in quoted strings do not separate.
    pub fn list<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> + 'a {
        self.get_all(name).flat_map(|value| Members { rest: Some(value) })
    }

    /// Says whether the list of the name has `token`, without regard to case.
    pub fn has_token(&self, name: &str, token: &str) -> bool {
        self.list(name).any(|member| member.eq_ignore_ascii_case(token.as_bytes()))
    }

    /// Returns how many fields there are.
    pub const fn len(&self) -> usize {
        self.fields.len()
    }

    /// Says whether there are no fields.
    pub const fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Returns names and values in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.iter_bytes().filter_map(|(name, value)| Some((core::str::from_utf8(name).ok()?, value)))
    }

    fn iter_bytes(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.fields.iter().map(|field| (field.name_in(&self.block), field.value_in(&self.block)))
    }
}

impl Field {
    fn name_in(self, block: &[u8]) -> &[u8] {
        block.get(self.name as usize..self.value as usize).unwrap_or_default()
    }

    fn value_in(self, block: &[u8]) -> &[u8] {
        block.get(self.value as usize..self.end as usize).unwrap_or_default()
    }
}

impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map()
            .entries(self.iter().map(|(name, value)| (name, String::from_utf8_lossy(value))))
            .finish()
    }
}

/// The members of a comma-separated list.
struct Members<'a> {
    rest: Option<&'a [u8]>,
}

impl<'a> Iterator for Members<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        loop {
            let rest = self.rest?;
            let member = rest.get(..end_of_member(rest)).unwrap_or_default();
            self.rest = rest.get(member.len() + 1..);
            let member = trim_blanks(member);
            if !member.is_empty() {
                return Some(member);
            }
        }
    }
}

fn end_of_member(list: &[u8]) -> usize {
    let (mut quoted, mut escaped) = (false, false);
    for (index, &byte) in list.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b',' if !quoted => return index,
            _ => {}
        }
    }
    list.len()
}

/// Returns `bytes` without spaces and tabs at its ends (OWS of RFC 9110 §5.6.3).
pub(crate) fn trim_blanks(mut bytes: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] = bytes {
        bytes = rest;
    }
    while let [rest @ .., b' ' | b'\t'] = bytes {
        bytes = rest;
    }
    bytes
}

/// Says whether a byte may be part of a token (RFC 9110 §5.6.2).
#[allow(clippy::indexing_slicing, reason = "the table has an entry for each byte")]
pub(crate) const fn is_token(byte: u8) -> bool {
    TOKEN[byte as usize]
}

/// Says whether a byte may be part of a value: anything but controls other than tab (RFC 9110 §5.5).
pub(crate) const fn is_value_byte(byte: u8) -> bool {
    byte == b'\t' || (byte >= b' ' && byte != 0x7f)
}

fn is_value(value: &[u8]) -> bool {
    trim_blanks(value).len() == value.len() && value.iter().all(|&byte| is_value_byte(byte))
}

#[allow(clippy::indexing_slicing, reason = "the table has an entry for each byte")]
const TOKEN: [bool; 256] = {
    let mut table = [false; 256];
    let symbols = b"!#$%&'*+-.^_`|~0123456789";
    let mut n = 0;
    while n < symbols.len() {
        table[symbols[n] as usize] = true;
        n += 1;
    }
    let mut letter = b'a';
    while letter <= b'z' {
        table[letter as usize] = true;
        table[letter.to_ascii_uppercase() as usize] = true;
        letter += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{vec, vec::Vec};

    #[test]
    fn names_are_found_without_regard_to_case_and_kept_as_written() {
        let mut headers = Headers::new();
        headers.append("Content-Type", "text/plain").unwrap();
        headers.append("X-a", "1").unwrap();
        headers.append("x-A", "2").unwrap();
        assert_eq!(headers.get_str("content-type"), Some("text/plain"));
        assert_eq!(headers.get_all("X-A").collect::<Vec<_>>(), [b"1", b"2"]);
        assert_eq!(headers.iter().map(|(name, _)| name).collect::<Vec<_>>(), ["Content-Type", "X-a", "x-A"]);
        headers.set("x-a", "3").unwrap();
        assert_eq!(headers.get_all("X-A").collect::<Vec<_>>(), [b"3"]);
        assert_eq!(headers.remove("CONTENT-TYPE"), 1);
        assert_eq!(headers.len(), 1);
    }

    #[test]
    fn a_field_that_would_become_another_is_refused() {
        let mut headers = Headers::new();
        for name in ["", "a b", "a:", "a\r\n", "\u{e9}"] {
            assert_eq!(headers.append(name, "x"), Err(HeaderError::Name), "{name}");
        }
        for value in ["a\r\nb: c", "a\nb", "a\0", "\u{7f}", " a", "a\t"] {
            assert_eq!(headers.append("a", value), Err(HeaderError::Value), "{value:?}");
        }
        headers.append("a", "caf\u{e9} \t x").unwrap();
        headers.append("a", "").unwrap();
        assert!(headers.set("a", "\0").is_err());
        assert_eq!(headers.len(), 2);
    }

    #[test]
    fn a_list_spans_fields_and_respects_quotes() {
        let mut headers = Headers::new();
        headers.append("connection", "close, , Upgrade").unwrap();
        headers.append("connection", "\"a,\\\"b\", c").unwrap();
        let members: Vec<&[u8]> = vec![b"close", b"Upgrade", b"\"a,\\\"b\"", b"c"];
        assert_eq!(headers.list("Connection").collect::<Vec<_>>(), members);
        assert!(headers.has_token("connection", "upgrade"));
        assert!(!headers.has_token("connection", "upgrad"));
    }
}
