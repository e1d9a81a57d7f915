//! Writing a file so that there is always either the old one or the new one, whole.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    path::Path,
};

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WriteMode {
    /// Whether only its owner may read it.
    pub(super) secret: bool,
    /// Whether it has to be there after the power fails.
    pub(super) durable: bool,
}

/// Writes `bytes` to `temporary`, then moves it to `path`. Both are on one file system.
pub(super) fn replace(path: &Path, temporary: &Path, bytes: &[u8], mode: WriteMode) -> io::Result<()> {
    let written = write_new(temporary, bytes, mode).and_then(|()| fs::rename(temporary, path));
    if written.is_err() {
        // What is left of the attempt is of no use; the error that counts is the one before.
        let _ = fs::remove_file(temporary);
    }
    written
}

/// Writes a file that is not there yet.
pub(super) fn create(path: &Path, bytes: &[u8], mode: WriteMode) -> io::Result<()> {
    let mut file = options(mode).create_new(true).open(path)?;
    finish(&mut file, bytes, mode)
}

/// Reads a file of at most `limit` bytes; `None` where there is none.
pub(super) fn read(path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).is_ok_and(|len| len <= limit) {
        Ok(Some(bytes))
    } else {
        Err(io::ErrorKind::FileTooLarge.into())
    }
}

fn write_new(path: &Path, bytes: &[u8], mode: WriteMode) -> io::Result<()> {
    // Something that was left behind might have other permissions.
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    create(path, bytes, mode)
}

fn finish(file: &mut File, bytes: &[u8], mode: WriteMode) -> io::Result<()> {
    file.write_all(bytes)?;
    if mode.durable { file.sync_all() } else { Ok(()) }
}

#[cfg(unix)]
fn options(mode: WriteMode) -> OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = OpenOptions::new();
    options.write(true).mode(if mode.secret { 0o600 } else { 0o644 });
    options
}

#[cfg(not(unix))]
fn options(_: WriteMode) -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    options
}
