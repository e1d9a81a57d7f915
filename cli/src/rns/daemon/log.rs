//! What the daemon tells, and how loudly.

use rns_host::config::HostConfig;
use serde_json::{Value, json};
use std::{
    fmt::Display,
    fs::{File, OpenOptions},
    io::Write as _,
    path::Path,
    sync::{Mutex, PoisonError},
};

use crate::{
    failure::Failure,
    output::{
        self,
        progress::Progress,
        style::{self, paint},
    },
    rns::shown,
};

/// How important something is, as the config file's `loglevel` counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(super) enum Level {
    /// A setting or an interface does not work.
    Error = 1,
    /// Something is odd.
    Warning = 2,
    /// What every owner wants to know.
    Notice = 3,
    /// What happens rarely.
    Info = 4,
    /// What happens often.
    Verbose = 5,
    /// What only those want to know who look for a mistake.
    Debug = 6,
}

/// Where lines go.
#[derive(Debug)]
pub(super) enum Sink {
    /// To people, with a live line below.
    Terminal(Progress),
    /// To programs.
    Json,
    /// To a file.
    File(Mutex<File>),
}

/// Tells what is important enough.
#[derive(Debug)]
pub(super) struct Log {
    sink: Sink,
    level: u8,
    timestamps: bool,
}

impl Log {
    /// Creates a log for lines up to `level`.
    pub(super) const fn new(sink: Sink, level: u8, config: &HostConfig) -> Self {
        Self { sink, level, timestamps: config.logging.timestamps }
    }

    /// Tells a line.
    pub(super) fn tell(&self, level: Level, text: impl Display) {
        let event = json!({ "event": "log", "level": level.name(), "text": text.to_string() });
        self.tell_event(level, text, event);
    }

    /// Tells a line that is an event of its own to programs.
    pub(super) fn tell_event(&self, level: Level, text: impl Display, event: Value) {
        if level as u8 > self.level {
            return;
        }
        // The daemon goes on when nobody reads its lines.
        let _ = match &self.sink {
            Sink::Terminal(progress) => progress.line(self.line(level, text, true)),
            Sink::Json => output::json(&event),
            Sink::File(file) => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                writeln!(file, "{}", self.line(level, text, false)).map_err(|error| Failure::output(&error))
            }
        };
    }

    /// Changes the live line.
    pub(super) fn describe(&self, text: impl FnOnce() -> String) {
        if let Sink::Terminal(progress) = &self.sink {
            progress.describe(text());
        }
    }

    /// Takes the live line away.
    pub(super) fn settle(&self) {
        if let Sink::Terminal(progress) = &self.sink {
            progress.finish();
        }
    }

    fn line(&self, level: Level, text: impl Display, coloured: bool) -> String {
        let label = format!("{:<11}", format!("[{}]", level.name()));
        let style = if coloured { level.style() } else { style::PLAIN };
        let label = paint(style, label);
        match self.timestamps {
            true => format!("[{}] {label}{text}", shown::date(shown::unix_now())),
            false => format!("{label}{text}"),
        }
    }
}

impl Level {
    const fn name(self) -> &'static str {
        match self {
            Self::Error => "Error",
            Self::Warning => "Warning",
            Self::Notice => "Notice",
            Self::Info => "Info",
            Self::Verbose => "Verbose",
            Self::Debug => "Debug",
        }
    }

    const fn style(self) -> anstyle::Style {
        match self {
            Self::Error => style::BAD,
            Self::Warning => style::ODD,
            Self::Notice | Self::Info => style::PLAIN,
            Self::Verbose | Self::Debug => style::FAINT,
        }
    }
}

impl Sink {
    /// Returns the terminal.
    pub(super) fn terminal() -> Self {
        Self::Terminal(Progress::live("starting"))
    }

    /// Opens a file to append to.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn file(path: &Path) -> Result<Self, Failure> {
        let opened = OpenOptions::new().create(true).append(true).open(path);
        opened.map(|file| Self::File(Mutex::new(file))).map_err(|error| {
            Failure::file(format_args!("cannot write {}: {error}", path.display()))
                .advise("leave --service away, or let this user own the directory")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_look_like_the_references() {
        let mut config = HostConfig::default();
        config.logging.timestamps = false;
        let log = Log::new(Sink::Json, 4, &config);
        assert_eq!(log.line(Level::Notice, "Started", false), "[Notice]   Started");
        assert_eq!(log.line(Level::Verbose, "x", false), "[Verbose]  x");
    }
}
