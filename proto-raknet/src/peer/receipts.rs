//! Receipts: which messages the application wants to hear about.

use alloc::collections::BTreeMap;

use crate::{ReceiptId, limits::MAX_RECEIPTS};

/// Numbers receipts and counts the parts of split messages. At most [`MAX_RECEIPTS`] are open at a time.
#[derive(Debug, Default)]
pub(crate) struct Receipts {
    next: u32,
    open: usize,
    /// Parts not acknowledged yet, for messages of more than one.
    parts: BTreeMap<ReceiptId, u32>,
}

impl Receipts {
    /// Says whether another may be opened.
    pub(crate) fn has_room(&self) -> bool {
        self.open < MAX_RECEIPTS
    }

    /// Opens the next one.
    pub(crate) fn open(&mut self) -> ReceiptId {
        let receipt = ReceiptId(self.next);
        self.next = self.next.wrapping_add(1);
        self.open += 1;
        receipt
    }

    /// Takes note that its message was split.
    pub(crate) fn expect_parts(&mut self, receipt: ReceiptId, parts: u32) {
        self.parts.insert(receipt, parts);
    }

    /// Takes note of an acknowledged frame, and says whether that was the last of its message.
    pub(crate) fn frame_acked(&mut self, receipt: ReceiptId) -> bool {
        if let Some(left) = self.parts.get_mut(&receipt) {
            *left -= 1;
            if *left > 0 {
                return false;
            }
            self.parts.remove(&receipt);
        }
        self.open -= 1;
        true
    }

    /// Takes note that the message is lost.
    pub(crate) fn lost(&mut self, receipt: ReceiptId) {
        self.parts.remove(&receipt);
        self.open -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_split_message_is_acknowledged_with_its_last_part() {
        let mut receipts = Receipts::default();
        let (short, long) = (receipts.open(), receipts.open());
        receipts.expect_parts(long, 2);
        assert!(!receipts.frame_acked(long));
        assert!(receipts.frame_acked(short));
        assert!(receipts.frame_acked(long));
        assert_eq!(receipts.open, 0);
    }

    #[test]
    fn open_receipts_are_bounded() {
        let mut receipts = Receipts::default();
        while receipts.has_room() {
            receipts.open();
        }
        assert_eq!(receipts.open, MAX_RECEIPTS);
        receipts.lost(ReceiptId(0));
        assert!(receipts.has_room());
    }
}
