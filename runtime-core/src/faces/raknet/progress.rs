//! How far a long message has come.

use proto_raknet::CloseReason;
use std::task::{Context, Poll};

use super::session::Session;
use crate::faces::waiters::Waiters;

/// How much of an incoming message that was split into parts has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SplitProgress {
    /// The sender's number for the message. Several may be on their way at a time.
    pub split: u16,
    /// Parts that have arrived.
    pub parts: u32,
    /// Parts in all.
    pub total: u32,
}

/// The latest progress of a session, and who waits for the next. A burst of reports leaves only its last.
#[derive(Debug, Default)]
pub(super) struct Gauge {
    latest: Option<SplitProgress>,
    /// Nobody has been told of `latest` yet.
    fresh: bool,
    watchers: Waiters,
}

impl Gauge {
    pub(super) fn set(&mut self, progress: SplitProgress) {
        self.latest = Some(progress);
        self.fresh = true;
        self.watchers.wake();
    }

    pub(super) const fn latest(&self) -> Option<SplitProgress> {
        self.latest
    }

    /// Takes a report that nobody has seen; without one, the task of `cx` is woken by the next.
    pub(super) fn poll_next(&mut self, cx: &Context<'_>) -> Poll<SplitProgress> {
        match self.latest.filter(|_| std::mem::take(&mut self.fresh)) {
            Some(progress) => Poll::Ready(progress),
            None => {
                self.watchers.add(cx);
                Poll::Pending
            }
        }
    }

    pub(super) fn wake(&mut self) {
        self.watchers.wake();
    }
}

impl Session {
    /// Returns the latest report; `None` where there was none, or the session is over.
    pub(super) fn progress(&self) -> Option<SplitProgress> {
        self.read(|_, desk, peer| desk.gauge(peer).and_then(|gauge| gauge.latest()))
    }

    /// Takes the next report, or has the task of `cx` woken when there is one or the session is over.
    pub(super) fn poll_progress(&self, cx: &mut Context<'_>) -> Poll<Result<SplitProgress, CloseReason>> {
        self.read(|_, desk, peer| match desk.gauge(peer) {
            Some(gauge) => gauge.poll_next(cx).map(Ok),
            None => Poll::Ready(Err(desk.close_reason(peer))),
        })
    }
}
