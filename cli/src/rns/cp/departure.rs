//! A file on its way out.

use runtime_tokio::rns::FileSource;
use std::{fs::File, io, path::Path};

/// Opens a file that is read while it is sent; returns its length, too.
///
/// # Errors
/// It cannot be read, or is no file.
pub(super) fn open(path: &Path) -> io::Result<(FileSource, u64)> {
    let file = File::open(path)?;
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no file"));
    }
    Ok((FileSource::new(file)?, found.len()))
}
