//! What was measured on, for the reader of the results.

use std::fs;
use std::process::Command;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

/// The facts about a run that its numbers depend on.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Run {
    pub(crate) date: String,
    pub(crate) command: String,
    pub(crate) cpu: String,
    pub(crate) cores: usize,
    pub(crate) kernel: String,
    pub(crate) rustc: String,
    pub(crate) placement: String,
    pub(crate) repetitions: usize,
}

impl Run {
    /// Asks this machine.
    pub(crate) fn describe(placement: &str, repetitions: usize) -> Self {
        let args: Vec<_> = std::env::args().skip(1).collect();
        Self {
            date: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
            command: format!("cargo run --release -p bench -- {}", args.join(" ")),
            cpu: cpu_model().unwrap_or_else(unknown),
            cores: std::thread::available_parallelism().map_or(0, usize::from),
            kernel: fs::read_to_string("/proc/sys/kernel/osrelease")
                .map_or_else(|_| unknown(), |release| format!("Linux {}", release.trim())),
            rustc: rustc_version().unwrap_or_else(unknown),
            placement: placement.to_owned(),
            repetitions,
        }
    }
}

fn cpu_model() -> Option<String> {
    let info = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = info.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn rustc_version() -> Option<String> {
    let output =
        Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into())).arg("-V").output().ok()?;
    String::from_utf8(output.stdout).ok().map(|version| version.trim().to_owned())
}

fn unknown() -> String {
    "unknown".to_owned()
}
