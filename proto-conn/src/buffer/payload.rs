//! A message's bytes.

use alloc::{string::String, sync::Arc, vec::Vec};
use bytes::Bytes;
use core::{fmt, ops::Deref, ops::Range};

/// Bytes that several owners share. A clone costs a reference count.
///
/// What a machine received lies in memory of its [`Pool`](crate::Pool), which uses it again once the last payload on
/// it is gone.
#[derive(Clone, Default)]
pub struct Payload(Repr);

#[derive(Clone)]
enum Repr {
    Shared(Bytes),
    Pooled { memory: Arc<Vec<u8>>, range: Range<usize> },
}

impl Payload {
    /// Creates one without bytes.
    pub const fn new() -> Self {
        Self(Repr::Shared(Bytes::new()))
    }

    /// Creates one whose bytes live as long as the program.
    pub const fn from_static(bytes: &'static [u8]) -> Self {
        Self(Repr::Shared(Bytes::from_static(bytes)))
    }

    /// Creates one with a copy of `bytes`.
    pub fn copy_from(bytes: &[u8]) -> Self {
        Self(Repr::Shared(Bytes::copy_from_slice(bytes)))
    }

    pub(super) const fn pooled(memory: Arc<Vec<u8>>, range: Range<usize>) -> Self {
        Self(Repr::Pooled { memory, range })
    }

    /// Returns a part of it; what lies outside is left out.
    #[must_use]
    pub fn slice(&self, part: Range<usize>) -> Self {
        let end = part.end.min(self.len());
        let start = part.start.min(end);
        match &self.0 {
            Repr::Shared(bytes) => Self(Repr::Shared(bytes.slice(start..end))),
            Repr::Pooled { memory, range } => {
                let range = range.start + start..range.start + end;
                Self::pooled(Arc::clone(memory), range)
            }
        }
    }

    /// Returns the text, if it is UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        core::str::from_utf8(self).ok()
    }

    /// Converts it without copying.
    pub fn into_bytes(self) -> Bytes {
        match self.0 {
            Repr::Shared(bytes) => bytes,
            Repr::Pooled { .. } => Bytes::from_owner(self),
        }
    }
}

impl Default for Repr {
    fn default() -> Self {
        Self::Shared(Bytes::new())
    }
}

impl Deref for Payload {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match &self.0 {
            Repr::Shared(bytes) => bytes,
            Repr::Pooled { memory, range } => memory.get(range.clone()).unwrap_or_default(),
        }
    }
}

impl AsRef<[u8]> for Payload {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl From<Bytes> for Payload {
    fn from(bytes: Bytes) -> Self {
        Self(Repr::Shared(bytes))
    }
}

impl From<Vec<u8>> for Payload {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Repr::Shared(bytes.into()))
    }
}

impl From<String> for Payload {
    fn from(text: String) -> Self {
        Self(Repr::Shared(text.into()))
    }
}

impl From<&'static str> for Payload {
    fn from(text: &'static str) -> Self {
        Self::from_static(text.as_bytes())
    }
}

impl From<Payload> for Bytes {
    fn from(payload: Payload) -> Self {
        payload.into_bytes()
    }
}

impl PartialEq for Payload {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Payload {}

impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.get(..self.len().min(SHOWN)).unwrap_or_default();
        write!(f, "\"{}\"", shown.escape_ascii())?;
        if self.len() > SHOWN { write!(f, " and {} more bytes", self.len() - SHOWN) } else { Ok(()) }
    }
}

/// Bytes that its debugging form shows.
const SHOWN: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{format, vec};

    #[test]
    fn a_part_shares_the_memory_and_ends_where_the_whole_does() {
        let whole = Payload::pooled(Arc::new(vec![0, 1, 2, 3, 4, 5]), 1..5);
        assert_eq!(*whole, [1, 2, 3, 4]);
        assert_eq!(*whole.slice(1..3), [2, 3]);
        assert_eq!(*whole.slice(1..3).slice(1..9), [3]);
        assert_eq!(*whole.slice(7..9), []);
        assert_eq!(whole.slice(2..4).into_bytes(), Bytes::from_static(&[3, 4]));
    }

    #[test]
    fn its_debugging_form_is_short() {
        let long = Payload::from(vec![b'a'; 100]);
        assert!(format!("{long:?}").ends_with("a\" and 36 more bytes"));
    }
}
