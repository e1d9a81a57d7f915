//! A client's request, from its head to the end of its answer.

use super::{framing::Asked, options::ResponseMode};
use crate::{Headers, Payload};

/// A request whose answer is not complete.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exchange {
    pub(super) asked: Asked,
    pub(super) is_idempotent: bool,
    pub(super) asks_upgrade: bool,
    pub(super) keep_alive: bool,
    pub(super) response: ResponseMode,
    pub(super) decode: bool,
    pub(super) is_retry: bool,
    pub(super) informational: usize,
    /// A byte of the answer has arrived.
    pub(super) is_answered: bool,
    /// Where in all that was written its head begins and ends.
    pub(super) start: u64,
    pub(super) head_end: u64,
}

/// A body that waits for `100 Continue`.
#[derive(Debug, Default)]
pub(super) enum Held {
    #[default]
    Nothing,
    Whole {
        body: Payload,
        trailers: Headers,
    },
    /// The application has it.
    Streamed,
}
