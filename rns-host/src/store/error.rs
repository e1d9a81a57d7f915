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
        use io::ErrorKind as Kind;
        match self.cause {
            Kind::PermissionDenied => {
                "let the user that the node runs as own the directory and all that is in it"
            }
            Kind::StorageFull | Kind::QuotaExceeded => {
                "make room on the disk; what is in memory is written next time"
            }
            Kind::ReadOnlyFilesystem => "choose a directory that can be written to, by --config",
            Kind::NotADirectory | Kind::AlreadyExists | Kind::IsADirectory => {
                "move away what is there in the place of it"
            }
            Kind::FileTooLarge => "move the file away; it is longer than anything that a node writes",
            _ => "check the disk and the directory",
        }
    }
}

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
