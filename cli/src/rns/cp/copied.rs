//! What a copy came to.

use proto_rns::DestinationHash;
use serde_json::json;
use std::{path::Path, time::Duration};

use crate::{
    failure::Failure,
    output::{
        self,
        quantity::{bytes, per_second, throughput, time},
    },
};

/// A file that is where it was to go.
#[derive(Debug)]
pub(super) struct Copied<'a> {
    pub(super) file: &'a str,
    /// The other node.
    pub(super) destination: DestinationHash,
    /// Where it is now, if it came from there.
    pub(super) saved: Option<&'a Path>,
    pub(super) len: u64,
    pub(super) taken: Duration,
}

impl Copied<'_> {
    /// Prints it.
    ///
    /// # Errors
    /// Nobody takes the output.
    pub(super) fn report(&self, as_json: bool) -> Result<(), Failure> {
        if as_json { self.print_json() } else { self.print_line() }
    }

    fn print_json(&self) -> Result<(), Failure> {
        let rest = [
            ("destination", json!(self.destination.to_string())),
            ("bytes", json!(self.len)),
            ("seconds", json!(self.taken.as_secs_f64())),
            ("bytes_per_second", json!(per_second(self.len, self.taken))),
        ];
        let saved = self.saved.map(|path| ("saved", json!(path.display().to_string())));
        let fields = [("file", json!(self.file))].into_iter().chain(saved).chain(rest);
        output::json(&fields.map(|(name, value)| (name.to_owned(), value)).collect())
    }

    fn print_line(&self) -> Result<(), Failure> {
        let &Self { file, destination, saved, len, taken } = self;
        let what = match saved {
            Some(path) => format!("{file} fetched from <{destination}> as {}", path.display()),
            None => format!("{file} copied to <{destination}>"),
        };
        output::line(format_args!("{what}: {} in {} ({})", bytes(len), time(taken), throughput(len, taken)))
    }
}
