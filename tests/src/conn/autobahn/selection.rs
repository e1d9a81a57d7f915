//! Which cases are run.

use serde_json::{Value, json};
use std::path::Path;

/// Which cases are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// All but those of compression, which take minutes, and a sample of these: each payload of group 12 and each pair of
    /// parameters of group 13, with different lengths.
    Sample,
    /// All.
    Everything,
}

impl Selection {
    /// How many cases these are.
    pub(super) const fn len(self) -> usize {
        match self {
            Self::Sample => ALL - COMPRESSION + SAMPLE.len(),
            Self::Everything => ALL,
        }
    }

    /// Returns what Autobahn wants to be told.
    pub(super) fn spec(self, folder: &Path) -> Value {
        let cases = match self {
            Self::Sample => {
                let groups = ["1", "2", "3", "4", "5", "6", "7", "9", "10"].map(|group| format!("{group}.*"));
                groups.into_iter().chain(SAMPLE.map(str::to_owned)).collect()
            }
            Self::Everything => vec!["*".to_owned()],
        };
        json!({"outdir": folder, "cases": cases, "exclude-cases": [], "exclude-agent-cases": {}})
    }
}

const ALL: usize = 517;

/// Cases of the groups 12 and 13.
const COMPRESSION: usize = 216;

const SAMPLE: [&str; 14] = [
    "12.1.1", "12.1.6", "12.2.3", "12.3.7", "12.4.5", "12.5.4", "12.5.12", "13.1.1", "13.2.4", "13.3.6",
    "13.4.2", "13.5.5", "13.6.3", "13.7.7",
];
