//! Whether the peer is still there (spec 1.10).
//!
//! ```text
//!            nothing heard for 2 keepalives          still nothing after 4 rtt + 5 s
//!   alive ------------------------------------> stale ------------------------------> give up
//!     ^                                           |
//!     +------------- anything heard --------------+
//! ```

use super::Role;
use core::time::Duration;
use proto_core::Instant;

/// The watch over an established link.
#[derive(Debug)]
pub(super) struct Liveness {
    role: Role,
    rtt: Duration,
    keepalive: Duration,
    last_heard: Instant,
    last_keepalive: Instant,
    gives_up_at: Option<Instant>,
}

/// What the time asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// A sign of life is to be sent.
    Keepalive,
    /// The link has become stale.
    Stale,
    /// The peer is gone.
    GiveUp,
}

impl Liveness {
    pub(super) fn new(role: Role, rtt: Duration, now: Instant) -> Self {
        Self {
            role,
            rtt,
            keepalive: keepalive_of(rtt),
            last_heard: now,
            last_keepalive: now,
            gives_up_at: None,
        }
    }

    pub(super) const fn rtt(&self) -> Duration {
        self.rtt
    }

    pub(super) const fn keepalive(&self) -> Duration {
        self.keepalive
    }

    pub(super) const fn is_stale(&self) -> bool {
        self.gives_up_at.is_some()
    }

    /// Notes that the peer was heard; says whether that revived the link.
    pub(super) fn on_heard(&mut self, now: Instant) -> bool {
        self.last_heard = now;
        self.gives_up_at.take().is_some()
    }

    /// Says whether the responder owes the initiator a sign of life.
    pub(super) fn owes_answer(&self, now: Instant, last_sent: Instant) -> bool {
        now >= last_sent + self.keepalive
    }

    /// Returns what is due, once.
    pub(super) fn handle_timeout(&mut self, now: Instant, last_sent: Instant) -> Option<Due> {
        if let Some(gives_up_at) = self.gives_up_at {
            return (now >= gives_up_at).then_some(Due::GiveUp);
        }
        // The keepalive goes first: where both are due, its answer may yet revive the link.
        if self.keepalive_at(last_sent).is_some_and(|at| now >= at) {
            self.last_keepalive = now;
            return Some(Due::Keepalive);
        }
        if now >= self.stale_at() {
            self.gives_up_at = Some(now + self.rtt * 4 + STALE_GRACE);
            return Some(Due::Stale);
        }
        None
    }

    pub(super) fn deadline(&self, last_sent: Instant) -> Instant {
        match (self.gives_up_at, self.keepalive_at(last_sent)) {
            (Some(at), _) => at,
            (None, Some(keepalive_at)) => keepalive_at.min(self.stale_at()),
            (None, None) => self.stale_at(),
        }
    }

    /// Returns when the initiator sends a keepalive: when either direction was quiet for long enough, but not more
    /// often than that.
    fn keepalive_at(&self, last_sent: Instant) -> Option<Instant> {
        let quiet_since = self.last_heard.min(last_sent).max(self.last_keepalive);
        (self.role == Role::Initiator).then(|| quiet_since + self.keepalive)
    }

    fn stale_at(&self) -> Instant {
        self.last_heard + self.keepalive * 2
    }
}

/// Returns the keepalive time: the longest on links with a round trip of 1.75 s, in proportion on faster ones.
fn keepalive_of(rtt: Duration) -> Duration {
    rtt.mul_f64(LONGEST_KEEPALIVE.as_secs_f64() / 1.75).clamp(SHORTEST_KEEPALIVE, LONGEST_KEEPALIVE)
}

const SHORTEST_KEEPALIVE: Duration = Duration::from_secs(5);
const LONGEST_KEEPALIVE: Duration = Duration::from_secs(360);
/// How long beyond four round trips a stale link waits.
const STALE_GRACE: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    #[test]
    fn the_keepalive_time_follows_the_round_trip() {
        assert_eq!(keepalive_of(Duration::from_millis(250)).as_millis(), 51_428);
        assert_eq!(keepalive_of(Duration::ZERO), SHORTEST_KEEPALIVE);
        assert_eq!(keepalive_of(Duration::from_secs(60)), LONGEST_KEEPALIVE);
    }

    #[test]
    fn an_initiator_speaks_up_before_the_link_goes_stale_and_then_gives_up() {
        let mut liveness = Liveness::new(Role::Initiator, Duration::ZERO, at(0));
        assert_eq!(liveness.deadline(at(0)), at(5_000));
        assert_eq!(liveness.handle_timeout(at(4_999), at(0)), None);
        assert_eq!(liveness.handle_timeout(at(5_000), at(0)), Some(Due::Keepalive));
        assert_eq!(liveness.handle_timeout(at(5_000), at(5_000)), None);
        assert_eq!(liveness.handle_timeout(at(10_000), at(5_000)), Some(Due::Keepalive));
        assert_eq!(liveness.handle_timeout(at(10_000), at(10_000)), Some(Due::Stale));
        assert_eq!(liveness.deadline(at(10_000)), at(15_000));
        assert_eq!(liveness.handle_timeout(at(15_000), at(10_000)), Some(Due::GiveUp));
    }

    #[test]
    fn whatever_is_heard_revives_a_stale_link() {
        let mut liveness = Liveness::new(Role::Responder, Duration::ZERO, at(0));
        assert!(!liveness.on_heard(at(1)));
        assert_eq!(liveness.handle_timeout(at(10_001), at(0)), Some(Due::Stale));
        assert!(liveness.is_stale());
        assert!(liveness.on_heard(at(10_002)));
        assert_eq!(liveness.deadline(at(0)), at(20_002));
    }

    #[test]
    fn a_responder_never_starts_but_answers_when_it_was_quiet() {
        let liveness = Liveness::new(Role::Responder, Duration::ZERO, at(0));
        assert_eq!(liveness.deadline(at(0)), at(10_000));
        assert!(!liveness.owes_answer(at(5_000), at(1)));
        assert!(liveness.owes_answer(at(5_000), at(0)));
    }
}
