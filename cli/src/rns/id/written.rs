//! Files that are written: never over others unless that is wanted, and never half.

use host_crypto::provider;
use proto_rns::identity::Identity;
use rns_host::store::{IdentityFileError, create_identity_file};
use serde_json::json;
use std::{
    ffi::OsString,
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};
use tempfile::NamedTempFile;

use super::{Id, find::Known};
use crate::{failure::Failure, output, rns::keys};

/// Makes a new identity and writes it to a file.
pub(super) fn generate(path: &Path, options: &Id) -> Result<(), Failure> {
    let identity = Identity::generate(&*provider(), &mut keys::entropy()?);
    create(path, &identity, options.force)?;
    if options.json {
        return output::json(&json!({
            "identity": identity.hash().to_string(),
            "written": path.display().to_string(),
        }));
    }
    output::line(format_args!("New identity <{}> written to {}", identity.hash(), path.display()))
}

/// Writes keys that were imported, where that is wanted.
pub(super) fn keep_imported(known: &Known, options: &Id) -> Result<(), Failure> {
    let is_import = options.import_pub.is_some() || options.import_prv.is_some();
    let Some(path) = options.write.as_ref().filter(|_| is_import) else { return Ok(()) };
    match known {
        Known::Private(identity) => create(path, identity, options.force)?,
        Known::Public(public) => write(path, &public.to_bytes(), options.force)?,
    }
    output::note(format_args!("Wrote <{}> to {}", known.public().hash(), path.display()));
    Ok(())
}

/// Reads a file.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| Failure::file(format_args!("cannot read {}: {error}", path.display())))
}

/// Writes a file.
pub(super) fn write(path: &Path, bytes: &[u8], force: bool) -> Result<(), Failure> {
    let mut file = NewFile::create(path, force)?;
    file.write_all(bytes).map_err(|error| cannot_write(path, &error))?;
    file.finish()
}

/// Returns where to write what becomes of `input`: where the options say, or beside it.
pub(super) fn target(options: &Id, inputs: usize, input: &Path, suffix: &str) -> Result<PathBuf, Failure> {
    match &options.write {
        Some(_) if inputs > 1 => Err(Failure::usage("-w names one file, but there are several to write")),
        Some(path) => Ok(path.clone()),
        None => Ok(with_suffix(input, suffix)),
    }
}

/// Appends a suffix to a file's whole name.
pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".");
    name.push(suffix);
    name.into()
}

/// A file that appears in its place once it is whole.
#[derive(Debug)]
pub(super) struct NewFile {
    file: NamedTempFile,
    target: PathBuf,
    force: bool,
}

impl NewFile {
    /// Begins a file.
    ///
    /// # Errors
    /// There is one already, unless `force` lets it be replaced, or the directory cannot be written.
    pub(super) fn create(target: &Path, force: bool) -> Result<Self, Failure> {
        if !force && target.exists() {
            return Err(exists(target));
        }
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
        let file = NamedTempFile::new_in(folder.unwrap_or_else(|| Path::new(".")))
            .map_err(|error| cannot_write(target, &error))?;
        Ok(Self { file, target: target.to_path_buf(), force })
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// It cannot be written, or another program put one there meanwhile.
    pub(super) fn finish(self) -> Result<(), Failure> {
        let Self { file, target, force } = self;
        file.as_file().sync_all().map_err(|error| cannot_write(&target, &error))?;
        let placed = if force { file.persist(&target) } else { file.persist_noclobber(&target) };
        match placed {
            Ok(_) => Ok(()),
            Err(refused) if refused.error.kind() == io::ErrorKind::AlreadyExists => Err(exists(&target)),
            Err(refused) => Err(cannot_write(&target, &refused.error)),
        }
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Writes private keys, which are never overwritten unless that is wanted.
fn create(path: &Path, identity: &Identity, force: bool) -> Result<(), Failure> {
    match create_identity_file(path, identity) {
        Ok(()) => Ok(()),
        Err(IdentityFileError::Exists) if force => write(path, &*identity.secret_bytes(), true),
        Err(IdentityFileError::Exists) => Err(exists(path)),
        Err(error) => Err(Failure::file(format_args!("cannot write {}: {error}", path.display()))),
    }
}

fn exists(path: &Path) -> Failure {
    Failure::file(format_args!("there is a file {} already", path.display()))
        .advise("choose another name with -w, or overwrite it with -f")
}

fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    Failure::file(format_args!("cannot write {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_only_when_that_is_wanted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("note.txt.rsg");
        write(&path, b"one", false).unwrap();
        assert!(write(&path, b"two", false).unwrap_err().what().contains("already"));
        assert_eq!(fs::read(&path).unwrap(), b"one");
        write(&path, b"two", true).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
    }

    #[test]
    fn a_file_that_is_given_up_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = NewFile::create(&folder.path().join("half"), false).unwrap();
        file.write_all(b"half of it").unwrap();
        drop(file);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_suffix_goes_behind_the_whole_name() {
        assert_eq!(with_suffix(Path::new("a/b.txt"), "rsg"), Path::new("a/b.txt.rsg"));
    }
}
