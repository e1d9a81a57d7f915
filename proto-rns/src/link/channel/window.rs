//! How many messages of a channel may be on their way.

use core::time::Duration;

/// A window that grows with every delivery and shrinks with every loss, within limits that follow the round trip.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    size: usize,
    min: usize,
    max: usize,
    fast_rounds: u32,
    medium_rounds: u32,
}

impl Window {
    pub(super) fn new(rtt: Duration) -> Self {
        let (size, min, max) = if rtt > SLOW_RTT { (1, 1, 1) } else { (2, 2, 5) };
        Self { size, min, max, fast_rounds: 0, medium_rounds: 0 }
    }

    pub(super) const fn size(&self) -> usize {
        self.size
    }

    pub(super) fn on_delivered(&mut self, rtt: Duration) {
        self.size = (self.size + 1).min(self.max);
        self.fast_rounds = if rtt <= FAST_RTT { self.fast_rounds.saturating_add(1) } else { 0 };
        let medium = rtt > FAST_RTT && rtt <= MEDIUM_RTT;
        self.medium_rounds = if medium { self.medium_rounds.saturating_add(1) } else { 0 };
        if self.fast_rounds == ROUNDS && self.max < 48 {
            (self.min, self.max) = (16, 48);
        } else if self.medium_rounds == ROUNDS && self.max < 12 {
            (self.min, self.max) = (5, 12);
        }
    }

    pub(super) fn on_timeout(&mut self) {
        if self.size > self.min {
            self.size -= 1;
        }
        if self.max > self.min + 4 {
            self.max -= 1;
        }
    }
}

const SLOW_RTT: Duration = Duration::from_millis(1_450);
const MEDIUM_RTT: Duration = Duration::from_millis(750);
const FAST_RTT: Duration = Duration::from_millis(180);
/// How many deliveries in a row raise the limits.
const ROUNDS: u32 = 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn delivered(rtt: Duration, times: usize) -> Window {
        let mut window = Window::new(rtt);
        (0..times).for_each(|_| window.on_delivered(rtt));
        window
    }

    #[test]
    fn the_limits_follow_the_round_trip() {
        let millis = Duration::from_millis;
        assert_eq!(Window::new(millis(100)).size(), 2);
        assert_eq!(delivered(millis(100), 9).size(), 5);
        assert_eq!(delivered(millis(100), 100).size(), 48);
        assert_eq!(delivered(millis(700), 100).size(), 12);
        assert_eq!(delivered(millis(1_000), 100).size(), 5);
        assert_eq!(delivered(millis(1_500), 100).size(), 1);
    }

    #[test]
    fn losses_shrink_the_window_but_not_below_its_minimum() {
        let mut window = delivered(Duration::from_millis(100), 100);
        (0..100).for_each(|_| window.on_timeout());
        assert_eq!(window.size(), 16);
        let mut slow = Window::new(Duration::from_secs(2));
        slow.on_timeout();
        assert_eq!(slow.size(), 1);
    }
}
