//! Learning whether it pays to look for an answer before going to sleep.

/// What experience says of looking for a moment instead of sleeping.
///
/// Each look that ends with an arrival adds trust, each that ends in vain takes some away, and without trust only one
/// occasion in 64 is tried.
#[derive(Clone, Copy, Debug)]
pub struct Trust {
    level: u8,
    slept: u8,
}

impl Trust {
    /// Takes note of a look that ended with an arrival.
    pub fn gain(&mut self) {
        self.level = (self.level + 4).min(MAX);
    }

    /// Takes note of a look in vain.
    pub const fn lose(&mut self) {
        self.level = self.level.saturating_sub(1);
    }

    /// Says whether to look on this occasion.
    pub const fn is_worth_it(&mut self) -> bool {
        if self.level > 0 {
            return true;
        }
        self.slept = (self.slept + 1) % TRIALS;
        self.slept == 0
    }
}

impl Default for Trust {
    fn default() -> Self {
        Self { level: MAX / 4, slept: 0 }
    }
}

const MAX: u8 = 16;
const TRIALS: u8 = 64;
