//! The difference between the peer's clock and ours, for timestamps (0x1b).

use proto_core::Instant;

/// Learns the difference from pongs: the one with the shortest round trip tells it best.
#[derive(Debug, Default)]
pub(crate) struct PeerClock {
    /// Milliseconds to add to the peer's time to get ours (wrapping), and the round trip of the sample.
    best: Option<(u64, u64)>,
}

/// Returns the time that goes on the wire: milliseconds of our clock.
pub(crate) const fn wire_time(now: Instant) -> u64 {
    now.as_millis()
}

impl PeerClock {
    /// Takes in a pong: when we asked by our clock, and when it answered by its own.
    pub(crate) fn on_pong(&mut self, now: Instant, asked: u64, answered: u64) {
        let now = wire_time(now);
        // An echo from the future or from long ago was not sent by us.
        let Some(rtt) = now.checked_sub(asked).filter(|&rtt| rtt < 60_000) else { return };
        if self.best.is_none_or(|(_, best)| rtt <= best) {
            let ours = asked.wrapping_add(rtt / 2);
            self.best = Some((ours.wrapping_sub(answered), rtt));
        }
    }

    /// Translates a time of the peer's clock into ours; unchanged while nothing is known.
    pub(crate) fn to_local(&self, time: u64) -> u64 {
        self.best.map_or(time, |(difference, _)| time.wrapping_add(difference))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_round_trip_tells_the_difference() {
        let mut clock = PeerClock::default();
        assert_eq!(clock.to_local(7), 7);
        clock.on_pong(Instant::from_millis(1_100), 1_000, 500_050);
        assert_eq!(clock.to_local(500_050), 1_050);
        clock.on_pong(Instant::from_millis(3_000), 2_000, 501_900);
        assert_eq!(clock.to_local(500_050), 1_050, "a slow one does not overrule it");
        clock.on_pong(Instant::from_millis(10), 20, 1);
        assert_eq!(clock.to_local(500_050), 1_050, "an echo from the future is ignored");
    }
}
