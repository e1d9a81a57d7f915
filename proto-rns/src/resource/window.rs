//! How many parts a receiver asks for at a time (spec 1.12).

/// The window of one resource.
///
/// It grows by one with every round whose parts all came, and shrinks with every timeout. How far it may grow depends
/// on how fast the parts come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    size: usize,
    min: usize,
    max: usize,
    fast_rounds: u32,
    very_slow_rounds: u32,
}

impl Window {
    /// The first window of a link.
    pub const START: usize = 4;
    /// No window is smaller, but on very slow links its ceiling may be reached.
    pub const MIN: usize = 2;
    /// The ceiling until the link is known to be fast.
    pub const MAX_SLOW: usize = 10;
    /// The ceiling once it is known to be very slow.
    pub const MAX_VERY_SLOW: usize = 4;
    /// The ceiling once it is known to be fast.
    pub const MAX_FAST: usize = 75;
    /// How far the floor stays behind.
    pub const FLEXIBILITY: usize = 4;
    /// Rounds above this rate, in bytes a second, are fast.
    pub const FAST_RATE: u64 = 6_250;
    /// Rounds below this rate, in bytes a second, are very slow.
    pub const VERY_SLOW_RATE: u64 = 250;
    /// So many fast rounds make a fast link.
    pub const FAST_ROUNDS: u32 = 4;
    /// So many very slow rounds, and no fast one, make a very slow link.
    pub const VERY_SLOW_ROUNDS: u32 = 2;

    /// Starts a link's first window.
    pub const fn new() -> Self {
        Self { size: Self::START, min: Self::MIN, max: Self::MAX_SLOW, fast_rounds: 0, very_slow_rounds: 0 }
    }

    /// Returns the window for the next resource on the link: of this size, under the ceiling of the link's speed.
    pub fn for_next_resource(&self) -> Self {
        let max = self.ceiling();
        Self { size: self.size.clamp(Self::MIN, max), min: Self::MIN, max, ..*self }
    }

    /// Returns how many parts may be asked for.
    pub const fn size(&self) -> usize {
        self.size
    }

    /// Returns the current ceiling.
    pub const fn max(&self) -> usize {
        self.max
    }

    /// Returns the current floor.
    pub const fn min(&self) -> usize {
        self.min
    }

    /// All parts of a round came, at this rate in bytes a second.
    pub fn on_round(&mut self, rate: u64) {
        if self.size < self.max {
            self.size += 1;
            if self.size - self.min > Self::FLEXIBILITY - 1 {
                self.min += 1;
            }
        }
        if rate > Self::FAST_RATE && self.fast_rounds < Self::FAST_ROUNDS {
            self.fast_rounds += 1;
            if self.fast_rounds == Self::FAST_ROUNDS {
                self.max = self.ceiling();
            }
        }
        if rate < Self::VERY_SLOW_RATE
            && self.fast_rounds == 0
            && self.very_slow_rounds < Self::VERY_SLOW_ROUNDS
        {
            self.very_slow_rounds += 1;
            if self.very_slow_rounds == Self::VERY_SLOW_ROUNDS {
                self.max = self.ceiling();
            }
        }
    }

    /// Parts of a round did not come in time.
    pub fn on_timeout(&mut self) {
        if self.size > self.min {
            self.size -= 1;
            if self.max > self.min {
                self.max -= 1;
                if self.max.saturating_sub(self.size) > Self::FLEXIBILITY - 1 {
                    self.max -= 1;
                }
            }
        }
    }

    /// Returns the ceiling that the rounds so far stand for.
    const fn ceiling(&self) -> usize {
        if self.fast_rounds == Self::FAST_ROUNDS {
            Self::MAX_FAST
        } else if self.very_slow_rounds == Self::VERY_SLOW_ROUNDS && self.fast_rounds == 0 {
            Self::MAX_VERY_SLOW
        } else {
            Self::MAX_SLOW
        }
    }
}

impl Default for Window {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(rounds: usize, rate: u64) -> Window {
        let mut window = Window::new();
        (0..rounds).for_each(|_| window.on_round(rate));
        window
    }

    #[test]
    fn a_slow_link_grows_to_the_slow_ceiling() {
        assert_eq!(after(0, 0).size(), 4);
        assert_eq!(after(3, 1_000).size(), 7);
        assert_eq!(after(50, 1_000).size(), Window::MAX_SLOW);
        assert_eq!(after(50, 1_000).min(), 7);
    }

    #[test]
    fn four_fast_rounds_open_the_window() {
        assert_eq!(after(3, 6_251).max(), Window::MAX_SLOW);
        assert_eq!(after(4, 6_251).max(), Window::MAX_FAST);
        assert_eq!(after(100, 6_251).size(), Window::MAX_FAST);
    }

    #[test]
    fn two_very_slow_rounds_close_it_unless_one_was_fast() {
        assert_eq!(after(2, 249).max(), Window::MAX_VERY_SLOW);
        let mut window = after(1, 7_000);
        window.on_round(100);
        window.on_round(100);
        assert_eq!(window.max(), Window::MAX_SLOW);
    }

    #[test]
    fn a_timeout_takes_one_off_the_window_and_one_or_two_off_its_ceiling() {
        let mut window = after(4, 6_251);
        assert_eq!((window.size(), window.max(), window.min()), (8, 75, 5));
        window.on_timeout();
        assert_eq!((window.size(), window.max()), (7, 73));
        (0..100).for_each(|_| window.on_timeout());
        assert_eq!(window.size(), window.min());
    }

    #[test]
    fn the_next_resource_on_the_link_goes_on_where_the_last_one_left_off() {
        let mut fast = after(40, 7_000);
        (0..30).for_each(|_| fast.on_timeout());
        let next = fast.for_next_resource();
        assert_eq!((next.size(), next.min(), next.max()), (fast.size(), Window::MIN, Window::MAX_FAST));
        let very_slow = after(2, 100).for_next_resource();
        assert_eq!((very_slow.size(), very_slow.max()), (Window::MAX_VERY_SLOW, Window::MAX_VERY_SLOW));
        assert_eq!(after(2, 1_000).for_next_resource().max(), Window::MAX_SLOW);
    }
}
