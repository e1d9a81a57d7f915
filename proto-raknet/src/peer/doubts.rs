//! Receipts of unreliable messages whose datagram seems lost, until it is certain.
//!
//! A datagram counts as lost after little more than a round trip, because waiting longer would cost throughput. An
//! application that asked for a receipt wants the truth instead: a peer that acknowledges in ticks (10 ms in C++,
//! 100 ms in go-raknet) is late, and the message did arrive.

use alloc::collections::BTreeMap;
use core::time::Duration;
use proto_core::Instant;

use crate::ReceiptId;

/// Receipts in doubt, with the time their message was sent, by the number of its datagram.
#[derive(Debug, Default)]
pub(crate) struct Doubts(BTreeMap<(u64, ReceiptId), Instant>);

impl Doubts {
    /// Takes note that a datagram with an unreliable message seems lost.
    pub(crate) fn add(&mut self, datagram: u64, receipt: ReceiptId, sent_at: Instant) {
        self.0.insert((datagram, receipt), sent_at);
    }

    /// Takes out the next receipt of a datagram that was acknowledged after all.
    pub(crate) fn settle(&mut self, datagram: u64) -> Option<ReceiptId> {
        let (&key, _) = self.0.range((datagram, ReceiptId(0))..=(datagram, ReceiptId(u32::MAX))).next()?;
        self.0.remove(&key);
        Some(key.1)
    }

    /// Takes out the next receipt of a message sent at least `patience` ago: that one is lost.
    pub(crate) fn expire(&mut self, now: Instant, patience: Duration) -> Option<ReceiptId> {
        let first = self.0.first_entry()?;
        if *first.get() + patience > now {
            return None;
        }
        let ((_, receipt), _) = first.remove_entry();
        Some(receipt)
    }

    /// Returns when the first one is lost.
    pub(crate) fn next_expiry(&self, patience: Duration) -> Option<Instant> {
        self.0.values().next().map(|sent_at| *sent_at + patience)
    }

    /// Says whether an acknowledgement of this datagram would still tell something.
    pub(crate) fn concern(&self, datagram: u64) -> bool {
        self.0.range((datagram, ReceiptId(0))..=(datagram, ReceiptId(u32::MAX))).next().is_some()
    }

    /// Returns all of them.
    pub(crate) fn receipts(&self) -> impl Iterator<Item = ReceiptId> {
        self.0.keys().map(|(_, receipt)| *receipt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_millis(100);

    #[test]
    fn a_late_acknowledgement_settles_every_receipt_of_its_datagram() {
        let mut doubts = Doubts::default();
        for receipt in 1..=2 {
            doubts.add(7, ReceiptId(receipt), Instant::from_millis(1));
        }
        doubts.add(8, ReceiptId(3), Instant::from_millis(1));
        assert!(doubts.concern(7));
        assert_eq!(doubts.settle(7), Some(ReceiptId(1)));
        assert_eq!(doubts.settle(7), Some(ReceiptId(2)));
        assert_eq!(doubts.settle(7), None);
        assert!(!doubts.concern(7));
        assert_eq!(doubts.receipts().count(), 1);
    }

    #[test]
    fn what_stays_unacknowledged_is_lost_in_the_end() {
        let mut doubts = Doubts::default();
        doubts.add(7, ReceiptId(1), Instant::from_millis(5));
        assert_eq!(doubts.next_expiry(PATIENCE), Some(Instant::from_millis(105)));
        assert_eq!(doubts.expire(Instant::from_millis(104), PATIENCE), None);
        assert_eq!(doubts.expire(Instant::from_millis(105), PATIENCE), Some(ReceiptId(1)));
        assert_eq!(doubts.next_expiry(PATIENCE), None);
    }
}
