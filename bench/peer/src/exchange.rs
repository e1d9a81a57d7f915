//! The window of one connection.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use crate::{Mismatch, Payload, SharedHistogram};

/// One connection's exchange: which message may leave next and which echo must arrive next.
///
/// An exchange is used in legs (warm-up, then the burst); message numbers run on across them, so that a late
/// echo of one leg can not pass for one of the next.
#[derive(Debug)]
pub struct Exchange {
    payload: Arc<Payload>,
    connection: u32,
    window: u32,
    sent: u32,
    received: u32,
    leg_start: u32,
    leg_end: u32,
    round_trips: Option<RoundTrips>,
}

#[derive(Debug)]
struct RoundTrips {
    sent_at: VecDeque<Instant>,
    histogram: SharedHistogram,
}

impl Exchange {
    /// An exchange on `connection` that has no message to send yet.
    pub fn new(payload: Arc<Payload>, connection: u32) -> Self {
        Self {
            payload,
            connection,
            window: 0,
            sent: 0,
            received: 0,
            leg_start: 0,
            leg_end: 0,
            round_trips: None,
        }
    }

    /// Starts a leg of `count` messages of which `window` may await their echo.
    pub fn begin(&mut self, count: u32, window: u32, histogram: Option<SharedHistogram>) {
        self.window = window;
        self.leg_start = self.received;
        self.leg_end = self.sent.saturating_add(count);
        self.round_trips = histogram
            .map(|histogram| RoundTrips { sent_at: VecDeque::with_capacity(window as usize), histogram });
    }

    /// Appends the next message to `out`; false when the window is full or the leg's messages are all sent.
    pub fn append_next(&mut self, out: &mut Vec<u8>) -> bool {
        if self.sendable() == 0 {
            return false;
        }
        self.payload.append(self.connection, self.sent, out);
        self.sent += 1;
        if let Some(round_trips) = &mut self.round_trips {
            round_trips.sent_at.push_back(Instant::now());
        }
        true
    }

    /// Takes the next echo.
    ///
    /// # Errors
    ///
    /// When it is not, to the last byte, the message that had to come next.
    pub fn accept(&mut self, echo: &[u8]) -> Result<(), Mismatch> {
        if self.received == self.sent {
            return Err(Mismatch::Unasked { connection: self.connection });
        }
        self.payload.check(self.connection, self.received, echo)?;
        self.received += 1;
        if let Some(RoundTrips { sent_at, histogram }) = &mut self.round_trips
            && let (Some(sent_at), Ok(mut histogram)) = (sent_at.pop_front(), histogram.lock())
        {
            histogram.record(sent_at.elapsed());
        }
        Ok(())
    }

    /// How many messages may leave now.
    pub fn sendable(&self) -> u32 {
        (self.leg_end - self.sent).min(self.window - (self.sent - self.received).min(self.window))
    }

    /// Whether every message of the leg came back.
    pub fn is_done(&self) -> bool {
        self.received == self.leg_end
    }

    /// Echoes of the current leg that came back and matched.
    pub fn received(&self) -> u32 {
        self.received - self.leg_start
    }

    /// The length of every message in bytes.
    pub fn message_size(&self) -> usize {
        self.payload.size()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Histogram;

    fn take(exchange: &mut Exchange) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        exchange.append_next(&mut out).then_some(out)
    }

    #[test]
    fn no_more_messages_leave_than_the_window_and_the_leg_allow() {
        let mut exchange = Exchange::new(Arc::new(Payload::new(64)), 0);
        assert_eq!(take(&mut exchange), None);
        exchange.begin(3, 2, None);
        let first = take(&mut exchange).unwrap();
        let second = take(&mut exchange).unwrap();
        assert_eq!(take(&mut exchange), None, "the window is full");
        exchange.accept(&first).unwrap();
        let third = take(&mut exchange).unwrap();
        assert_eq!(take(&mut exchange), None, "the leg is sent");
        exchange.accept(&second).unwrap();
        assert!(!exchange.is_done());
        exchange.accept(&third).unwrap();
        assert!(exchange.is_done());
        assert_eq!(exchange.received(), 3);
    }

    #[test]
    fn a_reordered_and_a_repeated_echo_are_refused() {
        let mut exchange = Exchange::new(Arc::new(Payload::new(64)), 5);
        exchange.begin(2, 2, None);
        let first = take(&mut exchange).unwrap();
        let second = take(&mut exchange).unwrap();
        assert!(matches!(exchange.accept(&second), Err(Mismatch::Identity { .. })));
        exchange.accept(&first).unwrap();
        assert!(exchange.accept(&first).is_err());
        exchange.accept(&second).unwrap();
        assert_eq!(exchange.accept(&second), Err(Mismatch::Unasked { connection: 5 }));
    }

    #[test]
    fn a_second_leg_counts_its_own_echoes_and_records_only_its_own_round_trips() {
        let histogram = Histogram::shared();
        let mut exchange = Exchange::new(Arc::new(Payload::new(64)), 0);
        exchange.begin(1, 1, None);
        let message = take(&mut exchange).unwrap();
        exchange.accept(&message).unwrap();
        exchange.begin(1, 1, Some(Arc::clone(&histogram)));
        let message = take(&mut exchange).unwrap();
        exchange.accept(&message).unwrap();
        assert_eq!(exchange.received(), 1);
        assert_eq!(histogram.lock().unwrap().count(), 1);
    }
}
