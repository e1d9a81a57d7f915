//! The config file: found, written on the first start, read.

use rns_host::config::{
    CONFIG_FILE, DEFAULT_CONFIG, Diagnostic, HostConfig, Severity, SystemNetwork, read_config,
};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::log::{Level, Log};
use crate::{failure::Failure, rns::attach};

/// What the config file says, and what is wrong with it.
#[derive(Debug)]
pub(super) struct Settings {
    /// The directory with the config file.
    pub(super) directory: PathBuf,
    /// What it says.
    pub(super) config: HostConfig,
    mistakes: Vec<Diagnostic>,
    is_new: bool,
}

impl Settings {
    /// Reads the config file, and writes it first where there is none.
    ///
    /// # Errors
    /// It can be neither read nor written.
    pub(super) fn load(chosen: Option<&Path>) -> Result<Self, Failure> {
        let directory = attach::directory(chosen);
        let path = directory.join(CONFIG_FILE);
        let (text, is_new) = match fs::read_to_string(&path) {
            Ok(text) => (text, false),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                write_default(&directory, &path)?;
                (DEFAULT_CONFIG.into(), true)
            }
            Err(error) => {
                return Err(Failure::file(format_args!("cannot read {}: {error}", path.display()))
                    .advise("let this user read it, or name another directory with --config"));
            }
        };
        let (config, mistakes) = read_config(&text, &SystemNetwork);
        Ok(Self { directory, config, mistakes, is_new })
    }

    /// Tells what is wrong with the file, and what follows from that.
    pub(super) fn tell(&self, log: &Log) {
        let path = self.directory.join(CONFIG_FILE);
        if self.is_new {
            let what = "wrote a new config file, none of whose interfaces is enabled:";
            log.tell(Level::Notice, format_args!("{what} {}", path.display()));
        }
        for mistake in &self.mistakes {
            let level = match mistake.severity() {
                Severity::Error => Level::Error,
                Severity::Warning => Level::Warning,
            };
            log.tell(level, format_args!("{}: {mistake}", path.display()));
        }
        if self.config.interfaces.iter().all(|interface| !interface.enabled) {
            log.tell(
                Level::Warning,
                format_args!("no interface of {} is enabled; this node reaches nobody", path.display()),
            );
        }
    }
}

fn write_default(directory: &Path, path: &Path) -> Result<(), Failure> {
    fs::create_dir_all(directory).and_then(|()| fs::write(path, DEFAULT_CONFIG)).map_err(|error| {
        Failure::file(format_args!("there is no {}, and it cannot be written: {error}", path.display()))
            .advise("name another directory with --config")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_start_writes_a_file_and_the_second_reads_it() {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().join("new");
        let first = Settings::load(Some(&directory)).unwrap();
        let second = Settings::load(Some(&directory)).unwrap();
        assert!(first.is_new && !second.is_new);
        assert_eq!(first.config, second.config);
        assert!(second.mistakes.is_empty());
    }
}
