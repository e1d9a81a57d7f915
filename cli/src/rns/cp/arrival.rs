//! A file on its way in. It has its name only once it is whole; an interrupted one leaves nothing.

use std::{
    ffi::{OsStr, OsString},
    io::{self, Write as _},
    path::{Path, PathBuf},
};
use tempfile::NamedTempFile;

/// What has arrived of a file.
#[derive(Debug)]
pub(super) struct Arrival {
    file: NamedTempFile,
    name: Option<OsString>,
    len: u64,
}

/// A file that is whole and has its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Saved {
    pub(super) path: PathBuf,
    pub(super) len: u64,
}

impl Arrival {
    /// Starts a file in `folder`.
    ///
    /// # Errors
    /// No file can be made there.
    pub(super) fn begin(folder: &Path) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(".iolite-").suffix(".part");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            // What new files have here; the process's mask takes from it.
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        Ok(Self { file: builder.tempfile_in(folder)?, name: None, len: 0 })
    }

    /// Says what the file is called.
    pub(super) fn set_name(&mut self, name: OsString) {
        self.name = Some(name);
    }

    /// Adds the next bytes.
    ///
    /// # Errors
    /// There is no room, or the device fails.
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.len += bytes.len() as u64;
        self.file.write_all(bytes)
    }

    /// Gives the file its name in `folder`: exactly that with `overwrite`, else the first of `name`, `name.1`,
    /// `name.2` and so on that is free.
    ///
    /// # Errors
    /// It has no name, all names are taken, or the device fails.
    pub(super) fn finish(self, folder: &Path, overwrite: bool) -> io::Result<Saved> {
        let Self { mut file, name, len } = self;
        let name =
            name.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "it came without a name"))?;
        file.as_file().sync_all()?;
        if overwrite {
            let path = folder.join(name);
            file.persist(&path)?;
            return Ok(Saved { path, len });
        }
        for number in 0..=MOST_NAMESAKES {
            let path = folder.join(numbered(&name, number));
            match file.persist_noclobber(&path) {
                Ok(_) => return Ok(Saved { path, len }),
                Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => file = error.file,
                Err(error) => return Err(error.error),
            }
        }
        Err(io::Error::new(io::ErrorKind::AlreadyExists, "there are too many files of this name"))
    }
}

fn numbered(name: &OsStr, number: u32) -> OsString {
    let mut numbered = name.to_owned();
    if number > 0 {
        numbered.push(format!(".{number}"));
    }
    numbered
}

/// Files of one name that are told apart by numbers.
const MOST_NAMESAKES: u32 = 9_999;

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn arrived(folder: &Path, content: &[u8]) -> Arrival {
        let mut arrival = Arrival::begin(folder).unwrap();
        arrival.set_name("a file".into());
        arrival.write(content).unwrap();
        arrival
    }

    fn names(folder: &Path) -> Vec<OsString> {
        let mut names: Vec<_> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    }

    #[test]
    fn nothing_is_replaced_unless_it_is_meant_to_be() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        for content in [b"one", b"two"] {
            arrived(folder, content).finish(folder, false).unwrap();
        }
        assert_eq!(names(folder), ["a file", "a file.1"]);
        assert_eq!(fs::read(folder.join("a file")).unwrap(), b"one");
        let saved = arrived(folder, b"three").finish(folder, true).unwrap();
        assert_eq!(saved, Saved { path: folder.join("a file"), len: 5 });
        assert_eq!(fs::read(&saved.path).unwrap(), b"three");
        assert_eq!(fs::read(folder.join("a file.1")).unwrap(), b"two");
    }

    #[test]
    fn what_does_not_end_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        drop(arrived(folder.path(), b"half"));
        let mut nameless = Arrival::begin(folder.path()).unwrap();
        nameless.write(b"x").unwrap();
        assert!(nameless.finish(folder.path(), false).is_err());
        assert_eq!(names(folder.path()), [""; 0]);
    }
}
