//! Progress on a terminal; elsewhere it is silent.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::{fmt::Display, time::Duration};

use super::line;
use crate::failure::Failure;

/// A live line on standard error below the lines on standard output.
#[derive(Clone, Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// Shows a turning sign and a text.
    pub(crate) fn live(text: impl Into<String>) -> Self {
        let progress = Self::with(ProgressDrawTarget::stderr());
        progress.describe(text);
        progress.bar.enable_steady_tick(Duration::from_millis(120));
        progress
    }

    /// Shows nothing.
    pub(crate) fn hidden() -> Self {
        Self::with(ProgressDrawTarget::hidden())
    }

    /// Changes the text.
    pub(crate) fn describe(&self, text: impl Into<String>) {
        self.bar.set_message(text.into());
    }

    /// Starts a bar of `total` steps beside the text.
    pub(crate) fn start_bar(&self, total: u64) {
        self.bar.set_style(style("{spinner} {msg} [{bar:30}] {percent:>3} %"));
        self.bar.set_length(total);
        self.bar.set_position(0);
    }

    /// Starts a bar of `total` bytes beside a text; it shows how fast it moves.
    pub(crate) fn start_bytes(&self, text: impl Into<String>, total: u64) {
        self.describe(text);
        let template = "{spinner} {msg} [{bar:30}] {percent:>3} % {binary_bytes}/{binary_total_bytes} {binary_bytes_per_sec} {eta}";
        self.bar.set_style(style(template));
        self.bar.set_length(total);
        self.bar.reset();
    }

    /// Moves the bar.
    pub(crate) fn set(&self, position: u64) {
        self.bar.set_position(position);
    }

    /// Prints a line above.
    pub(crate) fn line(&self, text: impl Display) -> Result<(), Failure> {
        self.bar.suspend(|| line(text))
    }

    /// Takes the live line away.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn with(target: ProgressDrawTarget) -> Self {
        let bar = ProgressBar::with_draw_target(None, target);
        bar.set_style(style("{spinner} {wide_msg}"));
        Self { bar }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}
