//! One direction between two nodes: what happens to a datagram on the way.

use crate::{entropy::Entropy, stats::Loss};
use proto_core::Instant;
use std::time::Duration;

/// How one direction between two nodes treats datagrams. The default is a perfect path without delay.
#[derive(Clone, Debug, PartialEq)]
pub struct Conditions {
    /// The least time a datagram takes.
    pub delay: Duration,
    /// What may come on top of the delay, evenly spread. Datagrams keep their order all the same: what overtakes is
    /// the business of `reorder`.
    pub jitter: Duration,
    /// The probability that a datagram is lost, each on its own.
    pub loss: f64,
    /// Losses that come in bursts, besides the single ones.
    pub burst: Option<Burst>,
    /// The probability that a datagram arrives twice.
    pub duplication: f64,
    /// The probability that a datagram is held back so that later ones overtake it.
    pub reorder: f64,
    /// For how long at most a datagram is held back.
    pub reorder_by: Duration,
    /// A bottleneck in front of the path.
    pub bottleneck: Option<Bottleneck>,
    /// The longest payload that gets through, without IP and UDP headers.
    pub mtu: Option<usize>,
    /// Tells the sender of datagrams that exceed `mtu`; otherwise they vanish, as into a black hole.
    pub report_too_big: bool,
}

impl Conditions {
    /// Describes a path that loses nothing and takes `delay`.
    pub fn delayed(delay: Duration) -> Self {
        Self { delay, ..Self::default() }
    }

    /// Describes a path of `delay` that loses each datagram with probability `loss`.
    pub fn lossy(delay: Duration, loss: f64) -> Self {
        Self { loss, ..Self::delayed(delay) }
    }
}

impl Default for Conditions {
    fn default() -> Self {
        Self {
            delay: Duration::ZERO,
            jitter: Duration::ZERO,
            loss: 0.0,
            burst: None,
            duplication: 0.0,
            reorder: 0.0,
            reorder_by: Duration::from_millis(10),
            bottleneck: None,
            mtu: None,
            report_too_big: false,
        }
    }
}

/// Losses in bursts: a channel with a good and a bad state (Gilbert and Elliott), stepped by each datagram.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Burst {
    /// The probability to turn bad; `1 / enter` datagrams lie between bursts on average.
    pub enter: f64,
    /// The probability to turn good again; a burst is `1 / leave` datagrams long on average.
    pub leave: f64,
    /// The probability that a datagram is lost while the channel is bad.
    pub loss: f64,
}

/// A link of limited rate with a queue before it. What finds the queue full is dropped (tail drop).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bottleneck {
    /// Payload bits a second.
    pub bits_per_second: u64,
    /// How many payload bytes may wait.
    pub queue_bytes: usize,
}

/// What becomes of one datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It arrives.
    Arrives(Instant),
    /// It arrives twice.
    ArrivesTwice(Instant, Instant),
    /// It is lost.
    Lost(Loss),
}

/// A direction's conditions and what they remember.
#[derive(Clone, Debug, Default)]
pub(crate) struct Path {
    pub(crate) conditions: Conditions,
    is_in_burst: bool,
    /// When the bottleneck has sent all that waits before it.
    free_at: Instant,
    /// When the last datagram in order arrives.
    last_arrival: Instant,
}

impl Path {
    pub(crate) fn new(conditions: Conditions) -> Self {
        Self { conditions, ..Self::default() }
    }

    /// Decides about a datagram of `len` bytes that is sent now.
    pub(crate) fn send(&mut self, now: Instant, len: usize, entropy: &mut dyn Entropy) -> Verdict {
        if self.conditions.mtu.is_some_and(|mtu| len > mtu) {
            return Verdict::Lost(Loss::TooBig);
        }
        let Some(leaves) = self.pass_bottleneck(now, len) else { return Verdict::Lost(Loss::QueueFull) };
        if self.is_hit_by_burst(entropy) {
            return Verdict::Lost(Loss::Burst);
        }
        if happens(entropy, self.conditions.loss) {
            return Verdict::Lost(Loss::Random);
        }
        let arrival = self.arrival(leaves, entropy);
        if happens(entropy, self.conditions.duplication) {
            return Verdict::ArrivesTwice(arrival, self.arrival(leaves, entropy));
        }
        Verdict::Arrives(arrival)
    }

    /// Returns when the datagram has left the bottleneck, or nothing when the queue is full.
    fn pass_bottleneck(&mut self, now: Instant, len: usize) -> Option<Instant> {
        let Some(bottleneck) = self.conditions.bottleneck else { return Some(now) };
        let start = self.free_at.max(now);
        let queued = bytes_in(start.saturating_since(now), bottleneck.bits_per_second);
        if queued.saturating_add(len) > bottleneck.queue_bytes.max(len) {
            return None;
        }
        self.free_at = start + time_for(len, bottleneck.bits_per_second);
        Some(self.free_at)
    }

    fn is_hit_by_burst(&mut self, entropy: &mut dyn Entropy) -> bool {
        let Some(burst) = self.conditions.burst else { return false };
        let turn = if self.is_in_burst { burst.leave } else { burst.enter };
        if happens(entropy, turn) {
            self.is_in_burst = !self.is_in_burst;
        }
        self.is_in_burst && happens(entropy, burst.loss)
    }

    fn arrival(&mut self, leaves: Instant, entropy: &mut dyn Entropy) -> Instant {
        let arrival = leaves + self.conditions.delay + random_up_to(entropy, self.conditions.jitter);
        if happens(entropy, self.conditions.reorder) {
            return arrival.max(self.last_arrival) + random_up_to(entropy, self.conditions.reorder_by);
        }
        self.last_arrival = self.last_arrival.max(arrival);
        self.last_arrival
    }
}

/// Returns how long `len` bytes take at a rate; a rate of zero takes for ever.
pub(crate) fn time_for(len: usize, bits_per_second: u64) -> Duration {
    let nanos = (len as u128).saturating_mul(8_000_000_000).checked_div(u128::from(bits_per_second));
    nanos.map_or(Duration::MAX, |nanos| Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)))
}

/// Draws nothing where the outcome is certain, which keeps a fuzzer's bytes for what matters.
pub(crate) fn happens(entropy: &mut dyn Entropy, probability: f64) -> bool {
    probability > 0.0 && entropy.chance(probability)
}

fn bytes_in(time: Duration, bits_per_second: u64) -> usize {
    let bytes = time.as_nanos().saturating_mul(u128::from(bits_per_second)) / 8_000_000_000;
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

fn random_up_to(entropy: &mut dyn Entropy, most: Duration) -> Duration {
    if most.is_zero() {
        return Duration::ZERO;
    }
    Duration::from_nanos(entropy.between(0, u64::try_from(most.as_nanos()).unwrap_or(u64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proto_core::Rng;

    fn send_many(conditions: Conditions, count: usize) -> Vec<Verdict> {
        let (mut path, mut rng) = (Path::new(conditions), Rng::from_u64(1));
        (0..count).map(|_| path.send(Instant::ZERO, 100, &mut rng)).collect()
    }

    fn lost(verdicts: &[Verdict]) -> usize {
        verdicts.iter().filter(|verdict| matches!(verdict, Verdict::Lost(_))).count()
    }

    #[test]
    fn a_perfect_path_only_delays() {
        let delay = Duration::from_millis(5);
        let arrives = Verdict::Arrives(Instant::from_millis(5));
        assert!(send_many(Conditions::delayed(delay), 50).iter().all(|&verdict| verdict == arrives));
    }

    #[test]
    fn random_loss_has_the_rate_asked_for() {
        let verdicts = send_many(Conditions::lossy(Duration::ZERO, 0.1), 10_000);
        assert!((800..1200).contains(&lost(&verdicts)), "{}", lost(&verdicts));
    }

    #[test]
    fn burst_losses_come_together() {
        let burst = Burst { enter: 0.01, leave: 0.1, loss: 1.0 };
        let verdicts = send_many(Conditions { burst: Some(burst), ..Conditions::default() }, 20_000);
        let is_lost: Vec<bool> = verdicts.iter().map(|v| matches!(v, Verdict::Lost(Loss::Burst))).collect();
        let bursts = is_lost.windows(2).filter(|pair| !pair[0] && pair[1]).count();
        let length = lost(&verdicts) as f64 / bursts as f64;
        assert!((8.0..12.0).contains(&length), "a burst was {length} datagrams long on average");
    }

    #[test]
    fn jitter_alone_keeps_the_order_and_reordering_breaks_it() {
        let in_order = |conditions| {
            let arrivals: Vec<Instant> = send_many(conditions, 500)
                .into_iter()
                .filter_map(|v| if let Verdict::Arrives(at) = v { Some(at) } else { None })
                .collect();
            arrivals.windows(2).all(|pair| pair[0] <= pair[1])
        };
        let jittery = Conditions { jitter: Duration::from_millis(20), ..Conditions::default() };
        assert!(in_order(jittery.clone()));
        assert!(!in_order(Conditions { reorder: 0.2, ..jittery }));
    }

    #[test]
    fn a_bottleneck_spaces_datagrams_and_drops_the_tail() {
        // 100 bytes take a millisecond; three fit the queue.
        let bottleneck = Bottleneck { bits_per_second: 800_000, queue_bytes: 300 };
        let verdicts = send_many(Conditions { bottleneck: Some(bottleneck), ..Conditions::default() }, 5);
        let arrives = |millis| Verdict::Arrives(Instant::from_millis(millis));
        let full = Verdict::Lost(Loss::QueueFull);
        assert_eq!(verdicts, [arrives(1), arrives(2), arrives(3), full, full]);
    }

    #[test]
    fn what_exceeds_the_mtu_vanishes_and_duplicates_arrive_twice() {
        let small = Conditions { mtu: Some(99), ..Conditions::default() };
        assert_eq!(send_many(small, 1), [Verdict::Lost(Loss::TooBig)]);
        let twice = Conditions { duplication: 1.0, ..Conditions::default() };
        assert_eq!(send_many(twice, 1), [Verdict::ArrivesTwice(Instant::ZERO, Instant::ZERO)]);
    }

    #[test]
    fn a_rate_of_zero_takes_for_ever() {
        assert_eq!(time_for(1, 0), Duration::MAX);
    }
}
