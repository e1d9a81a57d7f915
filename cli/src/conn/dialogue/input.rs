//! What there is to say: given data, or the lines of standard input as they come.

use runtime_blocking::Waker;
use std::{
    io::{self, BufRead as _, IsTerminal as _},
    sync::mpsc::{Receiver, TryRecvError, sync_channel},
    thread,
};

/// Lines, as far as they are there.
#[derive(Debug)]
pub(in crate::conn) struct Input {
    source: Source,
}

#[derive(Debug)]
enum Source {
    /// One message, which was given.
    Given(Vec<u8>),
    /// A thread that reads.
    Lines(Receiver<Vec<u8>>),
    /// Nothing more comes.
    Over,
}

impl Input {
    /// Says one thing.
    pub(in crate::conn) const fn given(data: Vec<u8>) -> Self {
        Self { source: Source::Given(data) }
    }

    /// Says nothing.
    pub(in crate::conn) const fn none() -> Self {
        Self { source: Source::Over }
    }

    /// Says each line of standard input, without its end. The waker is used when there is one, and at the end.
    pub(in crate::conn) fn lines(waker: Waker) -> Self {
        // The reader waits for the connection when it is so far ahead.
        let (tell, lines) = sync_channel(64);
        thread::spawn(move || {
            for line in io::stdin().lock().split(b'\n').map_while(Result::ok) {
                let line = line.strip_suffix(b"\r").map(<[u8]>::to_vec).unwrap_or(line);
                if tell.send(line).is_err() {
                    return;
                }
                waker.wake();
            }
            drop(tell);
            waker.wake();
        });
        Self { source: Source::Lines(lines) }
    }

    /// Returns the next line, if there is one now.
    pub(super) fn next(&mut self) -> Option<Vec<u8>> {
        match &mut self.source {
            Source::Given(data) => {
                let data = std::mem::take(data);
                self.source = Source::Over;
                Some(data)
            }
            Source::Lines(lines) => match lines.try_recv() {
                Ok(line) => Some(line),
                Err(TryRecvError::Empty) => None,
                Err(TryRecvError::Disconnected) => {
                    self.source = Source::Over;
                    None
                }
            },
            Source::Over => None,
        }
    }

    /// Says whether nothing more comes.
    pub(super) const fn is_over(&self) -> bool {
        matches!(self.source, Source::Over)
    }
}

/// Says whether a person types the lines.
pub(in crate::conn) fn is_typed() -> bool {
    io::stdin().is_terminal()
}
