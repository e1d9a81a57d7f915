//! tokio's own timer: up to a millisecond late.

use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Instant,
};
use tokio::time::{Sleep, sleep_until};

/// A timer on [`Sleep`].
#[derive(Debug, Default)]
pub(super) struct SleepTimer {
    sleep: Option<Pin<Box<Sleep>>>,
}

impl SleepTimer {
    pub(super) fn arm(&mut self, at: Instant) {
        match &mut self.sleep {
            Some(sleep) => sleep.as_mut().reset(at.into()),
            None => self.sleep = Some(Box::pin(sleep_until(at.into()))),
        }
    }

    pub(super) fn poll_expired(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.sleep.as_mut().map_or(Poll::Pending, |sleep| sleep.as_mut().poll(cx))
    }
}
