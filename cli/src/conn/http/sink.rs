//! Where an answer goes: standard output, or a file that has its name once it is whole.

use proto_conn::Message;
use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
};
use tempfile::NamedTempFile;

use crate::{
    conn::trace::field_lines,
    failure::Failure,
    output::{self, progress::Progress, quantity::bytes},
};

/// Takes in an answer.
#[derive(Debug)]
pub(super) struct Sink {
    path: Option<PathBuf>,
    with_head: bool,
    file: Option<NamedTempFile>,
    progress: Progress,
    /// The length that the head tells.
    expected: Option<u64>,
    written: u64,
}

impl Sink {
    /// Creates one that writes to standard output, or to the file of that path.
    pub(super) fn new(path: Option<&Path>, with_head: bool) -> Self {
        Self {
            path: path.filter(|path| *path != Path::new("-")).map(Path::to_owned),
            with_head,
            file: None,
            progress: Progress::hidden(),
            expected: None,
            written: 0,
        }
    }

    /// Takes the head of the answer.
    ///
    /// # Errors
    /// It cannot be written, or the file cannot be made.
    pub(super) fn head(&mut self, response: &Message) -> Result<(), Failure> {
        if self.with_head {
            output::line(format_args!("HTTP {}", response.status))?;
            field_lines(&response.headers).try_for_each(output::line)?;
            output::line("")?;
        }
        let Some(path) = &self.path else { return Ok(()) };
        let file = create_beside(path).map_err(|error| cannot_write(path, &error))?;
        self.file = Some(file);
        self.progress = Progress::live(path.display().to_string());
        self.expected = response.headers.get_str("content-length").and_then(|length| length.parse().ok());
        if let Some(length) = self.expected.filter(|length| *length > 0) {
            self.progress.start_bytes(path.display().to_string(), length);
        }
        Ok(())
    }

    /// Takes a part of the body.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn part(&mut self, part: &[u8]) -> Result<(), Failure> {
        self.written += part.len() as u64;
        let (Some(file), Some(path)) = (&mut self.file, &self.path) else {
            return io::stdout().lock().write_all(part).map_err(|error| Failure::output(&error));
        };
        file.write_all(part).map_err(|error| cannot_write(path, &error))?;
        match self.expected {
            Some(_) => self.progress.set(self.written),
            None => self.progress.describe(format!("{}: {}", path.display(), bytes(self.written))),
        }
        Ok(())
    }

    /// Ends the body, which is whole now. Returns how many bytes it has.
    ///
    /// # Errors
    /// The file cannot get its name, or standard output takes nothing more.
    pub(super) fn finish(&mut self) -> Result<u64, Failure> {
        self.progress.finish();
        match (self.file.take(), &self.path) {
            (Some(file), Some(path)) => {
                file.persist(path).map_err(|error| cannot_write(path, &error.error))?;
            }
            _ => io::stdout().lock().flush().map_err(|error| Failure::output(&error))?,
        }
        Ok(self.written)
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        self.progress.finish();
    }
}

/// Starts a file in the folder of the one that it will become.
fn create_beside(path: &Path) -> io::Result<NamedTempFile> {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    // What new files have here; the process's mask takes from it.
    builder.prefix(".iolite-").suffix(".part").permissions(std::fs::Permissions::from_mode(0o666));
    builder.tempfile_in(folder.unwrap_or_else(|| Path::new(".")))
}

fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    Failure::file(format_args!("cannot write {}: {error}", path.display()))
        .advise("choose another file with -o")
}
