//! Whether the peer is still there.

use core::time::Duration;
use proto_core::Instant;

use crate::SessionConfig;

/// Tracks signs of life, and when to ask for one.
#[derive(Debug)]
pub(crate) struct Liveness {
    heard_at: Instant,
    asked_at: Instant,
    /// A close that could be forged was notified: without a sign of life until then, the peer is gone.
    suspect_until: Option<Instant>,
}

/// What the silence calls for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Silence {
    /// Nothing yet.
    None,
    /// Ask for a sign of life.
    Ask,
    /// The peer did not answer after a notification of its close.
    Vanished,
    /// The peer was silent for too long.
    Lost,
}

impl Liveness {
    pub(crate) const fn new(now: Instant) -> Self {
        Self { heard_at: now, asked_at: now, suspect_until: None }
    }

    /// Takes note of a sign of life.
    #[inline]
    pub(crate) fn heard(&mut self, now: Instant) {
        self.heard_at = now;
        self.suspect_until = None;
    }

    /// Begins to doubt that the peer is there, and says whether that is new.
    pub(crate) fn suspect(&mut self, now: Instant, patience: Duration) -> bool {
        let new = self.suspect_until.is_none();
        if new {
            self.suspect_until = Some(now + patience);
            self.asked_at = now;
        }
        new
    }

    /// Judges the silence; [`Silence::Ask`] is said once an interval.
    pub(crate) fn check(&mut self, now: Instant, config: &SessionConfig) -> Silence {
        if self.suspect_until.is_some_and(|until| until <= now) {
            Silence::Vanished
        } else if self.heard_at + config.timeout <= now {
            Silence::Lost
        } else if self.ask_at(config) <= now {
            self.asked_at = now;
            Silence::Ask
        } else {
            Silence::None
        }
    }

    /// Returns when [`check`](Self::check) says something next.
    pub(crate) fn deadline(&self, config: &SessionConfig) -> Instant {
        let lost = self.heard_at + config.timeout;
        self.suspect_until.map_or(lost, |until| until.min(lost)).min(self.ask_at(config))
    }

    fn ask_at(&self, config: &SessionConfig) -> Instant {
        // At least a millisecond apart, whatever the configuration says.
        self.heard_at.max(self.asked_at) + config.keepalive_interval().max(Duration::from_millis(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_is_asked_about_and_then_ends_the_session() {
        let config = SessionConfig { timeout: Duration::from_secs(9), ..SessionConfig::default() };
        let mut liveness = Liveness::new(Instant::ZERO);
        assert_eq!(liveness.deadline(&config), Instant::from_millis(3_000));
        assert_eq!(liveness.check(Instant::from_millis(2_999), &config), Silence::None);
        assert_eq!(liveness.check(Instant::from_millis(3_000), &config), Silence::Ask);
        assert_eq!(liveness.check(Instant::from_millis(3_000), &config), Silence::None);
        assert_eq!(liveness.check(Instant::from_millis(9_000), &config), Silence::Lost);
    }

    #[test]
    fn a_doubtful_close_is_believed_only_if_the_peer_stays_silent() {
        let config = SessionConfig::default();
        let mut liveness = Liveness::new(Instant::ZERO);
        assert!(liveness.suspect(Instant::ZERO, Duration::from_secs(1)));
        assert!(!liveness.suspect(Instant::ZERO, Duration::from_secs(1)), "not every forgery extends it");
        liveness.heard(Instant::from_millis(500));
        assert_eq!(liveness.check(Instant::from_millis(1_500), &config), Silence::None);
        liveness.suspect(Instant::from_millis(1_500), Duration::from_secs(1));
        assert_eq!(liveness.check(Instant::from_millis(2_500), &config), Silence::Vanished);
    }
}
