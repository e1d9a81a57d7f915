//! Whether the receiver does its part at once.

use core::time::Duration;
use proto_core::Instant;

/// Watches how soon the receiver asks for what it is offered, and how soon it proves what it was sent.
///
/// The reference takes its time for both, and for putting a proved resource away, which other resources must wait for
/// (see [`ResourceConfig::resource_gap`](super::ResourceConfig::resource_gap)). One slow answer weighs as much as two
/// prompt ones, and nobody is prompt before having been so.
#[derive(Clone, Debug, Default)]
pub(super) struct Promptness {
    score: i8,
    offered: Option<Instant>,
    answered: Option<Duration>,
    sent: Option<Instant>,
}

impl Promptness {
    const MOST: i8 = 8;

    /// A segment was offered.
    pub(super) const fn on_offer(&mut self, now: Instant) {
        self.offered = Some(now);
        self.answered = None;
        self.sent = None;
    }

    /// Parts were asked for.
    pub(super) fn on_request(&mut self, now: Instant) {
        if let Some(offered) = self.offered.take() {
            self.answered = Some(now.saturating_since(offered));
        }
    }

    /// Parts left.
    pub(super) const fn on_parts(&mut self, now: Instant) {
        self.sent = Some(now);
    }

    /// The segment, `bytes` long, was proved.
    pub(super) fn on_proof(&mut self, now: Instant, bytes: usize) {
        let (Some(answered), Some(sent)) = (self.answered, self.sent) else { return };
        let allowed = PATIENCE + Duration::from_nanos(NANOS_A_BYTE.saturating_mul(bytes as u64));
        let is_prompt = answered.max(now.saturating_since(sent)) < allowed;
        self.score =
            if is_prompt { (self.score + 1).min(Self::MOST) } else { (self.score - 2).max(-Self::MOST) };
    }

    pub(super) const fn is_prompt(&self) -> bool {
        self.score > 0
    }
}

/// How long an answer may take beyond the work for it: less than the reference needs to wake a thread.
const PATIENCE: Duration = Duration::from_micros(500);
/// What sealing, carrying and opening a byte may take; the reference needs some thirty.
const NANOS_A_BYTE: u64 = 4;

#[cfg(test)]
mod tests {
    use super::*;

    fn transfer(promptness: &mut Promptness, answer: u64, proof: u64, bytes: usize) {
        promptness.on_offer(Instant::ZERO);
        promptness.on_request(Instant::from_micros(answer));
        promptness.on_parts(Instant::from_micros(answer));
        promptness.on_proof(Instant::from_micros(answer + proof), bytes);
    }

    #[test]
    fn a_receiver_is_prompt_once_it_was_and_a_hiccup_does_not_change_that() {
        let mut promptness = Promptness::default();
        assert!(!promptness.is_prompt());
        for _ in 0..5 {
            transfer(&mut promptness, 1_300, 2_500, 1 << 20);
            assert!(promptness.is_prompt());
        }
        transfer(&mut promptness, 20_000, 2_500, 1 << 20);
        assert!(promptness.is_prompt());
    }

    #[test]
    fn a_receiver_that_is_slow_at_either_is_not_prompt() {
        for (answer, proof, bytes) in [(900, 100, 1_000), (100, 900, 1_000), (1_500, 20_000, 1 << 20)] {
            let mut promptness = Promptness::default();
            transfer(&mut promptness, answer, proof, bytes);
            transfer(&mut promptness, 100, 100, 1_000);
            assert!(!promptness.is_prompt(), "{answer} {proof}");
        }
    }
}
