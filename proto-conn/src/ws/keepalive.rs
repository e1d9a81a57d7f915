//! Pings that watch over a connection, and the round trip time that they show (RFC 6455 §5.5.2).

use core::time::Duration;
use proto_core::Instant;

use super::Keepalive;

/// When pings are due, and what became of the last one.
#[derive(Debug)]
pub(super) struct Watch {
    config: Keepalive,
    /// When the next ping is due. `None` before the first call that tells the time.
    next: Option<Instant>,
    /// By when something must have arrived.
    deadline: Option<Instant>,
    last: Option<Sent>,
    count: u64,
}

#[derive(Clone, Copy, Debug)]
struct Sent {
    payload: [u8; Watch::PAYLOAD],
    at: Instant,
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    Nothing,
    /// A ping with this payload is to be sent.
    Ping([u8; Watch::PAYLOAD]),
    /// The peer is to be given up.
    Dead,
}

impl Watch {
    const PAYLOAD: usize = 8;

    pub(super) const fn new(config: Keepalive) -> Self {
        Self { config, next: None, deadline: None, last: None, count: 0 }
    }

    /// Says what is due at `now`.
    pub(super) fn handle_timeout(&mut self, now: Instant) -> Due {
        if self.deadline.is_some_and(|deadline| deadline <= now) {
            return Due::Dead;
        }
        match self.next {
            Some(next) if next > now => Due::Nothing,
            next => {
                self.next = Some(now + self.config.interval);
                // The connection has only just opened.
                if next.is_none() {
                    return Due::Nothing;
                }
                self.count += 1;
                let payload = self.count.to_be_bytes();
                self.last = Some(Sent { payload, at: now });
                self.deadline = self.deadline.or(Some(now + self.config.timeout));
                Due::Ping(payload)
            }
        }
    }

    /// Takes note that something arrived: whatever it is, the peer lives.
    pub(super) const fn on_life(&mut self) {
        self.deadline = None;
    }

    /// Takes note of a pong, and returns the round trip time if it answers the last ping.
    pub(super) fn on_pong(&mut self, now: Instant, payload: &[u8]) -> Option<Duration> {
        let sent = self.last.filter(|sent| sent.payload == payload)?;
        self.last = None;
        Some(now.saturating_since(sent.at))
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        let next = self.next.unwrap_or(Instant::ZERO);
        Some(self.deadline.map_or(next, |deadline| deadline.min(next)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Duration = Duration::from_secs(20);
    const TIMEOUT: Duration = Duration::from_secs(5);

    fn started() -> Watch {
        let mut watch = Watch::new(Keepalive { interval: INTERVAL, timeout: TIMEOUT });
        assert_eq!(watch.handle_timeout(Instant::ZERO), Due::Nothing);
        watch
    }

    fn ping(watch: &mut Watch, now: Instant) -> [u8; 8] {
        match watch.handle_timeout(now) {
            Due::Ping(payload) => payload,
            other @ (Due::Nothing | Due::Dead) => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_last_pings_pong_gives_the_round_trip_time_once() {
        let mut watch = started();
        let first = Instant::ZERO + INTERVAL;
        let old = ping(&mut watch, first);
        watch.on_life();
        let second = first + INTERVAL;
        let new = ping(&mut watch, second);
        let later = second + Duration::from_millis(3);
        assert_eq!(watch.on_pong(later, &old), None);
        assert_eq!(watch.on_pong(later, &new), Some(Duration::from_millis(3)));
        assert_eq!(watch.on_pong(later, &new), None);
    }

    #[test]
    fn silence_after_a_ping_is_death_and_anything_else_is_life() {
        let mut watch = started();
        let first = Instant::ZERO + INTERVAL;
        ping(&mut watch, first);
        assert_eq!(watch.poll_timeout(), Some(first + TIMEOUT));
        watch.on_life();
        assert_eq!(watch.poll_timeout(), Some(first + INTERVAL));
        ping(&mut watch, first + INTERVAL);
        assert_eq!(watch.handle_timeout(first + INTERVAL + TIMEOUT), Due::Dead);
    }
}
