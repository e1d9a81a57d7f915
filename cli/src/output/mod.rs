//! What the user sees: lines and JSON on standard output, remarks and progress on standard error.

pub(crate) mod progress;
pub(crate) mod quantity;
pub(crate) mod style;
pub(crate) mod table;

use clap::ColorChoice;
use serde_json::Value;
use std::{fmt::Display, io::Write as _};

use crate::failure::Failure;

/// Makes the user's choice about colours hold for everything that is printed.
pub(crate) fn choose_colours(choice: ColorChoice) {
    match choice {
        ColorChoice::Auto => anstream::ColorChoice::Auto,
        ColorChoice::Always => anstream::ColorChoice::Always,
        ColorChoice::Never => anstream::ColorChoice::Never,
    }
    .write_global();
}

/// Prints a line to standard output, with colours only where they are wanted.
pub(crate) fn line(text: impl Display) -> Result<(), Failure> {
    writeln!(anstream::stdout().lock(), "{text}").map_err(|error| Failure::output(&error))
}

/// Prints a value as one line of JSON to standard output.
pub(crate) fn json(value: &Value) -> Result<(), Failure> {
    writeln!(std::io::stdout().lock(), "{value}").map_err(|error| Failure::output(&error))
}

/// Prints a remark to standard error. Where that is closed there is nobody to tell.
pub(crate) fn note(text: impl Display) {
    let _ = writeln!(anstream::stderr().lock(), "{text}");
}
