//! Learning what became of a message.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, Waker},
};

/// What became of a message that was sent with a receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// The peer acknowledged it.
    Acknowledged,
    /// It was lost, or the session ended before its acknowledgement.
    Lost,
}

/// A future that tells what became of a message.
///
/// Dropping it changes nothing about the message. It does not keep the session open.
#[derive(Debug)]
pub struct Receipt {
    slot: Arc<Slot>,
}

impl Receipt {
    /// Creates a receipt and the end at which it is fulfilled.
    pub(super) fn new() -> (Self, Pending) {
        let slot = Arc::new(Slot::default());
        (Self { slot: Arc::clone(&slot) }, Pending { slot })
    }
}

impl Future for Receipt {
    type Output = Delivery;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Delivery> {
        let mut state = self.slot.state.lock().unwrap_or_else(PoisonError::into_inner);
        match state.delivery {
            Some(delivery) => Poll::Ready(delivery),
            None => {
                state.waiting = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

/// A receipt that is still to be fulfilled. Dropped, it counts as lost: the session is over.
#[derive(Debug)]
pub(super) struct Pending {
    slot: Arc<Slot>,
}

impl Pending {
    pub(super) fn fulfil(self, delivery: Delivery) {
        self.slot.set(delivery);
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.slot.set(Delivery::Lost);
    }
}

#[derive(Debug, Default)]
struct Slot {
    state: Mutex<SlotState>,
}

#[derive(Debug, Default)]
struct SlotState {
    delivery: Option<Delivery>,
    waiting: Option<Waker>,
}

impl Slot {
    /// Sets what the receipt tells, unless it is set already.
    fn set(&self, delivery: Delivery) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.delivery.get_or_insert(delivery);
        if let Some(waiting) = state.waiting.take() {
            waiting.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn poll(receipt: &mut Receipt) -> Poll<Delivery> {
        Pin::new(receipt).poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn a_receipt_tells_what_it_was_fulfilled_with() {
        let (mut receipt, pending) = Receipt::new();
        assert_eq!(poll(&mut receipt), Poll::Pending);
        pending.fulfil(Delivery::Acknowledged);
        assert_eq!(poll(&mut receipt), Poll::Ready(Delivery::Acknowledged));
    }

    #[test]
    fn a_receipt_that_nobody_fulfils_is_lost() {
        let (mut receipt, pending) = Receipt::new();
        drop(pending);
        assert_eq!(poll(&mut receipt), Poll::Ready(Delivery::Lost));
    }
}
