//! The few styles in use. They are removed on the way out where colours are not wanted.

use anstyle::{AnsiColor, Style};
use std::fmt::Display;

/// Names and headings.
pub(crate) const STRONG: Style = Style::new().bold();
/// What is right.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default().bold();
/// What is wrong.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
/// What deserves a look.
pub(crate) const ODD: Style = AnsiColor::Yellow.on_default();
/// What can be skipped.
pub(crate) const FAINT: Style = Style::new().dimmed();
/// No style.
pub(crate) const PLAIN: Style = Style::new();

/// Puts `text` into `style`.
pub(crate) fn paint(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}
