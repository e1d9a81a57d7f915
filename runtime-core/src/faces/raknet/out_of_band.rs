//! Messages outside any session.

use bytes::Bytes;
use proto_raknet::{Guid, wire};
use std::{
    collections::VecDeque,
    net::SocketAddr,
    task::{Context, Poll},
};

use crate::faces::waiters::Waiters;

/// A message outside any session. It may have been forged, and others may have been lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutOfBand {
    /// The source address.
    pub from: SocketAddr,
    /// The sender's identifier, as it says.
    pub guid: Guid,
    /// What it says.
    pub payload: Bytes,
}

impl OutOfBand {
    /// Returns what a system says about itself, if the message is its advertisement (C++ `AdvertiseSystem`).
    pub fn advertisement(&self) -> Option<Bytes> {
        let message = wire::OutOfBand { guid: self.guid, payload: &self.payload };
        message.advertisement().map(|advertisement| self.payload.slice_ref(advertisement.data))
    }
}

/// What has arrived outside sessions and was not taken yet. Anybody can send such messages, so there is a limit, and
/// those beyond it are dropped and counted. Closed, as it is by default, it keeps and counts nothing.
#[derive(Debug, Default)]
pub(super) struct Mailbox {
    open: bool,
    messages: VecDeque<OutOfBand>,
    dropped: u64,
    readers: Waiters,
}

impl Mailbox {
    pub(super) fn opened() -> Self {
        Self { open: true, ..Self::default() }
    }

    pub(super) fn put(&mut self, message: OutOfBand) {
        if !self.open {
            return;
        }
        if self.messages.len() < MAX_MESSAGES {
            self.messages.push_back(message);
            self.readers.wake();
        } else {
            self.dropped += 1;
        }
    }

    /// Takes the oldest message; without one, the task of `cx` is woken by the next, or when there will be none. An empty
    /// answer says that.
    pub(super) fn poll_take(&mut self, cx: &Context<'_>) -> Poll<Option<OutOfBand>> {
        match self.messages.pop_front() {
            Some(message) => Poll::Ready(Some(message)),
            None if self.open => {
                self.readers.add(cx);
                Poll::Pending
            }
            None => Poll::Ready(None),
        }
    }

    /// Returns how many messages were dropped because nobody took those before.
    pub(super) const fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Lets nothing more in.
    pub(super) fn close(&mut self) {
        self.open = false;
        self.readers.wake();
    }
}

/// Messages that wait to be taken: about 150 KiB at the most.
const MAX_MESSAGES: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::Waker;

    fn numbered(number: usize) -> OutOfBand {
        let payload = Bytes::from(number.to_string());
        OutOfBand { from: SocketAddr::from(([10, 0, 0, 1], 1)), guid: Guid(1), payload }
    }

    fn take(mailbox: &mut Mailbox) -> Poll<Option<OutOfBand>> {
        mailbox.poll_take(&Context::from_waker(Waker::noop()))
    }

    #[test]
    fn a_full_mailbox_keeps_the_oldest_and_counts_the_rest() {
        let mut mailbox = Mailbox::opened();
        (0..MAX_MESSAGES + 7).for_each(|number| mailbox.put(numbered(number)));
        assert_eq!(mailbox.dropped(), 7);
        for number in 0..MAX_MESSAGES {
            assert_eq!(take(&mut mailbox), Poll::Ready(Some(numbered(number))));
        }
        assert_eq!(take(&mut mailbox), Poll::Pending);
    }

    #[test]
    fn a_closed_mailbox_hands_out_what_it_has_and_takes_nothing() {
        let mut mailbox = Mailbox::opened();
        mailbox.put(numbered(0));
        mailbox.close();
        mailbox.put(numbered(1));
        assert_eq!(take(&mut mailbox), Poll::Ready(Some(numbered(0))));
        assert_eq!(take(&mut mailbox), Poll::Ready(None));
    }

    #[test]
    fn only_a_message_that_begins_with_the_id_is_an_advertisement() {
        let message = |payload: &'static str| OutOfBand { payload: Bytes::from(payload), ..numbered(0) };
        assert_eq!(message("\u{1d}here").advertisement(), Some(Bytes::from("here")));
        assert_eq!(message("here").advertisement(), None);
    }
}
