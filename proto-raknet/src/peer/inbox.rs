//! Messages that wait for the application.

use alloc::collections::VecDeque;

use crate::Received;

/// The queue of delivered messages. Its owner refuses datagrams while it is over its limit.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    messages: VecDeque<Received>,
    bytes: usize,
    /// The application was told that something waits, and has not emptied the queue since.
    announced: bool,
}

impl Inbox {
    #[inline]
    pub(crate) fn push(&mut self, message: Received) {
        self.bytes += message.payload.len();
        self.messages.push_back(message);
    }

    pub(crate) fn pop(&mut self) -> Option<Received> {
        let message = self.messages.pop_front();
        match &message {
            Some(message) => self.bytes -= message.payload.len(),
            None => self.announced = false,
        }
        message
    }

    /// Says whether the application is to be told now that something waits.
    pub(crate) fn announce(&mut self) -> bool {
        let new = !self.announced && !self.messages.is_empty();
        self.announced |= new;
        new
    }

    /// Hands over all that waits.
    pub(crate) fn take(&mut self) -> VecDeque<Received> {
        self.bytes = 0;
        core::mem::take(&mut self.messages)
    }

    pub(crate) fn len(&self) -> usize {
        self.messages.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}
