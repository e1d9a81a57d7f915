//! Numbers in the byte order that a capture file declares.

use proto_core::{Reader, Truncated};

/// The byte order of a file or section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ByteOrder {
    Little,
    Big,
}

impl ByteOrder {
    pub(super) fn u16(self, r: &mut Reader<'_>) -> Result<u16, Truncated> {
        r.array().map(|bytes| match self {
            Self::Little => u16::from_le_bytes(bytes),
            Self::Big => u16::from_be_bytes(bytes),
        })
    }

    pub(super) fn u32(self, r: &mut Reader<'_>) -> Result<u32, Truncated> {
        r.array().map(|bytes| match self {
            Self::Little => u32::from_le_bytes(bytes),
            Self::Big => u32::from_be_bytes(bytes),
        })
    }

    /// Reads a length; one that does not fit the address space cannot be there.
    pub(super) fn len(self, r: &mut Reader<'_>) -> Result<usize, Truncated> {
        usize::try_from(self.u32(r)?).map_err(|_| Truncated)
    }
}
