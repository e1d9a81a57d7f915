//! How a session tells the application what happened.

use alloc::collections::VecDeque;

use crate::{Event, PeerId, ReceiptId};

/// The endpoint's event queue, seen from one session.
#[derive(Debug)]
pub(crate) struct Notices<'a> {
    pub(crate) id: PeerId,
    pub(crate) events: &'a mut VecDeque<Event>,
}

impl Notices<'_> {
    pub(crate) fn push(&mut self, event: impl FnOnce(PeerId) -> Event) {
        self.events.push_back(event(self.id));
    }

    pub(crate) fn receipt_acked(&mut self, receipt: ReceiptId) {
        self.push(|peer| Event::ReceiptAcked { peer, receipt });
    }

    pub(crate) fn receipt_lost(&mut self, receipt: ReceiptId) {
        self.push(|peer| Event::ReceiptLost { peer, receipt });
    }
}
