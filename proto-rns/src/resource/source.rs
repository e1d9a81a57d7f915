//! Where the data of a resource come from.

use alloc::{sync::Arc, vec::Vec};
use bytes::Bytes;
use core::fmt;

/// Data that are read piece by piece while they are sent, so that a resource of any size needs the memory of two
/// segments.
///
/// Like cryptography and compression it is the host's: a file, say. It must return the same bytes whenever it is asked
/// for the same place.
pub trait Source: Send + Sync {
    /// Returns how many bytes there are.
    fn len(&self) -> u64;

    /// Says whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns `len` bytes from `offset` on; `None` where they cannot be read, which gives the resource up.
    fn read(&self, offset: u64, len: usize) -> Option<Bytes>;
}

/// The data of a resource.
#[derive(Clone)]
pub enum Data {
    /// All in memory. They are shared, not copied.
    Whole(Bytes),
    /// Somewhere else.
    Pulled(Arc<dyn Source>),
}

impl Data {
    /// Returns how many bytes there are.
    pub fn len(&self) -> u64 {
        match self {
            Self::Whole(bytes) => bytes.len() as u64,
            Self::Pulled(source) => source.len(),
        }
    }

    /// Says whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the bytes from `start` up to `end`.
    pub(super) fn slice(&self, start: u64, end: u64) -> Option<Bytes> {
        let len = usize::try_from(end.checked_sub(start)?).ok()?;
        match self {
            Self::Whole(bytes) => {
                let start = usize::try_from(start).ok()?;
                let end = start.checked_add(len).filter(|end| *end <= bytes.len())?;
                Some(bytes.slice(start..end))
            }
            Self::Pulled(source) => source.read(start, len).filter(|bytes| bytes.len() == len),
        }
    }
}

impl Default for Data {
    fn default() -> Self {
        Self::Whole(Bytes::new())
    }
}

impl From<Bytes> for Data {
    fn from(bytes: Bytes) -> Self {
        Self::Whole(bytes)
    }
}

impl From<Vec<u8>> for Data {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Whole(bytes.into())
    }
}

impl From<&'static [u8]> for Data {
    fn from(bytes: &'static [u8]) -> Self {
        Self::Whole(Bytes::from_static(bytes))
    }
}

impl fmt::Debug for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Data({} bytes)", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Short;

    impl Source for Short {
        fn len(&self) -> u64 {
            10
        }
        fn read(&self, _offset: u64, _len: usize) -> Option<Bytes> {
            Some(Bytes::from_static(b"less"))
        }
    }

    #[test]
    fn a_source_that_reads_less_than_asked_for_has_failed() {
        let data = Data::Pulled(Arc::new(Short));
        assert_eq!((data.slice(0, 10), data.slice(0, 4).as_deref()), (None, Some(&b"less"[..])));
        assert_eq!(Data::from(&b"abc"[..]).slice(1, 3).as_deref(), Some(&b"bc"[..]));
        assert_eq!(Data::from(&b"abc"[..]).slice(1, 4), None);
    }
}
