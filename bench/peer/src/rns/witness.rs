//! What a responder received.

use std::{
    io::{self, Read as _},
    process,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
};

use super::{Content, Reading, Tally, report::print_line};
use crate::Fault;

/// Checks all that arrives at a responder and tells the benchmark about it in the end.
#[derive(Debug, Clone)]
pub struct Witness(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    content: Content,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    tally: Tally,
    fault: Option<String>,
}

impl Witness {
    /// Prepares to see `content`. When standard input ends, the tally, or what was wrong, is printed and the process
    /// ends.
    pub fn new(content: Content) -> Self {
        let witness = Self(Arc::new(Shared { content, seen: Mutex::default() }));
        let last = witness.clone();
        thread::spawn(move || {
            wait_for_end_of_input();
            last.testify()
        });
        witness
    }

    /// The contents that are expected.
    pub fn content(&self) -> &Content {
        &self.0.content
    }

    /// Sees whole contents.
    pub fn see(&self, contents: &[u8]) {
        let outcome = self.0.content.check(contents).map(|number| (number, contents.len()));
        self.note(outcome);
    }

    /// Sees the end of contents that came in pieces.
    pub fn see_read(&self, reading: Reading) {
        let size = reading.position();
        self.note(reading.end(&self.0.content).map(|number| (number, size)));
    }

    /// Sees a request, which is the number of the contents that it asks for; returns them.
    pub fn answer(&self, request: &[u8]) -> Vec<u8> {
        let Ok(number) = request.try_into().map(u64::from_le_bytes) else {
            self.fault("a request is not a number of 8 bytes");
            return Vec::new();
        };
        let response = self.0.content.of(number);
        self.note(Ok((number, response.len())));
        response
    }

    /// Notes that something went wrong.
    pub fn fault(&self, fault: impl Into<Fault>) {
        self.note(Err(fault.into()));
    }

    fn note(&self, outcome: Result<(u64, usize), Fault>) {
        let mut seen = self.lock();
        match outcome {
            Ok((number, size)) => seen.tally.add(number, size),
            Err(fault) => _ = seen.fault.get_or_insert_with(|| fault.to_string()),
        }
    }

    fn testify(&self) -> ! {
        let seen = self.lock();
        if let Some(fault) = &seen.fault {
            eprintln!("{fault}");
            process::exit(1);
        }
        let told =
            serde_json::to_string(&seen.tally).map_err(io::Error::from).and_then(|line| print_line(&line));
        process::exit(i32::from(told.is_err()))
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.0.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits until the benchmark closes this process's input.
pub fn wait_for_end_of_input() {
    // An error is the end as well.
    let _ = io::stdin().lock().read_to_end(&mut Vec::new());
}
