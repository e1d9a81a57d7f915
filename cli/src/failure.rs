//! Why a command ends without having done its work.

use std::{fmt::Display, io, process::ExitCode};

use crate::output::{self, style};

/// The reason, what to do about it, and the exit code.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The exit code.
    status: u8,
    /// What happened, and where. Empty: there is nothing to say.
    what: String,
    advice: Option<String>,
}

/// The exit codes, as `iolite --help` documents them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Code {
    /// Everything ran, and what it found is not right: a check of the demo failed, nobody answered the pings.
    Check = 1,
    /// The command line makes no sense. clap uses the same number.
    Usage = 2,
    /// The network or a peer refused: no such host, no answer, address in use, session lost.
    Network = 3,
    /// A file cannot be read, or is not what it should be.
    File = 4,
    /// Ctrl-C, as shells number it.
    Interrupted = 130,
}

impl Failure {
    /// A check that did not hold.
    pub(crate) fn check(what: impl Display) -> Self {
        Self::new(Code::Check, what)
    }

    /// Arguments that are each valid but not together.
    pub(crate) fn usage(what: impl Display) -> Self {
        Self::new(Code::Usage, what)
    }

    /// A fault of the network or a peer.
    pub(crate) fn network(what: impl Display) -> Self {
        Self::new(Code::Network, what)
    }

    /// A fault of a file.
    pub(crate) fn file(what: impl Display) -> Self {
        Self::new(Code::File, what)
    }

    /// The user's Ctrl-C.
    pub(crate) fn interrupted() -> Self {
        Self::new(Code::Interrupted, "interrupted")
    }

    /// A failed write to standard output. A reader that has seen enough (`| head`) is none.
    pub(crate) fn output(error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::silent(0);
        }
        Self::file(format_args!("cannot write to standard output: {error}"))
    }

    /// A fault with one of the exit codes that the help of its own command documents.
    pub(crate) fn coded(status: u8, what: impl Display) -> Self {
        Self { status, what: what.to_string(), advice: None }
    }

    /// No fault of this program: an exit code that is somebody else's.
    pub(crate) const fn silent(status: u8) -> Self {
        Self { status, what: String::new(), advice: None }
    }

    /// Adds what the user can do.
    #[must_use]
    pub(crate) fn advise(self, advice: impl Display) -> Self {
        Self { advice: Some(advice.to_string()), ..self }
    }

    /// Returns what happened, without advice.
    pub(crate) fn what(&self) -> &str {
        &self.what
    }

    /// Prints the failure to standard error and returns the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        if !self.what.is_empty() {
            output::note(format_args!("{} {}", style::paint(style::BAD, "error:"), self.what));
        }
        if let Some(advice) = &self.advice {
            output::note(format_args!("{} {advice}", style::paint(style::FAINT, "  help:")));
        }
        ExitCode::from(self.status)
    }

    fn new(code: Code, what: impl Display) -> Self {
        Self::coded(code as u8, what)
    }
}
