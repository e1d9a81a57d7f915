//! CUBIC (RFC 9438).

use core::time::Duration;
use proto_core::Instant;

use super::{Acked, Controller, whole_bytes};

/// The window grows with the cube of the time since the last loss, around the size it had then.
#[derive(Debug)]
pub(crate) struct Cubic {
    /// The size of a full datagram, the unit of the RFC's formulas.
    datagram: f64,
    window: f64,
    slow_start_threshold: f64,
    /// The window before the last reduction (W_max).
    window_max: f64,
    /// What Reno would have (W_est), for paths where the cube is slower.
    reno_window: f64,
    /// The start of the growth since the last reduction, and the time to grow back to `window_max` (K).
    epoch: Option<(Instant, f64)>,
    /// Losses of datagrams sent before this belong to a reduction already made.
    recovery_start: Option<Instant>,
}

/// RFC 9438 §4.1 and §4.6.
const C: f64 = 0.4;
const BETA: f64 = 0.7;

/// RFC 6928: ten datagrams.
const INITIAL_DATAGRAMS: f64 = 10.0;
const MIN_DATAGRAMS: f64 = 2.0;

impl Cubic {
    pub(crate) fn new(datagram: usize) -> Self {
        let datagram = as_f64(datagram);
        Self {
            datagram,
            window: datagram * INITIAL_DATAGRAMS,
            slow_start_threshold: f64::INFINITY,
            window_max: 0.0,
            reno_window: 0.0,
            epoch: None,
            recovery_start: None,
        }
    }

    fn reduce(&mut self, now: Instant) {
        self.recovery_start = Some(now);
        self.epoch = None;
        // Fast convergence (§4.7): a flow that loses below its last maximum leaves room for others.
        self.window_max =
            if self.window < self.window_max { self.window * (1.0 + BETA) / 2.0 } else { self.window };
        self.window = (self.window * BETA).max(self.datagram * MIN_DATAGRAMS);
        self.slow_start_threshold = self.window;
    }

    /// Grows in congestion avoidance (§4.2 to §4.4).
    fn avoid(&mut self, now: Instant, acked: f64, rtt: Duration) {
        let (start, k) = match self.epoch {
            Some(epoch) => epoch,
            None => {
                let missing = ((self.window_max - self.window) / self.datagram).max(0.0);
                let epoch = (now, cube_root(missing / C));
                self.epoch = Some(epoch);
                self.reno_window = self.window;
                self.window_max = self.window_max.max(self.window);
                epoch
            }
        };
        let elapsed = (now.saturating_since(start) + rtt).as_secs_f64() - k;
        let cubic = self.window_max + C * elapsed * elapsed * elapsed * self.datagram;
        self.reno_window += 3.0 * (1.0 - BETA) / (1.0 + BETA) * self.datagram * acked / self.window;
        let target = cubic.max(self.reno_window).clamp(self.window, self.window * 1.5);
        self.window += (target - self.window) * acked / self.window;
    }
}

impl Controller for Cubic {
    fn on_ack(&mut self, now: Instant, ack: Acked) {
        if self.recovery_start.is_some_and(|start| ack.sent_at <= start) || !ack.window_limited {
            return;
        }
        let acked = as_f64(ack.bytes);
        if self.window < self.slow_start_threshold {
            self.window += acked;
        } else {
            self.avoid(now, acked, ack.rtt);
        }
    }

    fn on_loss(&mut self, now: Instant, sent_at: Instant) {
        if self.recovery_start.is_none_or(|start| sent_at > start) {
            self.reduce(now);
        }
    }

    fn on_timeout(&mut self, now: Instant) {
        self.reduce(now);
        self.window = self.datagram * MIN_DATAGRAMS;
    }

    fn window(&self) -> usize {
        whole_bytes(self.window)
    }
}

/// Newton's method: `core` has no cube root.
fn cube_root(value: f64) -> f64 {
    if value <= 0.0 {
        return 0.0;
    }
    let mut root = if value > 1.0 { value / 3.0 } else { 1.0 };
    for _ in 0..60 {
        let next = (2.0 * root + value / (root * root)) / 3.0;
        if (next - root).abs() < 1e-9 * root {
            return next;
        }
        root = next;
    }
    root
}

#[allow(clippy::cast_precision_loss, reason = "window sizes lie far below 2^53")]
fn as_f64(bytes: usize) -> f64 {
    bytes as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(50);

    fn ack(cubic: &mut Cubic, now: Instant) {
        cubic.on_ack(now, Acked { sent_at: now - RTT, bytes: 1_000, rtt: RTT, window_limited: true });
    }

    #[test]
    fn slow_start_doubles_in_a_round_trip() {
        let mut cubic = Cubic::new(1_000);
        for _ in 0..10 {
            ack(&mut cubic, Instant::from_millis(50));
        }
        assert_eq!(cubic.window(), 20_000);
    }

    #[test]
    fn one_reduction_a_round_trip_then_growth_back_to_the_old_size() {
        let mut cubic = Cubic::new(1_000);
        cubic.window = 1_000_000.0;
        let mut now = Instant::from_millis(1_000);
        cubic.on_loss(now, now - RTT);
        cubic.on_loss(now, now - RTT);
        assert_eq!(cubic.window(), 700_000);
        for _ in 0..300 {
            now += RTT;
            for _ in 0..cubic.window() / 1_000 {
                ack(&mut cubic, now);
            }
            if cubic.window() >= 1_000_000 {
                break;
            }
        }
        let took = now.saturating_since(Instant::from_millis(1_000)).as_secs_f64();
        let k = cube_root(300.0 / C);
        assert!((took - k).abs() < 0.5, "back after {took} s, K = {k} s");
    }

    #[test]
    fn an_idle_sender_does_not_grow_its_window() {
        let mut cubic = Cubic::new(1_000);
        let now = Instant::from_millis(100);
        cubic.on_ack(now, Acked { sent_at: now, bytes: 1_000, rtt: RTT, window_limited: false });
        assert_eq!(cubic.window(), 10_000);
    }

    #[test]
    fn a_timeout_leaves_two_datagrams() {
        let mut cubic = Cubic::new(1_000);
        cubic.on_timeout(Instant::from_millis(1));
        assert_eq!(cubic.window(), 2_000);
    }

    #[test]
    fn cube_roots_are_right() {
        for value in [0.001_f64, 0.5, 1.0, 8.0, 75.0, 1e9] {
            assert!((cube_root(value).powi(3) - value).abs() < value * 1e-6);
        }
    }
}
