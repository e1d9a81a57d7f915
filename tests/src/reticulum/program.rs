//! A program that obeys commands and tells events, one JSON object a line.

use serde_json::{Value, json};
use std::{collections::VecDeque, path::Path, process::Command, time::Duration};

use crate::peers::{
    patience::{PATIENCE, now},
    process::Process,
};

/// A running program. Dropped, it is killed; a failing test shows what it said.
#[derive(Debug)]
pub(super) struct Program {
    process: Process,
    /// What it told while it owed an answer.
    unread: VecDeque<Value>,
}

impl Program {
    /// Starts `command` on the configuration in `folder`, and waits until it is ready.
    ///
    /// # Panics
    /// It does not start.
    pub(super) fn start(name: &str, command: &mut Command, folder: &Path) -> Self {
        let process = Process::start(name, command.arg(folder).env("HOME", folder));
        let mut program = Self { process, unread: VecDeque::new() };
        while program.read(PATIENCE).is_none_or(|told| told.get("event") != Some(&json!("ready"))) {}
        program
    }

    /// Has it obey a command, which is an object, and returns its answer.
    ///
    /// # Panics
    /// It cannot.
    pub(super) fn call(&mut self, name: &str, mut command: Value) -> Value {
        command["do"] = json!(name);
        self.process.tell(&command.to_string());
        loop {
            let mut told = parse(&self.process.line(name));
            if let Some(error) = told.get("error") {
                panic!("{command}: {error}");
            }
            if told.get("answer").is_some() {
                return told["answer"].take();
            }
            self.unread.push_back(told);
        }
    }

    /// Waits a while for what it tells next; `None` when it tells nothing.
    ///
    /// # Panics
    /// It has ended.
    pub(super) fn read(&mut self, patience: Duration) -> Option<Value> {
        let early = self.unread.pop_front();
        early.or_else(|| self.process.line_within(patience, "an event").map(|line| parse(&line)))
    }

    /// Waits until it tells of `event`, and forgets what it tells before.
    ///
    /// # Panics
    /// It does not.
    pub(super) fn event(&mut self, event: &str) -> Value {
        let deadline = now() + PATIENCE;
        loop {
            let told = self.read(deadline.saturating_duration_since(now()));
            let told = told.unwrap_or_else(|| panic!("nothing was told of {event}"));
            if told.get("event") == Some(&json!(event)) {
                return told;
            }
        }
    }
}

fn parse(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line}"))
}
