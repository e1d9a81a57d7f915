//! What goes wrong with files.

use std::{fmt, io, path::PathBuf};

/// A file that could not be read or written. Nothing is lost from memory by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreError {
    /// The file or directory.
    pub path: PathBuf,
    /// What was tried.
    pub action: Action,
    /// Why it failed.
    pub cause: io::ErrorKind,
}

/// What was tried with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// To read it.
    Read,
    /// To write it.
    Write,
    /// To remove it.
    Remove,
    /// To list what is in it.
    List,
    /// To create it, a directory.
    Create,
}

impl StoreError {
    /// Says what to do.
    pub fn remedy(&self) -> &'static str {
        REMEDIES
            .iter()
            .find(|(causes, _)| causes.contains(&self.cause))
            .map_or("check the disk and the directory", |(_, remedy)| remedy)
    }
}

const REMEDIES: [(&[io::ErrorKind], &str); 5] = [
    (
        &[io::ErrorKind::PermissionDenied],
        "let the user that the node runs as own the directory and all that is in it",
    ),
    (
        &[io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded],
        "make room on the disk; what is in memory is written next time",
    ),
    (&[io::ErrorKind::ReadOnlyFilesystem], "choose a directory that can be written to, by --config"),
    (
        &[io::ErrorKind::NotADirectory, io::ErrorKind::AlreadyExists, io::ErrorKind::IsADirectory],
        "move away what is there in the place of it",
    ),
    (&[io::ErrorKind::FileTooLarge], "move the file away; it is longer than anything that a node writes"),
];

impl std::error::Error for StoreError {}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let action = match self.action {
            Action::Read => "read",
            Action::Write => "write",
            Action::Remove => "remove",
            Action::List => "list",
            Action::Create => "create",
        };
        write!(f, "cannot {action} {}: {}; {}", self.path.display(), self.cause, self.remedy())
    }
}
