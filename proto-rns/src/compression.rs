//! bz2 as a service, because nobody offers it without the standard library.

use alloc::vec::Vec;
use core::fmt;

/// Compresses and expands bz2 streams for resources and buffers (spec 1.12, 1.13).
pub trait Compression: Send + Sync + fmt::Debug {
    /// Returns `data` compressed, or `None` where that would not be shorter than `data`.
    fn compress(&self, data: &[u8]) -> Option<Vec<u8>>;

    /// Expands one whole stream to at most `limit` bytes.
    ///
    /// # Errors
    /// The stream is damaged, cut off, or longer than `limit`; nothing beyond the limit is allocated.
    fn expand(&self, stream: &[u8], limit: usize) -> Result<Vec<u8>, ExpandError>;
}

/// A stream that does not expand.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExpandError {
    /// Not a whole bz2 stream.
    #[error("not a whole bz2 stream")]
    Damaged,
    /// It holds more than it may.
    #[error("the stream expands to more than it may")]
    TooLong,
    /// This node was built without bz2.
    #[error("this node has no bz2")]
    Unsupported,
}

/// For nodes without bz2: never compresses, refuses what is compressed.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoCompression;

impl Compression for NoCompression {
    fn compress(&self, _data: &[u8]) -> Option<Vec<u8>> {
        None
    }

    fn expand(&self, _stream: &[u8], _limit: usize) -> Result<Vec<u8>, ExpandError> {
        Err(ExpandError::Unsupported)
    }
}
