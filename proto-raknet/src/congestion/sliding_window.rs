//! The sliding window of C++ RakNet, which Bedrock uses (spec 1.7).

use proto_core::Instant;

use super::{Acked, Controller, whole_bytes};

/// Slow start from one datagram, then one datagram a window; a loss starts over, with slow start up to half the window.
///
/// C++ does so at the first resend of each window, whether a NACK or a timeout caused it
/// (`CCRakNetSlidingWindow::OnResend`).
#[derive(Debug)]
pub(crate) struct SlidingWindow {
    datagram: f64,
    window: f64,
    /// Zero while unset: slow start goes on.
    slow_start_threshold: f64,
    /// The reductions of one window count once: those of datagrams sent before this are made.
    backed_off_at: Option<Instant>,
}

impl SlidingWindow {
    pub(crate) fn new(datagram: usize) -> Self {
        #[allow(clippy::cast_precision_loss, reason = "a datagram is far below 2^53 bytes")]
        let datagram = datagram as f64;
        Self { datagram, window: datagram, slow_start_threshold: 0.0, backed_off_at: None }
    }

    fn back_off(&mut self, now: Instant) {
        if self.window > self.datagram * 2.0 {
            self.backed_off_at = Some(now);
            self.slow_start_threshold = self.window / 2.0;
            self.window = self.datagram;
        }
    }
}

impl Controller for SlidingWindow {
    fn on_ack(&mut self, _now: Instant, ack: Acked) {
        // C++ grows only on "continuous send", that is while it had more to send than the window let out.
        if !ack.window_limited {
            return;
        }
        if self.slow_start_threshold == 0.0 || self.window <= self.slow_start_threshold {
            self.window += self.datagram;
            if self.slow_start_threshold > 0.0 && self.window > self.slow_start_threshold {
                self.window = self.slow_start_threshold + self.datagram * self.datagram / self.window;
            }
        } else {
            // One datagram for each window's worth of acknowledged datagrams.
            self.window += self.datagram * self.datagram / self.window;
        }
    }

    fn on_loss(&mut self, now: Instant, sent_at: Instant) {
        if self.backed_off_at.is_none_or(|at| sent_at > at) {
            self.back_off(now);
        }
    }

    fn on_timeout(&mut self, now: Instant) {
        self.back_off(now);
    }

    fn window(&self) -> usize {
        whole_bytes(self.window)
    }

    fn wants_pacing(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::time::Duration;

    fn ack(window: &mut SlidingWindow, millis: u64) {
        let now = Instant::from_millis(millis);
        window.on_ack(
            now,
            Acked { sent_at: now, bytes: 1_000, rtt: Duration::from_millis(1), window_limited: true },
        );
    }

    #[test]
    fn it_starts_with_one_datagram_and_adds_one_for_each() {
        let mut window = SlidingWindow::new(1_000);
        assert_eq!(window.window(), 1_000);
        (0..7).for_each(|n| ack(&mut window, n));
        assert_eq!(window.window(), 8_000);
    }

    #[test]
    fn a_loss_starts_over_once_a_window() {
        let mut window = SlidingWindow::new(1_000);
        (0..7).for_each(|n| ack(&mut window, n));
        window.on_loss(Instant::from_millis(10), Instant::from_millis(9));
        assert_eq!((window.window(), window.slow_start_threshold), (1_000, 4_000.0));
        (11..15).for_each(|n| ack(&mut window, n));
        window.on_loss(Instant::from_millis(16), Instant::from_millis(9));
        assert_eq!(window.window(), 4_200, "avoidance: a datagram a window");
    }

    #[test]
    fn a_timeout_starts_over() {
        let mut window = SlidingWindow::new(1_000);
        (0..7).for_each(|n| ack(&mut window, n));
        window.on_timeout(Instant::from_millis(10));
        assert_eq!((window.window(), window.slow_start_threshold), (1_000, 4_000.0));
        (11..20).for_each(|n| ack(&mut window, n));
        assert!(window.window() < 6_000, "slow start ends at the threshold");
    }
}
