//! What Autobahn thinks of us.

use serde_json::Value;
use std::{cmp::Ordering, collections::BTreeMap, fs, path::Path};

/// What Autobahn thinks of each case.
#[derive(Clone, Debug, Default)]
pub struct Verdicts(BTreeMap<CaseId, Verdict>);

/// What Autobahn thinks of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// How messages were treated: `OK`, `NON-STRICT`, `INFORMATIONAL`, or worse.
    pub behavior: String,
    /// How the connection ended.
    pub close: String,
}

/// The number of a case, such as 12.1.18.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CaseId(String);

impl Verdicts {
    /// Reads what Autobahn wrote.
    pub(super) fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).expect("a report");
        let agents: Value = serde_json::from_str(&text).expect("JSON");
        let cases = agents[super::AGENT].as_object().expect("our cases");
        let judge = |case: &Value| {
            let field = |name: &str| case[name].as_str().expect("a word").to_owned();
            Verdict { behavior: field("behavior"), close: field("behaviorClose") }
        };
        Self(cases.iter().map(|(id, case)| (CaseId(id.clone()), judge(case))).collect())
    }

    /// Returns how many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Says whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the cases that were not passed.
    pub fn failures(&self) -> Vec<(&str, &Verdict)> {
        self.iter().filter(|(_, verdict)| !verdict.is_passed()).collect()
    }

    /// Returns the cases in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Verdict)> {
        self.0.iter().map(|(id, verdict)| (id.0.as_str(), verdict))
    }
}

impl Verdict {
    /// Says whether the case was passed.
    pub fn is_passed(&self) -> bool {
        [&self.behavior, &self.close].iter().all(|word| PASSED.contains(&word.as_str()))
    }
}

impl Ord for CaseId {
    fn cmp(&self, other: &Self) -> Ordering {
        let numbers =
            |id: &Self| -> Vec<u32> { id.0.split('.').filter_map(|part| part.parse().ok()).collect() };
        numbers(self).cmp(&numbers(other))
    }
}

impl PartialOrd for CaseId {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

const PASSED: [&str; 3] = ["OK", "NON-STRICT", "INFORMATIONAL"];
