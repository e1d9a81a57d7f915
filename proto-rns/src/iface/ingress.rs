//! Bursts that are held back on their way in (spec 1.8).
//!
//! ```text
//!          frequency above the limit               below it for `hold` and a number of checks
//!   calm ---------------------------> bursting ------------------------------------------> calm
//!                                                    (held announces wait for `penalty`, then leave one by one)
//! ```

use super::{BurstControl, frequency::Frequency};
use crate::{DestinationHash, wire::OwnedPacket};
use alloc::collections::BTreeMap;
use core::time::Duration;
use proto_core::Instant;

/// How many checks in a row must find path requests calm before their burst is over.
const PATH_REQUEST_COOL_DOWN: u32 = 3;

/// Tells bursts of one kind of packet on one interface.
#[derive(Clone, Debug)]
pub(crate) struct BurstGauge {
    frequency: Frequency,
    /// When the frequency of the present burst was last too high.
    burst: Option<Instant>,
    cool_down: u32,
    calm_checks: u32,
    /// Until when held announces wait.
    penalty_until: Instant,
}

impl BurstGauge {
    /// Creates a gauge for announces.
    pub(crate) fn for_announces() -> Self {
        Self {
            frequency: Frequency::default(),
            burst: None,
            cool_down: 1,
            calm_checks: 0,
            penalty_until: Instant::ZERO,
        }
    }

    /// Creates a gauge for path requests.
    pub(crate) fn for_path_requests() -> Self {
        Self { cool_down: PATH_REQUEST_COOL_DOWN, ..Self::for_announces() }
    }

    /// Notes that a packet came.
    pub(crate) fn record(&mut self, now: Instant) {
        self.frequency.record(now);
    }

    /// Says whether there is a burst now, on an interface that has existed for `age`.
    pub(crate) fn is_bursting(&mut self, now: Instant, age: Duration, control: &BurstControl) -> bool {
        let limit = if age < control.new_time { control.frequency_new } else { control.frequency };
        if self.frequency.hertz(now) > limit {
            self.burst = Some(now);
            self.calm_checks = 0;
            return true;
        }
        let Some(last) = self.burst else { return false };
        if now.saturating_since(last) <= control.hold {
            return true;
        }
        self.calm_checks += 1;
        if self.calm_checks < self.cool_down {
            return true;
        }
        self.burst = None;
        self.penalty_until = now + control.penalty;
        false
    }
}

/// Announces for unknown destinations that wait for a burst's end, one a destination.
///
/// At most [`BurstControl::max_held`] of about 600 bytes each; further ones are dropped.
#[derive(Clone, Debug, Default)]
pub(crate) struct HeldAnnounces {
    held: BTreeMap<DestinationHash, OwnedPacket>,
    next_release: Option<Instant>,
}

impl HeldAnnounces {
    /// Holds `packet`; false when there is no room.
    pub(crate) fn hold(&mut self, now: Instant, packet: OwnedPacket, control: &BurstControl) -> bool {
        let destination = packet.as_packet().destination;
        if self.held.len() >= control.max_held && !self.held.contains_key(&destination) {
            return false;
        }
        self.held.insert(destination, packet);
        self.next_release.get_or_insert(now + control.release_interval);
        true
    }

    /// Releases the announce with the fewest hops when one is due and the burst and its penalty are over.
    pub(crate) fn release(
        &mut self,
        now: Instant,
        age: Duration,
        gauge: &mut BurstGauge,
        control: &BurstControl,
    ) -> Option<OwnedPacket> {
        if self.next_release.is_none_or(|at| at > now) {
            return None;
        }
        self.next_release = Some(now + control.release_interval);
        if gauge.is_bursting(now, age, control) || now < gauge.penalty_until {
            return None;
        }
        let (destination, _) = self.held.iter().min_by_key(|(_, packet)| packet.as_packet().hops)?;
        let destination = *destination;
        let released = self.held.remove(&destination);
        if self.held.is_empty() {
            self.next_release = None;
        }
        released
    }

    /// Returns how many announces are held.
    pub(crate) fn len(&self) -> usize {
        self.held.len()
    }

    /// Returns when [`release`](Self::release) has something to look at.
    pub(crate) const fn deadline(&self) -> Option<Instant> {
        self.next_release
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Context, DestinationType, Packet, PacketType};

    const CONTROL: BurstControl = BurstControl {
        frequency_new: 3.0,
        frequency: 10.0,
        new_time: Duration::from_secs(7_200),
        hold: Duration::from_secs(15),
        penalty: Duration::from_secs(15),
        release_interval: Duration::from_secs(5),
        max_held: 2,
    };
    const YOUNG: Duration = Duration::from_secs(1);
    const OLD: Duration = Duration::from_secs(10_000);

    fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    fn announce(destination: u8, hops: u8) -> OwnedPacket {
        let destination = DestinationHash::new([destination; 16]);
        let packet =
            Packet::new(PacketType::Announce, DestinationType::Single, destination, Context::None, &[1]);
        OwnedPacket::new(&Packet { hops, ..packet })
    }

    fn five_a_second(gauge: &mut BurstGauge) {
        (0..15).for_each(|event| gauge.record(at(event * 200)));
    }

    #[test]
    fn a_new_interface_is_limited_at_a_frequency_that_an_older_one_may_have() {
        let mut gauge = BurstGauge::for_announces();
        five_a_second(&mut gauge);
        assert!(!gauge.is_bursting(at(3_000), OLD, &CONTROL));
        assert!(gauge.is_bursting(at(3_000), YOUNG, &CONTROL));
    }

    #[test]
    fn a_burst_lasts_for_its_hold_time() {
        let mut gauge = BurstGauge::for_announces();
        five_a_second(&mut gauge);
        assert!(gauge.is_bursting(at(3_000), YOUNG, &CONTROL));
        assert!(gauge.is_bursting(at(18_000), YOUNG, &CONTROL));
        assert!(!gauge.is_bursting(at(18_001), YOUNG, &CONTROL));
    }

    #[test]
    fn path_requests_must_be_calm_three_times() {
        let mut gauge = BurstGauge::for_path_requests();
        five_a_second(&mut gauge);
        assert!(gauge.is_bursting(at(3_000), YOUNG, &CONTROL));
        assert!(gauge.is_bursting(at(20_000), YOUNG, &CONTROL));
        assert!(gauge.is_bursting(at(20_001), YOUNG, &CONTROL));
        assert!(!gauge.is_bursting(at(20_002), YOUNG, &CONTROL));
    }

    #[test]
    fn held_announces_leave_after_the_penalty_the_nearest_first() {
        let mut gauge = BurstGauge::for_announces();
        let mut held = HeldAnnounces::default();
        five_a_second(&mut gauge);
        assert!(gauge.is_bursting(at(3_000), YOUNG, &CONTROL));
        assert!(held.hold(at(3_000), announce(1, 4), &CONTROL));
        assert!(held.hold(at(3_000), announce(2, 3), &CONTROL));
        assert!(!held.hold(at(3_000), announce(3, 1), &CONTROL), "there is room for two");
        assert!(held.hold(at(3_000), announce(1, 2), &CONTROL), "a held one may be replaced");
        let mut released = alloc::vec::Vec::new();
        let mut now = at(3_000);
        while let Some(deadline) = held.deadline() {
            assert!(deadline > now);
            now = deadline;
            let packet = held.release(now, YOUNG, &mut gauge, &CONTROL);
            released.extend(packet.map(|packet| (now.as_millis(), packet.as_packet().hops)));
        }
        assert_eq!(released, [(38_000, 2), (43_000, 3)]);
        assert_eq!(held.len(), 0);
    }
}
